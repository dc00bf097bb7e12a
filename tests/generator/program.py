"""A whole random program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.generator import policies, styles
from tests.generator.author import Author, Role, Written
from tests.generator.choices import Choices, Record
from tests.generator.numerics import subjects
from tests.generator.numerics.trial import Trial


@dataclass(frozen=True)
class Program:
    """A program, where it comes from, and what is known of its models by construction."""

    generation: str
    seed: int
    source: str
    models: Mapping[str, Written] = field(repr=False)
    several_worlds: bool = field(repr=False)
    """Whether it may run otherwise than it does here."""
    record: Record = field(repr=False)
    """The decisions that made it."""
    trials: tuple[Trial, ...] = field(default=(), repr=False)
    """What its models about numbers are tried on."""

    @property
    def id(self) -> str:
        """Short, for reports and files."""
        return f"{self.generation}-{self.seed}"

    @property
    def inputs(self) -> dict[str, list[str]]:
        """What to call those models on that do not know their inputs."""
        return {name: written.inputs for name, written in self.models.items() if written.inputs is not None}

    @property
    def exact(self) -> str:
        """Its text, but for data that are prepared in float32 instead of half precision."""
        return write(self.generation, self.seed, self.record, exact=True).source

    def role(self, name: str) -> Role | None:
        """What part a model plays; None of a second name for one."""
        return self.models[name].role if name in self.models else None


def write(generation: str, seed: int, record: Record | None = None, *, exact: bool = False) -> Program:
    """The program of a seed, or of an edited record of decisions."""
    choices = Choices(seed * 10 + int(generation), record)
    a = Author.of(choices, generation, exact=exact)
    plan = policies.draw(a)
    model = choices.pick((styles.model, subjects.model))
    count = choices.weighted([(6, 1), (2, 2), (1, 3)] if model is styles.model else [(8, 1), (1, 2)])
    if plan.in_main:
        in_main(a, plan, model, count)
    else:
        plan.before()
        a.page.blank()
        with plan.around():
            for number in range(count):
                if number == 1:
                    plan.between()
                model(a)
                a.page.blank()
    for line in sorted(a.page.needs):
        a.spelling.standard(line)
    source = a.page.render([*a.spelling.imports(), ""])
    return Program(generation, seed, source, dict(a.models), a.several_worlds, choices.record, tuple(a.trials))


def in_main(a: Author, plan: policies.Plan, model: Callable[[Author], str], count: int) -> None:
    """Everything in `main()`, which gives the models back."""
    names = []
    with a.page.inside("def main():"):
        plan.before()
        for number in range(count):
            if number == 1:
                plan.between()
            names.append(model(a))
        a.page.do(f"return {', '.join(names)}")
    a.page.blank(2)
    with a.page.inside('if __name__ == "__main__":'):
        a.page.do(f"{', '.join(names)} = main()")

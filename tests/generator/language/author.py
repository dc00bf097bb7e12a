"""What the parts of the generator share: decisions, the page, and the variables that may be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.generator.choices import Choices

INT, FLOAT, TEXT, BOOL = "int", "float", "str", "bool"
INTS, TEXTS, MAPPING, PAIR = "list[int]", "list[str]", "dict[str, int]", "tuple[int, int]"
KINDS = (INT, FLOAT, TEXT, BOOL, INTS, TEXTS, MAPPING, PAIR)
FLAGS = ("FLAG_A", "FLAG_B")
"""Variables of the environment, which only the run of a program knows."""


@dataclass
class Author:
    """Writes one program."""

    choices: Choices
    lines: list[str] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    names: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    """The variables of each kind that are bound here."""
    local: bool = False
    """Whether the statements stand in a function."""
    functions: list[str] = field(default_factory=list)
    """Functions that take an int, and give one."""
    depth: int = 0
    _numbers: dict[str, int] = field(default_factory=dict)

    def fresh(self, stem: str) -> str:
        """A name that the program does not have yet."""
        number = self._numbers[stem] = self._numbers.get(stem, 0) + 1
        return f"{stem}_{number}"

    def do(self, *lines: str) -> None:
        """Write statements."""
        self.lines.extend("    " * self.depth + line for text in lines for line in text.split("\n"))

    def needs(self, line: str) -> None:
        """Write an import at the top."""
        self.imports.add(line)

    def bind(self, kind: str, expression: str, stem: str = "v") -> str:
        """Assign to a new variable."""
        name = self.fresh(stem)
        self.do(f"{name} = {expression}")
        if kind in self.names:
            self.names[kind].append(name)
        return name

    def look(self, *expressions: str) -> None:
        """Leave what expressions give in variables, for the judge."""
        for expression in expressions:
            self.do(f"{self.fresh('seen')} = {expression}")

    @contextmanager
    def inside(self, header: str) -> Iterator[None]:
        """A block; what it binds may be missing behind it."""
        self.do(header)
        before = {kind: list(names) for kind, names in self.names.items()}
        functions = list(self.functions)
        self.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.do("pass")
        self.depth -= 1
        self.names, self.functions = before, functions

    @contextmanager
    def function(self, header: str, **parameters: str) -> Iterator[None]:
        """The body of a function with parameters of some kinds."""
        was, self.local = self.local, True
        with self.inside(header):
            # what stands outside can be read, but assigning to it would make it local
            self.names = {kind: [] for kind in self.names}
            for name, kind in parameters.items():
                self.names[kind].append(name)
            yield
        self.local = was

    def unknown(self) -> str:
        """A condition that only the run knows."""
        self.needs("import os")
        flag = self.choices.pick(FLAGS)
        return self.choices.pick(
            (f'os.environ.get("{flag}")', f'"{flag}" in os.environ', f'os.environ.get("{flag}") == "1"')
        )

    def chance(self, share: float) -> bool:
        """Yes in `share` of the cases."""
        return self.choices.chance(share)

    def pick(self, options: Sequence[str]) -> str:
        """One of some texts."""
        return self.choices.pick(options)

    def walk(self, steps: Sequence[tuple[int, Callable[[], None]]], count: int) -> None:
        """Do `count` random steps, some of them where only the run knows whether."""
        for _ in range(count):
            step = self.choices.weighted(steps)
            if self.chance(0.12):
                with self.inside(f"if {self.unknown()}:"):
                    step()
            elif self.chance(0.06):
                with self.inside("for _ in range(2):"):
                    step()
            else:
                step()

    def text(self) -> str:
        """The program."""
        return "\n".join([*sorted(self.imports), *self.lines, ""])

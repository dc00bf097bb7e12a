"""What the parts of the generator share: decisions, spelling, the page, and the models that were written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tests.generator.choices import Choices
from tests.generator.formatting import Page
from tests.generator.numerics.trial import Trial
from tests.generator.spelling import Spelling

Options = Sequence[tuple[int, Callable[[], "str | None"]]]
"""Ways to write an argument (None: it is left out), each with its weight."""
Role = Literal["end", "part", "open"]
"""A model whose outputs are the program's results; one that lies inside another; one that the program takes apart, of
which both may be said."""


@dataclass
class Written:
    """A model that the program holds in a module-level name."""

    role: Role
    inputs: list[str] | None = None
    """What to call it on ("float32[2, 8]"), where it does not know by itself."""


@dataclass
class Author:
    """Writes one program."""

    choices: Choices
    generation: str
    spelling: Spelling
    page: Page
    models: dict[str, Written] = field(default_factory=dict)
    several_worlds: bool = False
    """Whether it may run otherwise than it does here: under an option, or where something fails."""
    exact: bool = False
    """Whether data are prepared in float32 wherever the program prepares them in half precision."""
    trials: list[Trial] = field(default_factory=list)
    """What the models about numbers are tried on."""
    _numbers: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, choices: Choices, generation: str, *, exact: bool = False) -> Author:
        """With fresh habits."""
        spelling = Spelling(choices.aside("spelling"), generation)
        return cls(choices, generation, spelling, Page(choices.aside("formatting")), exact=exact)

    def fresh(self, stem: str) -> str:
        """A name that the program does not have yet."""
        number = self._numbers[stem] = self._numbers.get(stem, 0) + 1
        return stem if number == 1 else f"{stem}_{number}"

    def keras(self, path: str) -> str:
        """A name of Keras as the program writes it."""
        return self.spelling.keras(path)

    def layer(self, kind: str, /, *arguments: str | None, **named: str | None) -> str:
        """A call that makes a layer of the library."""
        return self.page.call(self.keras(f"layers.{kind}"), *arguments, **named)

    def text(self, value: str) -> str:
        """A string literal."""
        return self.page.text(value)

    def mapping(self, items: Mapping[str, str]) -> str:
        """A dict display with string keys."""
        return self.page.listed([f"{self.text(key)}: {value}" for key, value in items.items()], "{}")

    @property
    def is_3(self) -> bool:
        """Whether this is Keras 3."""
        return self.generation == "3"

"""The shapes that run through a program's models."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """Sizes without the batch: (features,), (steps, features) or (rows, columns, channels); of ids: (steps,)."""

    sizes: tuple[int, ...]
    ids: bool = False

    @property
    def features(self) -> int:
        """The last size."""
        return self.sizes[-1]

    @property
    def spec(self) -> str:
        """An example for the judge: "float32[2, 8]"."""
        return f"{'int32' if self.ids else 'float32'}[{', '.join(map(str, (2, *self.sizes)))}]"

    @property
    def written(self) -> str:
        """The tuple as a program writes it."""
        return f"({self.sizes[0]},)" if len(self.sizes) == 1 else str(self.sizes)

    def last(self, features: int) -> Shape:
        """The same with another last size."""
        return Shape((*self.sizes[:-1], features))


Step = tuple[str, Shape]
"""The expression that makes a layer, and the shape behind it."""

VECTOR, SEQUENCE, IMAGE = 1, 2, 3

"""Preprocessing layers and their modes, at the front of a model."""

from __future__ import annotations

from tests.generator.author import Author
from tests.generator.shapes import Shape, Step

CATEGORIES = 5


def categories(a: Author, shape: Shape) -> Step:
    """Ids to a vector a row, or to other ids."""
    kind = a.choices.pick(("CategoryEncoding", "IntegerLookup", "Hashing"))
    mode = a.choices.pick(("multi_hot", "count"))
    match kind:
        case "CategoryEncoding":
            text = a.layer(
                kind, num_tokens=str(CATEGORIES), output_mode=a.text(mode) if a.choices.chance(0.7) else None
            )
            return text, Shape((CATEGORIES,))
        case "IntegerLookup":
            vocabulary = a.page.listed(["0", "1", "2", "3"])
            if a.choices.chance(0.5):
                text = a.layer(kind, vocabulary=vocabulary, output_mode=a.text(mode))
                return text, Shape((CATEGORIES,))
            return a.layer(kind, vocabulary=vocabulary), Shape(shape.sizes, ids=True)
        case _:
            if a.choices.chance(0.3):
                return a.layer(kind, num_bins=str(CATEGORIES), output_mode=a.text(mode)), Shape((CATEGORIES,))
            return a.layer(kind, num_bins=str(CATEGORIES)), Shape(shape.sizes, ids=True)


def numbers(a: Author, shape: Shape) -> Step:
    """Numbers to other numbers, or to buckets."""
    kinds = ["Rescaling", "Normalization", "one-hot buckets", "buckets"]
    if len(shape.sizes) == 3:
        kinds += ["RandomFlip", "RandomRotation", "RandomZoom", "Resizing", "CenterCrop", "RandomTranslation"]
    match a.choices.pick(kinds):
        case "Normalization":
            return a.layer("Normalization", mean="0.5", variance="2.0"), shape
        case "one-hot buckets":
            if len(shape.sizes) != 1:
                return a.layer("Rescaling", "1 / 255"), shape
            if a.is_3:  # the other modes raise there
                text = a.layer("Discretization", bin_boundaries="[0.0, 0.5]", output_mode=a.text("one_hot"))
                return text, Shape((shape.features, 3))
            mode = a.choices.pick(("multi_hot", "count"))
            return a.layer("Discretization", bin_boundaries="[0.0, 0.5]", output_mode=a.text(mode)), Shape((3,))
        case "buckets":
            if len(shape.sizes) != 1:
                return a.layer("Rescaling", "2.0", offset="-1.0"), shape
            return a.layer("Discretization", bin_boundaries="[0.0, 0.5]"), Shape(shape.sizes, ids=True)
        case "RandomFlip":
            return a.layer("RandomFlip", a.text("horizontal")), shape
        case "RandomRotation" | "RandomZoom" as kind:
            return a.layer(kind, "0.1"), shape
        case "RandomTranslation":
            return a.layer("RandomTranslation", "0.1", "0.1"), shape
        case "Resizing":
            return a.layer("Resizing", "3", "3"), Shape((3, 3, shape.features))
        case "CenterCrop":
            return a.layer("CenterCrop", "2", "2"), Shape((2, 2, shape.features))
        case _:
            return a.layer("Rescaling", "1 / 255", offset="0.5" if a.choices.chance(0.3) else None), shape

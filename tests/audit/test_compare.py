"""Holding what ran against what was predicted."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.interpreter.predict import Forecast, Prediction, Site, Start, predict
from mplint.project.modules import Project
from mplint.verify.audit import Tally, Verdict, compare
from mplint.verify.results import Made

FILE = Path("/program/main.py")
AT = (7, 8, 7, 23)


def dense(at: tuple[int, ...] = AT, kind: str = "Dense", dtype: str = "float16") -> Made:
    return Made(str(FILE), at, kind, (("float16", "float32"),), ("float32",), ((dtype,),))


def forecast(policy: str | None = "mixed_float16", *outputs: str | None) -> Forecast:
    given = outputs or ("float16",)
    return Forecast({policy}, {"float32"}, {(frozenset(given),)})


def tally(made: Made, **kinds: Forecast) -> Tally:
    return compare([Prediction({Site(FILE, *AT): kinds})], [made], {}, FILE)


def verdicts(found: Tally) -> dict[str, Verdict]:
    return {fact.about: fact.verdict for fact in found.facts}


ALL = ("policy", "variables", "output")


def test_as_predicted() -> None:
    assert verdicts(tally(dense(), Dense=forecast())) == dict.fromkeys(ALL, Verdict.AGREES)


def test_another_dtype() -> None:
    found = tally(dense(dtype="float32"), Dense=forecast())
    assert verdicts(found)["output"] is Verdict.DIFFERS
    assert list(map(str, found.of(Verdict.DIFFERS))) == [f"{FILE}:7 Dense: output float32, predicted float16"]


def test_another_policy() -> None:
    assert verdicts(tally(dense(), Dense=forecast("float32")))["policy"] is Verdict.DIFFERS


@pytest.mark.parametrize(
    ("outputs", "verdict"),
    [
        (("float16", "float32"), Verdict.AGREES),
        (("float16", None), Verdict.AGREES),
        (("float32", None), Verdict.UNKNOWN),
        (("float32", "bfloat16"), Verdict.DIFFERS),
    ],
)
def test_one_of_several(outputs: tuple[str | None, ...], verdict: Verdict) -> None:
    assert verdicts(tally(dense(), Dense=forecast("mixed_float16", *outputs)))["output"] is verdict


def test_what_is_not_predicted_is_no_difference() -> None:
    assert verdicts(compare([Prediction()], [dense()], {}, FILE)) == {
        "policy": Verdict.UNKNOWN,
        "output": Verdict.UNKNOWN,
    }
    assert verdicts(tally(dense(), Dense=forecast(None)))["policy"] is Verdict.UNKNOWN


def test_another_structure_says_nothing_of_dtypes() -> None:
    two = Forecast({"mixed_float16"}, {"float32"}, {(frozenset({"float16"}), frozenset({"float32"}))})
    assert verdicts(tally(dense(), Dense=two))["output"] is Verdict.UNKNOWN


def test_several_tensors() -> None:
    made = Made(str(FILE), AT, "Dense", (), (), (("float16",) * 3 + ("float32",) * 4,))

    def told(*predicted: str | None) -> tuple[str, Verdict]:
        structure = tuple(frozenset({dtype}) for dtype in predicted)
        (fact,) = tally(made, Dense=Forecast(outputs={structure})).facts
        return fact.real, fact.verdict

    real = "float16, float16, float16, 4 x float32"
    assert told(*["float16"] * 3, *["float32"] * 4) == (real, Verdict.AGREES)
    assert told(None, *["float16"] * 2, *["float32"] * 4) == (real, Verdict.UNKNOWN)
    assert told(None, *["float16"] * 6) == (real, Verdict.DIFFERS)


def test_what_may_be_of_an_unknown_structure_does_not_differ() -> None:
    either = Forecast({"mixed_float16"}, {"float32"}, {None, (frozenset({"float32"}),)})
    assert verdicts(tally(dense(), Dense=either))["output"] is Verdict.UNKNOWN


def test_a_call_that_makes_several_classes() -> None:
    kinds = {"Dense": forecast(), "Conv2D": forecast("float32", "float32")}
    assert Verdict.DIFFERS not in verdicts(tally(dense(), **kinds)).values()
    assert verdicts(tally(dense(kind="Conv2D"), **kinds))["output"] is Verdict.DIFFERS
    assert Verdict.DIFFERS not in verdicts(tally(dense(kind="Wrapped"), **kinds)).values()


def test_functional_models_are_called_so_by_keras_alone() -> None:
    kinds = {"Model": forecast("float32", "float32"), "Dense": forecast()}
    assert verdicts(tally(dense(kind="Functional"), **kinds))["output"] is Verdict.DIFFERS


def test_where_python_tells_the_row_alone() -> None:
    assert verdicts(tally(dense(at=(7,)), Dense=forecast())) == dict.fromkeys(ALL, Verdict.AGREES)


def test_all_that_ran_happened_in_one_world() -> None:
    other = Site(FILE, 9, 0, 9, 9)
    half, full = forecast(), forecast("float32", "float32")
    worlds = [Prediction({Site(FILE, *AT): {"Dense": a}, other: {"Dense": b}}) for a, b in ((half, full), (full, half))]
    assert compare(worlds, [dense()], {}, FILE).counts[Verdict.DIFFERS] == 0
    assert compare(worlds, [dense(), dense(at=other[1:])], {}, FILE).counts[Verdict.DIFFERS] == 2


def test_of_worlds_that_fit_the_one_that_says_most_counts() -> None:
    worlds = [Prediction(), Prediction({Site(FILE, *AT): {"Dense": forecast()}})]
    assert verdicts(compare(worlds, [dense()], {}, FILE)) == dict.fromkeys(ALL, Verdict.AGREES)


def test_models_in_variables() -> None:
    prediction = Prediction(named={"model": {(frozenset({"float16"}),)}})
    found = compare([prediction], [], {"model": [("float16",)], "other": [("float32",)]}, FILE)
    assert [fact.verdict for fact in found.facts] == [Verdict.AGREES, Verdict.UNKNOWN]


def test_places_are_those_of_running_code() -> None:
    text = "from keras import Sequential, layers\n\nä = 'ä'; model = Sequential([\n    (layers.Dense)(3),\n])\n"
    project = Project(FILE.parent, [FILE], {FILE: text.encode()})
    (prediction,) = predict(project, Start(FILE), "3")
    assert {(site.row, site.column, site.last, site.end) for site in prediction.made} == {(3, 19, 5, 2), (4, 4, 4, 21)}
    assert prediction.named["model"] == {(frozenset({"float32"}),)}


FACTORIES = """\
from keras import Sequential, layers, mixed_precision


class Zoo:
    @staticmethod
    def build():
        mixed_precision.set_global_policy("mixed_bfloat16")
        return Sequential([layers.Dense(3)])


def build():
    return Sequential([layers.Dense(4)])
"""


@pytest.mark.parametrize(
    ("factory", "policy", "expected"),
    [("build", None, "float32"), ("build", "mixed_float16", "mixed_float16"), ("Zoo.build", None, "mixed_bfloat16")],
)
def test_factories(factory: str, policy: str | None, expected: str) -> None:
    project = Project(FILE.parent, [FILE], {FILE: FACTORIES.encode()})
    (prediction,) = predict(project, Start(FILE, factory), "3", policy)
    row = 8 if factory == "Zoo.build" else 12
    assert [held.policies for site, kinds in prediction.made.items() if site.row == row for held in kinds.values()] == [
        {expected}
    ] * 2

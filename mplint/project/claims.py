"""What the text of one file says about the Keras generation it is written for."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mplint.project.imports import Import, code_alone, imports_of
from mplint.source.lexer import Kind, Piece, is_code, strings_and_comments

Generation = Literal["2", "3"]


class Flavor(enum.Enum):
    """Under which name a file knows Keras. The first two are the generation that is installed, whichever it is."""

    TENSORFLOW = "tf.keras"
    KERAS = "keras"
    TF_KERAS = "tf_keras"
    KERAS_CORE = "keras_core"


KERAS3_MODULES = frozenset(
    "config distillation distribution dtype_policies ops quantizers random tree visualization".split()
)
KERAS3_NAMES = frozenset(
    "DTypePolicy FloatDTypePolicy Function Initializer InputSpec KerasTensor Layer Loss Metric Operation Optimizer "
    "Quantizer Regularizer RematScope StatelessScope SymbolicScope Variable device name_scope remat version".split()
)
"""In the package `keras`; Keras 2 has none of them there (and neither `optimizers.LossScaleOptimizer`)."""
KERAS2_MODULES = frozenset(["estimator", "engine", "wrappers.scikit_learn", "utils.np_utils", "layers.experimental"])

_KERAS3_CALLS = ("scale_loss", "stateless_apply", "set_dtype_policy")
_KERAS2_CALLS = ("get_scaled_loss", "get_unscaled_gradients")
_APPLIES = re.compile(r"\b(?:\w*_)?opt(?:imizer)?\d*\.apply\(")
_ONLY_KERAS3 = "|".join(sorted(KERAS3_MODULES | KERAS3_NAMES))

_SWITCH = re.compile(
    r"""(?P<quote>['"])TF_USE_LEGACY_KERAS['"]\s*(?:\]\s*=|,|:)\s*(?:str\(\s*)?['"]?(?P<value>\w+)"""
    r"""|(?<![\w'"])TF_USE_LEGACY_KERAS\s*=\s*['"](?P<keyword>\w+)['"]"""
)
_READ = re.compile(r"""(?:\.get|getenv)\(\s*$""")
_ON, _OFF = frozenset(["1", "true"]), frozenset(["0", "false"])

_HASATTR = re.compile(
    rf"""\b(?:hasattr|getattr)\(\s*(?:[\w.]+(?:\(\))?\s*,\s*['"](?:{"|".join([*_KERAS3_CALLS, *_KERAS2_CALLS])})['"]"""
    rf"""|(?:\w+\.)?keras\s*,\s*['"](?:{_ONLY_KERAS3})['"])"""
)
_VERSION = re.compile(r"\b(?P<package>keras|tf|tensorflow)(?P<keras>\.keras)?(?:\.__version__|\.version\(\))")
_COMPARES = re.compile(r"[<>]=?|[=!]=|startswith|\.split\(|\.major|\bparse\(|\bVersion\(")
_BOUNDARY = re.compile(r"\b2\s*[.,]\s*1[56]\b")
_REACH = 200
_ASSERTED = re.compile(r"""\bassert\b.*?(?:startswith\(\s*['"](?P<prefix>[23])|(?:>=|==)\s*['"]?(?P<least>[23])\b)""")

_STARTS = re.compile(r"(?:^|[^\w.]|\btf\.|\btensorflow\.)\Z")
"""What may stand before the name of a module: no part of a name, and no dot but that of TensorFlow."""
_LONGEST = len(" tensorflow.")
_ALIAS = re.compile(r"\b(?:import\s+(?:tensorflow\.)?keras|from\s+tensorflow\s+import\s+keras)\s+as\s+(?P<alias>\w+)")
_TF_KERAS_USE = re.compile(r"(?<![\w.])(?:tf|tensorflow)(?:\.compat\.v[12])?\.keras\b")
_LEGACY_INDENTED = re.compile(r"^[ \t]+(?:import|from)[ \t]+tf_keras\b", re.MULTILINE)
_OTHER_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+tensorflow[ \t]+import[ \t]+keras|(?:from|import)[ \t]+(?:tensorflow\.)?keras)\b",
    re.MULTILINE,
)
_IMPORT_ERROR = re.compile(r"\bexcept\b[^:\n]{0,200}(?:ImportError|ModuleNotFoundError)|\bexcept(?:\s+Exception)?\s*:")


@dataclass(frozen=True)
class Claims:
    """`imported` and `used` map a generation to the first thing that only it has; imports weigh more than uses.

    An import of a name that one generation lacks cannot run there. A use may be just the mistake that is to be found.
    """

    flavors: frozenset[Flavor]
    imported: dict[Generation, str]
    used: dict[Generation, str]
    switch: Generation | None
    """TF_USE_LEGACY_KERAS is set here: it decides what `tf.keras` is in the whole program."""
    guarded: str | None
    """How the file asks which generation runs: it is written for both."""
    falls_back: bool
    """tf_keras, and another Keras only where that is not installed."""


def claims_of(text: str) -> Claims:
    """The claims of a file's text, found without parsing it."""
    pieces = list(strings_and_comments(text))
    code = code_alone(text, pieces)
    imports = imports_of(text)
    flavors = frozenset(_flavors(imports, code))
    imported: dict[Generation, str] = {}
    used: dict[Generation, str] = {}
    for generation, what in _imported(imports):
        imported.setdefault(generation, what)
    if flavors or any(one.module.split(".")[0] == "tensorflow" for one in imports):
        for generation, what in _used(code):
            used.setdefault(generation, what)
    guarded, asserted = _guards(text, pieces)
    if asserted is not None:
        imported.setdefault(asserted, "an assertion of the version")
    return Claims(flavors, imported, used, _switch(text, pieces), guarded, _falls_back(code, flavors))


def _flavors(imports: tuple[Import, ...], code: str) -> Iterator[Flavor]:
    for one in imports:
        if one.level:
            continue
        top, _, rest = one.module.partition(".")
        if top == "tf_keras":
            yield Flavor.TF_KERAS
        elif top == "keras_core":
            yield Flavor.KERAS_CORE
        elif top == "keras":
            yield Flavor.KERAS
        elif top == "tensorflow" and "keras" in (*rest.split("."), *one.names):
            yield Flavor.TENSORFLOW
    if _TF_KERAS_USE.search(code):
        yield Flavor.TENSORFLOW


def _imported(imports: tuple[Import, ...]) -> Iterator[tuple[Generation, str]]:
    for one in imports:
        module = one.module.removeprefix("tensorflow.")
        if one.level or module.split(".")[0] != "keras":
            continue
        inside = module.removeprefix("keras").removeprefix(".")
        below = [inside] if inside else []
        names = [".".join([*below, name]) for name in one.names] or below
        for name in names:
            first = name.split(".")[0]
            if first in KERAS3_MODULES:
                yield "3", f"keras.{first} is imported"
            elif name in KERAS3_NAMES or name == "optimizers.LossScaleOptimizer":
                yield "3", f"keras.{name} is imported"
            elif any(name == old or name.startswith(f"{old}.") for old in KERAS2_MODULES):
                yield "2", f"keras.{name} is imported"


def _used(code: str) -> Iterator[tuple[Generation, str]]:
    aliases = ["keras", *sorted({match["alias"] for match in _ALIAS.finditer(code)})]
    names = "|".join(aliases)
    for match in _new_attributes(code, aliases):
        yield "3", f"keras.{match['name']} is used"
        break
    if "auto_scale_loss" in code:
        yield "3", "auto_scale_loss is used"
    if _APPLIES.search(code) and "sonnet" not in code and not re.search(r"\bdef\s+apply\b", code):
        yield "3", "optimizer.apply is used"
    if re.search(rf"\b(?:{names})\.optimizers\.legacy\b", code):
        yield "2", "keras.optimizers.legacy is used"
    calls: tuple[tuple[Generation, tuple[str, ...]], ...] = (("3", _KERAS3_CALLS), ("2", _KERAS2_CALLS))
    for generation, methods in calls:
        for method in methods:
            # A method that the file defines itself says nothing, nor does NVIDIA's amp.scale_loss.
            if method not in code or re.search(rf"\bdef\s+{method}\b", code):
                continue
            if re.search(rf"(?<!\bamp)\.{method}\b", code):
                yield generation, f"{method} is used"


def _new_attributes(code: str, aliases: Sequence[str]) -> Iterator[re.Match[str]]:
    """Uses of what only Keras 3 has, in the order of `aliases`: `keras.ops`, `tf.keras.ops`, but not `my.keras.ops`."""
    for alias in aliases:  # one name at a time, which is found as plain text; what stands before it is looked at then
        pattern = re.compile(rf"{alias}\.(?P<name>(?:{_ONLY_KERAS3}|optimizers\.LossScaleOptimizer)\b)")
        for match in pattern.finditer(code):
            if _STARTS.search(code, max(match.start() - _LONGEST, 0), match.start()):
                yield match


def _switch(text: str, pieces: list[Piece]) -> Generation | None:
    if "TF_USE_LEGACY_KERAS" not in text:
        return None
    strings = {start for kind, start, _ in pieces if kind is Kind.STRING}
    switch: Generation | None = None
    for match in _SWITCH.finditer(text):
        if match["quote"]:
            # In code the name is a string of its own; inside a longer string or a comment it is prose.
            if match.start() not in strings or _READ.search(text[max(match.start() - 40, 0) : match.start()]):
                continue
        elif not is_code(pieces, match.start()):
            continue
        value = (match["value"] or match["keyword"]).lower()
        switch = "2" if value in _ON else "3" if value in _OFF else switch
    return switch


def _guards(text: str, pieces: list[Piece]) -> tuple[str | None, Generation | None]:
    """How the file asks for the generation; and the one that it asserts."""
    asserted: Generation | None = None
    for match in _VERSION.finditer(text) if "version" in text else ():
        line = _line_around(text, match)
        if not is_code(pieces, match.start()) or not _COMPARES.search(line):
            continue
        if match["package"] != "keras" and not match["keras"] and not _BOUNDARY.search(line):
            continue  # of TensorFlow's versions only 2.16 is about Keras
        claim = _ASSERTED.search(line)
        if claim is None:
            return line.strip(), None
        asserted = "3" if "3" in (claim["prefix"], claim["least"]) else "2"
    for match in _HASATTR.finditer(text) if "attr(" in text else ():
        if is_code(pieces, match.start()):
            return match[0], None
    return None, asserted


def _line_around(text: str, match: re.Match[str]) -> str:
    """The line of a match, or as much of it as one statement may need."""
    before = text[max(match.start() - _REACH, 0) : match.start()].rpartition("\n")[2]
    return before + text[match.start() : match.end() + _REACH].partition("\n")[0]


def _falls_back(code: str, flavors: frozenset[Flavor]) -> bool:
    if Flavor.TF_KERAS not in flavors or len(flavors) == 1:
        return False
    legacy = _LEGACY_INDENTED.search(code)
    other = _OTHER_IMPORT.search(code)
    return bool(
        legacy and (other is None or legacy.start() < other.start()) and _IMPORT_ERROR.search(code, legacy.end())
    )

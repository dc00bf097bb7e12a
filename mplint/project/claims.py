"""What the text of one file says about the Keras generation it is written for."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from mplint.keras_api import (
    called_with_old_arguments,
    generations,
    only_generation_with,
    removed_from_tensorflow,
    top_names_of,
)
from mplint.project.imports import Import, code_alone, imports_of
from mplint.source.lexer import Kind, Piece, is_code, strings_and_comments

Generation = Literal["2", "3"]


class Flavor(enum.Enum):
    """Under which name a file knows Keras. The first two are the generation that is installed, whichever it is."""

    TENSORFLOW = "tf.keras"
    KERAS = "keras"
    TF_KERAS = "tf_keras"
    KERAS_CORE = "keras_core"


PRIVATE_MODULES: Final[dict[Generation, frozenset[str]]] = {
    "2": frozenset("distribute dtensor engine legacy_tf_layers mixed_precision premade_models testing_infra".split()),
    "3": frozenset("dtype_policies distribution ops quantizers random testing trainers tree visualization".split()),
}
"""In the private package `keras.src`, which both generations have."""

_OF_KERAS2: Final = frozenset({"tensorflow_addons"})
"""Packages none of whose releases can be imported beside Keras 3: they reach into modules that it has not."""

_KERAS3_CALLS = ("scale_loss", "stateless_apply", "set_dtype_policy")
_KERAS2_CALLS = ("get_scaled_loss", "get_unscaled_gradients")
_APPLIES = re.compile(r"\b(?:\w*_)?opt(?:imizer)?\d*\.apply\(")

_SWITCH = re.compile(
    r"""(?P<quote>['"])TF_USE_LEGACY_KERAS['"]\s*(?:\]\s*=|,|:)\s*(?:str\(\s*)?['"]?(?P<value>\w+)"""
    r"""|(?<![\w'"])TF_USE_LEGACY_KERAS\s*=\s*['"](?P<keyword>\w+)['"]"""
)
_SWITCH_BEHIND_GUARD = re.compile(
    r"""^(?=[^\n]*\b(?:tf|tensorflow)\.(?:__version__|version\.VERSION))[^\n]*:[ \t]*\n"""
    r"""(?:[^\n]*\n){0,2}?[^\n]*['"]TF_USE_LEGACY_KERAS['"]""",
    re.MULTILINE,
)
_READ = re.compile(r"""(?:\.get|getenv)\(\s*$""")
_ON, _OFF = frozenset(["1", "true"]), frozenset(["0", "false"])

_HASATTR = re.compile(
    rf"""\b(?:hasattr|getattr)\(\s*(?:[\w.]+(?:\(\))?\s*,\s*['"](?:{"|".join([*_KERAS3_CALLS, *_KERAS2_CALLS])})['"]"""
    r"""|(?:\w+\.)?keras\s*,\s*['"](?P<name>\w+)['"])"""
)
_VERSION = re.compile(r"\b(?P<package>keras|tf|tensorflow)(?P<keras>\.keras)?(?:\.__version__|\.version\(\))")
_COMPARES = re.compile(r"[<>]=?|[=!]=|startswith|\.split\(|\.major|\bparse\(|\bVersion\(")
_BOUNDARY = re.compile(r"\b2\s*[.,]\s*1[56]\b")
_REACH = 200
_ASSERTED = re.compile(r"""\bassert\b.*?(?:startswith\(\s*['"](?P<prefix>[23])|(?:>=|==)\s*['"]?(?P<least>[23])\b)""")

_ALIAS = re.compile(r"\b(?:import\s+(?:tensorflow\.)?keras|from\s+tensorflow\s+import\s+keras)\s+as\s+(?P<alias>\w+)")
_TF_KERAS_USE = re.compile(r"(?<![\w.])(?:tf|tensorflow)(?:\.compat\.v[12])?\.keras\b")
_LEGACY_INDENTED = re.compile(r"^[ \t]+(?:import|from)[ \t]+tf_keras\b", re.MULTILINE)
_OTHER_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+tensorflow[ \t]+import[ \t]+keras|(?:from|import)[ \t]+(?:tensorflow\.)?keras)\b",
    re.MULTILINE,
)
_TENSORFLOWS = re.compile(
    r"^[ \t]*(?:from[ \t]+tensorflow[ \t]+import[ \t]+keras|(?:from|import)[ \t]+tensorflow\.keras)\b", re.MULTILINE
)
# a pattern that begins with a letter is looked for much faster than one that first looks behind itself
_TENSORFLOW_USE = re.compile(r"t(?:f(?<![\w.]tf)|ensorflow(?<![\w.]tensorflow))\.(?P<path>\w+(?:\.\w+){1,4})")
_OPTIMIZER_CALL = re.compile(
    r"(?<![\w.])(?P<module>(?P<keras>(?:(?:tf|tensorflow)\.)?keras\.)?optimizers\.)?(?P<name>[A-Z]\w+)"
    r"\((?P<arguments>[^()]{0,300})"
)
_KEYWORD = re.compile(r"(?<![\w.])(\w+)[ \t]*=(?!=)")
_IMPORT_ERROR = re.compile(r"\bexcept\b[^:\n]{0,200}(?:ImportError|ModuleNotFoundError)|\bexcept(?:\s+Exception)?\s*:")

_BODY = r"(?:(?P=indent)[ \t]+\S[^\n]*(?:\n|\Z)|[ \t]*\n)"
_TRY = re.compile(
    rf"^(?P<indent>[ \t]*)try[ \t]*:[^\n]*\n{_BODY}+"
    rf"(?P=indent)except\b(?P<caught>[^:\n]{{0,200}}):[^\n]*(?:\n|\Z)(?P<handler>{_BODY}*)",
    re.MULTILINE,
)
_OF_IMPORT = re.compile(r"ImportError|ModuleNotFoundError|\bException\b|^[ \t]*$")
_OF_ATTRIBUTE = re.compile(rf"AttributeError|{_OF_IMPORT.pattern}")
_BY_VERSION = re.compile(
    rf"^(?P<indent>[ \t]*)if\b(?=[^\n]*(?:version|VERSION|hasattr))[^\n]*:[ \t]*\n{_BODY}+"
    rf"(?:(?P=indent)el(?:if\b[^\n]*|se[ \t]*):[ \t]*\n{_BODY}+)*",
    re.MULTILINE,
)
_LEAVES = re.compile(r"^\s*raise\b|\b(?:sys\.)?exit\(", re.MULTILINE)
_CHOICE = re.compile(
    rf"^(?P<indent>[ \t]*)if\b(?=[^\n]*__version__)[^\n]*:[ \t]*\n(?P<first>{_BODY}+)"
    rf"(?P=indent)else[ \t]*:[ \t]*\n(?P<second>{_BODY}+)",
    re.MULTILINE,
)


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


_TENSORFLOW_1: Final = re.compile(
    r"(?<![\w.])(?:tf|tensorflow)\.(?:Session|InteractiveSession|placeholder|contrib|app\.(?:run|flags)|flags|gfile|logging"
    r"|get_variable|global_variables(?:_initializer)?|trainable_variables|ConfigProto|reset_default_graph"
    r"|set_random_seed|enable_eager_execution|get_default_graph|truncated_normal|layers\.\w+|losses\.\w+_cross_entropy"
    r"|train\.(?:get_or_create_global_step|get_global_step|\w+Optimizer|Saver|SessionRunHook))\b"
)
"""Names that TensorFlow 1 has, and 2 has only in `compat.v1`."""
_ANOTHER_TF: Final = re.compile(r"\bimport\s+tensorflow\.compat\.v1\b|\bfrom\s+tensorflow\.compat\s+import\s+v1\b")


def is_for_tensorflow_1(text: str) -> bool:
    """Whether the text of a file can only run with TensorFlow 1: it uses what went with that."""
    if "tensorflow" not in text:
        return False
    code = code_alone(text, list(strings_and_comments(text)))
    return _TENSORFLOW_1.search(code) is not None and _ANOTHER_TF.search(code) is None


def claims_of(text: str) -> Claims:
    """The claims of a file's text, found without parsing it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    pieces = list(strings_and_comments(text))
    code = code_alone(text, pieces)
    imports = imports_of(text)
    flavors = frozenset(_flavors(imports, code))
    imported: dict[Generation, str] = {}
    used: dict[Generation, str] = {}
    surely, tried = _surely_imported(code, imports)
    for generation, _, what in _imported(surely):
        imported.setdefault(generation, what)
    if any(package in code for package in _OF_KERAS2):  # what is tried may as well not be there
        for one in imports_of(_without_tried(code, _OF_IMPORT)[0]):
            package = one.module.partition(".")[0]
            if not one.level and package in _OF_KERAS2:
                imported.setdefault("2", f"{package} is imported")
    if flavors or any(one.module.split(".")[0] == "tensorflow" for one in imports):
        for generation, what in _used(code, imports, flavors):
            used.setdefault(generation, what)
    guarded, asserted = _guards(text, pieces)
    if asserted is not None:
        imported.setdefault(asserted, "an assertion of the version")
    switch = _switch(text, pieces)
    if switch == "2" and guarded is not None and _SWITCH_BEHIND_GUARD.search(text):
        guarded = None  # of any TensorFlow it takes Keras 2
    falls_back = _falls_back(code, flavors) or (guarded is not None and _chooses_tf_keras(code, flavors))
    return Claims(flavors, imported, used, switch, guarded or tried, falls_back)


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
    if ".keras" in code and _TF_KERAS_USE.search(code):
        yield Flavor.TENSORFLOW


def _surely_imported(code: str, imports: tuple[Import, ...]) -> tuple[tuple[Import, ...], str | None]:
    """The imports without those that are tried, and may fail; and what is tried that only one generation has.

    What neither has any more is tried for the sake of older releases, which says nothing of the generation.
    """
    sure, wanted = code, None
    if "except" in code:
        without_tried, tried = _without_tried(code, _OF_IMPORT)
        claims = [claim for statement in tried for claim in _imported(imports_of(statement))]
        if claims:
            sure = without_tried
            wanted = next((what for _, place, what in claims if place is None or generations(place)), None)
    if _asks(sure):
        sure = _BY_VERSION.sub("", sure)
    surely = imports if sure is code else imports_of(sure)
    return surely, None if wanted is None else f"{wanted} where it is there"


def _without_tried(code: str, caught: re.Pattern[str]) -> tuple[str, list[str]]:
    """The code without each `try` that goes on when what it tries is not there; and those."""
    rest, tried = [], []
    position = 0
    for match in _TRY.finditer(code):
        if match.start() >= position and caught.search(match["caught"]) and not _LEAVES.search(match["handler"]):
            rest.append(code[position : match.start()])
            tried.append(match[0])
            position = match.end()
    return "\n".join((*rest, code[position:])), tried


def _asks(code: str) -> bool:
    return "version" in code or "VERSION" in code or "hasattr" in code


def _imported(imports: tuple[Import, ...]) -> Iterator[tuple[Generation, str | None, str]]:
    """What only one generation has: that one, the public place, and how it is said."""
    for one in imports:
        module = one.module.removeprefix("tensorflow.")
        if one.level or module.split(".")[0] != "keras":
            continue
        inside = module.removeprefix("keras").removeprefix(".")
        if inside.split(".")[0] in ("src", "_src"):
            private = [".".join(part for part in (inside, name) if part).split(".")[1] for name in one.names or ("",)]
            for generation, modules in PRIVATE_MODULES.items():
                yield from ((generation, None, f"keras.src.{name} is imported") for name in private if name in modules)
            continue
        for path in [f"{module}.{name}" for name in one.names] or [module]:
            found = only_generation_with(path, through_tensorflow=module != one.module)
            if found is not None:
                yield *found, f"{found[1]} is imported"


def _used(code: str, imports: tuple[Import, ...], flavors: frozenset[Flavor]) -> Iterator[tuple[Generation, str]]:
    if "except" in code:
        code, _ = _without_tried(code, _OF_ATTRIBUTE)
    if _asks(code):
        code = _BY_VERSION.sub("", code)
    aliases = _aliases(code)
    yield from _used_places(code, imports, flavors, aliases)
    yield from _used_arguments(code, imports)
    if "auto_scale_loss" in code:
        yield "3", "auto_scale_loss is used"
    if ".apply(" in code and _APPLIES.search(code) and "sonnet" not in code and not re.search(r"\bdef\s+apply\b", code):
        yield "3", "optimizer.apply is used"
    names = "|".join(["keras", *aliases])
    if ".optimizers.legacy" in code and re.search(rf"\b(?:{names})\.optimizers\.legacy\b", code):
        yield "2", "keras.optimizers.legacy is used"
    calls: tuple[tuple[Generation, tuple[str, ...]], ...] = (("3", _KERAS3_CALLS), ("2", _KERAS2_CALLS))
    for generation, methods in calls:
        for method in methods:
            # A method that the file defines itself says nothing, nor does NVIDIA's amp.scale_loss.
            if method not in code or re.search(rf"\bdef\s+{method}\b", code):
                continue
            if re.search(rf"(?<!\bamp)\.{method}[ \t]*\(", code):
                yield generation, f"{method} is used"


def _aliases(code: str) -> list[str]:
    return sorted({match["alias"] for match in _ALIAS.finditer(code)})


def _used_places(
    code: str, imports: tuple[Import, ...], flavors: frozenset[Flavor], aliases: Iterable[str]
) -> Iterator[tuple[Generation, str]]:
    """Dotted names that only one generation has, under each Keras that the file may mean by them."""
    homes = dict.fromkeys(("keras", *aliases), "keras")
    for one in imports:
        if one.module in ("keras", "tensorflow.keras") and not one.level:
            homes.update((name, f"keras.{name}") for name in one.names if name.isidentifier())
    by_tensorflow = [flavor is Flavor.TENSORFLOW for flavor in flavors]
    chain = re.compile(
        rf"(?<![\w.])(?P<tf>(?:tf|tensorflow)\.)?(?P<home>{'|'.join(sorted(homes))})(?P<rest>(?:\.\w+){{1,6}})"
    )
    for tensorflow, home, rest in dict.fromkeys(match.groups() for match in chain.finditer(code)):
        if tensorflow and home != "keras":
            continue
        found = {
            only_generation_with(homes[home] + rest, through_tensorflow=through)
            for through in ([True] if tensorflow else by_tensorflow)
        }
        if len(found) == 1 and (place := found.pop()) is not None:
            yield place[0], f"{place[1]} is used"
    for match in _TENSORFLOW_USE.finditer(code):
        if match["path"] in removed_from_tensorflow():
            yield "2", f"tf.{match['path']} is used"


def _used_arguments(code: str, imports: tuple[Import, ...]) -> Iterator[tuple[Generation, str]]:
    """Calls with an argument that only one generation takes: `Adam(lr=1e-3)`."""
    imported = {f"{one.module.removeprefix('tensorflow.')}.{name}" for one in imports for name in one.names}
    for match in _OPTIMIZER_CALL.finditer(code) if "optimizers" in code else ():
        if match["module"]:
            whole = match["keras"] or "keras.optimizers" in imported
        else:
            whole = f"keras.optimizers.{match['name']}" in imported
        if not whole:
            continue
        for argument in _KEYWORD.findall(match["arguments"]):
            generation = called_with_old_arguments().get((f"keras.optimizers.{match['name']}", argument))
            if generation is not None:
                yield generation, f"{match['name']}({argument}=...) is called"


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
        if match["name"] not in {None, *top_names_of("3")}:
            continue
        if is_code(pieces, match.start()):
            return match[0], None
    return None, asserted


def _line_around(text: str, match: re.Match[str]) -> str:
    """The line of a match, or as much of it as one statement may need."""
    before = text[max(match.start() - _REACH, 0) : match.start()].rpartition("\n")[2]
    return before + text[match.start() : match.end() + _REACH].partition("\n")[0]


def _chooses_tf_keras(code: str, flavors: frozenset[Flavor]) -> bool:
    """Whether tf_keras is imported beside a TensorFlow whose own Keras is 3, and its own Keras beside any other."""
    if Flavor.TF_KERAS not in flavors:
        return False
    for match in _CHOICE.finditer(code):
        arms = match["first"], match["second"]
        with_tf_keras = [bool(_LEGACY_INDENTED.search(arm)) for arm in arms]
        others = [bool(_TENSORFLOWS.search(arm)) for arm in arms]
        if with_tf_keras in ([True, False], [False, True]) and others == with_tf_keras[::-1]:
            return True
    return False


def _falls_back(code: str, flavors: frozenset[Flavor]) -> bool:
    if Flavor.TF_KERAS not in flavors or len(flavors) == 1:
        return False
    legacy = _LEGACY_INDENTED.search(code)
    other = _OTHER_IMPORT.search(code)
    return bool(
        legacy and (other is None or legacy.start() < other.start()) and _IMPORT_ERROR.search(code, legacy.end())
    )

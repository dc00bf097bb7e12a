"""What the user configured: defaults, then a configuration file, then flags, as one frozen `Settings`."""

from __future__ import annotations

import difflib
import functools
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from mplint.errors import MplintError
from mplint.findings import Severity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

KERAS: Final = ("2", "3", "auto")
DEVICES: Final = ("gpu", "tpu", "auto")
POLICIES: Final = ("mixed_float16", "mixed_bfloat16", "float16", "bfloat16")
NO_POLICY: Final = "none"
"""In a table by file: no policy is assumed there."""
SEVERITIES: Final = tuple(str(severity) for severity in reversed(Severity))
OutputFix = Literal["auto", "split", "dtype"]
OUTPUT_FIXES: Final = get_args(OutputFix)
OUTPUT_FORMATS: Final = (
    "full", "concise", "grouped", "json", "json-lines", "sarif", "github", "gitlab", "junit", "rdjson", "html",
)  # fmt: skip
OWN_CONFIGS: Final = (".mplint.toml", "mplint.toml")
CONFIG_NAMES: Final = (*OWN_CONFIGS, "pyproject.toml")
"""Of several in one folder the first one counts, as with ruff."""

EXCLUDE: Final = (
    *(".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d", ".pyenv"),
    *(".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode", "__pypackages__", "_build"),
    *("buck-out", "build", "dist", "node_modules", "site-packages", "venv"),
)
"""What nobody means by a folder's name: ruff's list."""

UNREADABLE: Final = "MP001"
"""Reported whatever is selected: a file that cannot be read must never pass in silence."""


@dataclass(frozen=True)
class Settings:
    """The effective configuration of one run.

    Patterns are relative to `root`, in gitignore's language. `origins` says where each setting that is no default comes
    from; it takes no part in comparison.
    """

    root: Path = Path()
    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    keras: Literal["2", "3", "auto"] = "auto"
    per_file_keras: tuple[tuple[str, str], ...] = ()
    device: Literal["gpu", "tpu", "auto"] = "auto"
    assume_policy: str | None = None
    per_file_assume_policy: tuple[tuple[str, str], ...] = ()
    fail_on: Severity = Severity.WARNING
    output_fix: OutputFix = "auto"
    output_format: str = "full"
    fix: bool = False
    unsafe_fixes: bool = False
    show_fixes: bool = False
    baseline: Path | None = None
    cache_dir: Path | None = None
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def load(
        cls,
        root: Path,
        config: Sequence[str] = (),
        isolated: bool = False,
        overrides: Mapping[str, object] = {},
    ) -> Settings:
        """The settings that hold at `root`.

        `config` holds paths of configuration files (the last one counts, in place of the one found from `root`) and
        inline `key = value` pairs; `isolated` reads no file; `overrides` are flags by setting name.
        """
        files = [Path(entry) for entry in config if not _is_inline(entry)]
        if isolated and files:
            raise MplintError(
                f"--isolated reads no configuration file, but --config names {files[-1]}: drop one of them"
            )
        found = files[-1] if files else None if isolated else find_config(root)
        settings = cls(root=root)
        if found is not None:
            settings = settings._over(_read_config(found), origin=str(found))
        for entry in filter(_is_inline, config):
            settings = settings._over(_parse_toml(entry, f"--config '{entry}'"), origin="--config")
        return settings._over({key.replace("_", "-"): value for key, value in overrides.items()})

    def items(self) -> Iterator[tuple[str, object, str]]:
        """Each setting as users spell it, its value, and where that comes from."""
        for key in _PARSERS:
            name = key.replace("-", "_")
            yield key, getattr(self, name), self.origins.get(name, "default")

    def require_known(self, codes: Collection[str]) -> None:
        """Raise where a selector names no rule among `codes`."""
        places = {
            "select": self.select,
            "ignore": self.ignore,
            "extend-select": self.extend_select,
            "per-file-ignores": tuple(selector for _, selectors in self.per_file_ignores for selector in selectors),
        }
        for key, selectors in places.items():
            for selector in selectors:
                if selector != "ALL" and not any(code.startswith(selector) for code in codes):
                    where = _where(self.origins.get(key.replace("-", "_"), "default"), key)
                    raise MplintError(f"{where}: there is no rule `{selector}`{did_you_mean(selector, codes)}")

    def selects(self, code: str) -> bool:
        """Whether the rule is on; the more exact selector wins, and `ignore` wins a draw."""
        if code == UNREADABLE:
            return True
        return _exactness(code, (*self.select, *self.extend_select)) > _exactness(code, self.ignore)

    def reports(self, code: str, file: Path) -> bool:
        """Whether findings of the rule in `file` are wanted."""
        if not self.selects(code):
            return False
        return code == UNREADABLE or not any(
            _exactness(code, selectors) >= 0 and _matches(pattern, file, self.root)
            for pattern, selectors in self.per_file_ignores
        )

    def keras_for(self, file: Path) -> tuple[Literal["2", "3", "auto"], str | None]:
        """The generation that is configured for `file`, and the pattern that says so, where it is not `keras`."""
        pattern, value = self._last_match(self.per_file_keras, file)
        return (self.keras, None) if value is None else (cast(Literal["2", "3", "auto"], value), pattern)

    def assumed_for(self, file: Path) -> tuple[str | None, str | None]:
        """The policy to take as set in `file`, and the pattern that says so, where it is not `assume-policy`."""
        pattern, value = self._last_match(self.per_file_assume_policy, file)
        return (self.assume_policy, None) if value is None else (None if value == NO_POLICY else value, pattern)

    @property
    def assumed_policies(self) -> frozenset[str]:
        """The policies that are taken as set somewhere."""
        named = {self.assume_policy, *(value for _, value in self.per_file_assume_policy)}
        return frozenset(policy for policy in named if policy is not None and policy != NO_POLICY)

    def _last_match(self, patterns: tuple[tuple[str, str], ...], file: Path) -> tuple[str | None, str | None]:
        """The last pattern that means the file, and its value."""
        found = [(pattern, value) for pattern, value in patterns if _matches(pattern, file, self.root)]
        return found[-1] if found else (None, None)

    def _over(self, raw: Mapping[str, object], origin: str | None = None) -> Settings:
        """These settings with those of a later source over them; without an `origin` they are flags."""
        changed: dict[str, Any] = {}
        origins: dict[str, str] = {}
        for key, value in raw.items():
            name, source = key.replace("-", "_"), origin or f"--{key}"
            if key not in _PARSERS:
                raise MplintError(f"{source}: there is no setting `{key}`{did_you_mean(key, _PARSERS)}")
            try:
                changed[name], origins[name] = _PARSERS[key](value), source
            except ValueError as error:
                raise MplintError(f"{_where(source, key)}: {error}") from None
        # A later source wins even over a more exact selector: `--select MP1` shows what the file ignores.
        if "select" in changed:
            base = replace(self, ignore=(), extend_select=())
            reset = [name for name in ("ignore", "extend_select") if getattr(self, name)]
            origins = {**dict.fromkeys(reset, origins["select"]), **origins}
        else:
            base = replace(
                self,
                select=_without(self.select, changed.get("ignore", ())),
                extend_select=_without(self.extend_select, changed.get("ignore", ())),
                ignore=_without(self.ignore, changed.get("extend_select", ())),
            )
        # Nor does a pattern of an earlier source stand against what a later one says of all files.
        for name in ("keras", "assume_policy"):
            per_file = f"per_file_{name}"
            if name in changed and per_file not in changed and getattr(self, per_file):
                changed[per_file], origins[per_file] = (), origins[name]
        for name in _ADDING & changed.keys():
            if earlier := getattr(base, name):
                changed[name] = earlier + changed[name]
                origins[name] = f"{self.origins[name]}, {origins[name]}"
        return replace(base, origins={**self.origins, **origins}, **changed)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` where something known is near, else what there is."""
    choices = sorted(known)
    near = difflib.get_close_matches(word, choices, n=len(choices) or 1, cutoff=0.6)
    # codes are all near each other: of those, the one with the most letters in their places
    near.sort(key=lambda one: -sum(left == right for left, right in zip(one, word, strict=False)))
    if near:
        return f"; did you mean `{near[0]}`?"
    return f"; known: {', '.join(choices)}" if len(choices) <= 12 else ""


def find_config(root: Path) -> Path | None:
    """The configuration of the project at `root`: the first of `CONFIG_NAMES`, a pyproject.toml only with a table."""
    for name in CONFIG_NAMES:
        file = root / name
        if file.is_file() and (name != "pyproject.toml" or _table(_read_toml(file)) is not None):
            return file
    return None


def _read_config(file: Path) -> Mapping[str, object]:
    """The settings in a file: in its table [tool.mplint], else, where it is no pyproject.toml, at its top level."""
    content = _read_toml(file)
    table = _table(content)
    if table is None:
        if file.name == "pyproject.toml":
            raise MplintError(f"{file}: there is no [tool.mplint] table")
        return content
    if stray := next((key for key in content if key in _PARSERS), None):
        raise MplintError(f"{file}: `{stray}` stands outside of the table [tool.mplint]: put all settings in one place")
    return table


def _table(content: Mapping[str, object]) -> Mapping[str, object] | None:
    tool = content.get("tool")
    table = tool.get("mplint") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _read_toml(file: Path) -> Mapping[str, object]:
    try:
        return _parse_toml(file.read_bytes().decode(), str(file))
    except OSError as error:
        raise MplintError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise MplintError(f"{file}: is not UTF-8, as TOML must be: {error}") from None


def _parse_toml(text: str, where: str) -> Mapping[str, object]:
    try:
        content: dict[str, object] = tomllib.loads(text)
        return content
    except (ValueError, RecursionError) as error:  # also a number of too many digits, or too many lists in each other
        raise MplintError(f"{where}: is not TOML: {error}") from None


def _is_inline(entry: str) -> bool:
    return "=" in entry and not Path(entry).exists()


def _where(origin: str, key: str) -> str:
    return origin if origin == f"--{key}" else f"{origin}: `{key}`"


def _without(selectors: tuple[str, ...], overruled_by: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(selector for selector in selectors if _exactness(selector, overruled_by) < 0)


def _exactness(code: str, selectors: Iterable[str]) -> int:
    """How much of the code the best selector spells out; -1 where none selects it."""
    return max((0 if s == "ALL" else len(s) for s in selectors if s == "ALL" or code.startswith(s)), default=-1)


def _matches(pattern: str, file: Path, root: Path) -> bool:
    """Whether a per-file pattern means the file; `!pattern` means all the others."""
    if pattern.startswith("!"):
        return not _matches(pattern[1:], file, root)
    inside = file.relative_to(root) if file.is_relative_to(root) else Path(file.name)
    return _gitignore(pattern).match_file(inside.as_posix())


@functools.lru_cache(maxsize=1024)
def _gitignore(pattern: str) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([pattern])


def is_pattern(text: str) -> bool:
    """Whether a text is a pattern in gitignore's language; git passes by what is none."""
    try:
        _gitignore(text)
    except (ValueError, re.error):
        return False
    return True


def _selectors(value: object) -> tuple[str, ...]:
    return tuple(part.strip().upper() for entry in _strings(value) for part in entry.split(",") if part.strip())


def _per_file(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if isinstance(value, dict):
        return tuple((_pattern(pattern), _selectors(selectors)) for pattern, selectors in value.items())
    pairs: list[tuple[str, tuple[str, ...]]] = []
    for entry in _strings(value):
        pattern = ""
        for part in entry.split(","):
            before, colon, selector = part.rpartition(":")
            pattern = before.strip() if colon else pattern
            if not pattern:
                raise ValueError(f"expects `PATTERN:CODE`, not `{entry}`")
            pairs.append((_pattern(pattern), _selectors(selector)))
    return tuple(pairs)


def _by_pattern(parse: Callable[[object], str]) -> Callable[[object], tuple[tuple[str, str], ...]]:
    def parse_table(value: object) -> tuple[tuple[str, str], ...]:
        if not isinstance(value, dict):
            raise ValueError(f"expects a table of `PATTERN = VALUE`, not {_toml(value)}")
        found: list[tuple[str, str]] = []
        for pattern, one in value.items():
            try:
                parsed = parse(one)
            except ValueError as error:
                raise ValueError(f"`{pattern}` {error}") from None
            found.append((_pattern(pattern), parsed))
        return tuple(found)

    return parse_table


def _strings(value: object) -> tuple[str, ...]:
    entries = (value,) if isinstance(value, str) else value
    if not isinstance(entries, (list, tuple)) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError(f"expects a list of strings, not {_toml(value)}")
    return tuple(entries)


def _patterns(value: object) -> tuple[str, ...]:
    return tuple(map(_pattern, _strings(value)))


def _pattern(text: str) -> str:
    if not is_pattern(text.removeprefix("!") or text):
        raise ValueError(f"`{text}` is no pattern in gitignore's language")
    return text


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expects true or false, not {_toml(value)}")
    return value


def _path(value: object) -> Path:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError(f"expects a path, not {_toml(value)}")
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError(f"nobody here has the folder of {_toml(value)}") from None


def _one_of(*choices: str) -> Callable[[object], str]:
    def parse(value: object) -> str:
        word = str(value) if isinstance(value, (str, int)) else ""
        if word not in choices:
            raise ValueError(f"cannot be {_toml(value)}{did_you_mean(word, choices)}")
        return word

    return parse


def _severity(value: object) -> Severity:
    return Severity[_one_of(*SEVERITIES)(value).upper()]


def _toml(value: object) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)


_PARSERS: Final[Mapping[str, Callable[[object], object]]] = {
    "select": _selectors,
    "ignore": _selectors,
    "extend-select": _selectors,
    "per-file-ignores": _per_file,
    "exclude": _patterns,
    "extend-exclude": _patterns,
    "force-exclude": _boolean,
    "respect-gitignore": _boolean,
    "keras": _one_of(*KERAS),
    "per-file-keras": _by_pattern(_one_of(*KERAS)),
    "device": _one_of(*DEVICES),
    "assume-policy": _one_of(*POLICIES),
    "per-file-assume-policy": _by_pattern(_one_of(*POLICIES, NO_POLICY)),
    "fail-on": _severity,
    "output-fix": _one_of(*OUTPUT_FIXES),
    "output-format": _one_of(*OUTPUT_FORMATS),
    "fix": _boolean,
    "unsafe-fixes": _boolean,
    "show-fixes": _boolean,
    "baseline": _path,
    "cache-dir": _path,
}

_ADDING: Final = frozenset({"ignore", "extend_select", "extend_exclude"})
"""A later source adds to these; to all others it is the last word."""

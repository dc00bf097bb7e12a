"""What a project needs to begin with mplint: files that are made where they are not there, and never changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final, Literal

from mplint.errors import MplintError
from mplint.settings import find_config

Forge = Literal["github", "github-forks", "gitlab", "none"]
FORGES: Final[tuple[Forge, ...]] = ("github", "github-forks", "gitlab", "none")

BASELINE: Final = "mplint-baseline.json"
_PLACES: Final = {
    "github": ".github/workflows/mplint.yml",
    "github-forks": ".github/workflows/mplint.yml",
    "gitlab": ".gitlab-ci.yml",
}
_CONFIGURATION: Final = """\
# `mplint config` shows all settings.
# keras = "3"             # 2 or 3, whatever the code says
# fail-on = "warning"     # error, warning or advice
"""


@dataclass(frozen=True)
class Step:
    """A file, and what it is for. Where it `is_there`, the `content` is for its owner to add."""

    path: Path
    purpose: str
    content: str
    is_there: bool

    def make(self) -> None:
        """Make the file. Raises MplintError where there is one by now, or it cannot be made."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(self.content)
        except FileExistsError:
            raise MplintError(f"{self.path}: is there already, and is left as it is") from None
        except OSError as error:
            raise MplintError(f"{self.path}: cannot be written: {error.strerror}") from None


def likely_forge(root: Path) -> Forge:
    """The forge that a project seems to be on, by its files."""
    if (root / ".gitlab-ci.yml").exists():
        return "gitlab"
    return "github" if (root / ".github").is_dir() else "none"


def steps(root: Path, forge: Forge, source: str | None, baseline: str | None) -> Iterator[Step]:
    """The files for a project at `root`.

    `source` is where the project takes mplint from, as OWNER/NAME@COMMIT; `baseline` the text of one, where there is
    something to put in it.
    """
    configuration = _CONFIGURATION if baseline is None else f'{_CONFIGURATION}baseline = "{BASELINE}"\n'
    found = find_config(root)
    if found is None or baseline is not None:
        added = configuration if found is None else f'baseline = "{BASELINE}"\n'
        yield _step(found or root / "mplint.toml", "the configuration", added)
    if baseline is not None:
        yield _step(root / BASELINE, "what is found now, to be left out from now on", baseline)
    yield _step(root / ".pre-commit-config.yaml", "a hook for commits", _template("pre-commit", source))
    if forge != "none":
        yield _step(root / _PLACES[forge], "reviews of changes", _template(forge, source))


def has_placeholders(made: Sequence[Step]) -> bool:
    """Whether somebody has to fill in where mplint comes from."""
    return any("OWNER/mplint" in step.content for step in made)


def _step(path: Path, purpose: str, content: str) -> Step:
    return Step(path, purpose, content, path.exists() or path.is_symlink())


def _template(name: str, source: str | None) -> str:
    text = (resources.files("mplint") / "templates" / f"{name}.yml").read_text(encoding="utf-8")
    if source is None:
        return text
    repository, _, commit = source.partition("@")
    return text.replace("OWNER/mplint", repository).replace("COMMIT", commit)

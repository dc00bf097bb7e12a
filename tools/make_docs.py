"""Write the rules' pages, docs/rules/*.md, from the rules' docstrings.

python tools/make_docs.py            write them
python tools/make_docs.py --check    only say whether they are up to date (exit status 1 when not)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from mplint.analysis import RuleInfo, rules

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "rules"
NOTE = "<!-- Written by `make docs` from the rules' docstrings: do not edit. -->\n"

# A heading of a docstring: a line over a line of dashes. Markdown has both forms; a page uses one.
HEADING = re.compile(r"^(\S.*)\n-{3,}$", flags=re.MULTILINE)


def page(rule: RuleInfo) -> str:
    """One rule."""
    text = HEADING.sub(r"## \1", rule.documentation.strip())
    return f"{NOTE}\n# {rule.name} ({rule.code})\n\n{facts(rule)}\n\n{text}\n"


def facts(rule: RuleInfo) -> str:
    fixes = " or ".join(str(level) for level in rule.fixes) or "none"
    return f"Severity: **{rule.severity}** · Fix: **{fixes}**"


def index(known: tuple[RuleInfo, ...]) -> str:
    """The table of all rules."""
    rows = [f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity} | {rule.summary} |" for rule in known]
    head = ["| Code | Name | Severity | |", "|---|---|---|---|"]
    return "\n".join([NOTE, "# Rules", "", *head, *rows]) + "\n"


def pages() -> Mapping[Path, str]:
    known = rules()
    return {FOLDER / "README.md": index(known)} | {FOLDER / f"{rule.code}.md": page(rule) for rule in known}


def main() -> int:
    wanted = pages()
    present = {path: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    if "--check" not in sys.argv[1:]:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for path in present.keys() - wanted.keys():
            path.unlink()
        for path, text in wanted.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = sorted(path.name for path in wanted.keys() | present.keys() if wanted.get(path) != present.get(path))
    for name in stale:
        print(f"docs/rules/{name} is not what the rules say: run `make docs`")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

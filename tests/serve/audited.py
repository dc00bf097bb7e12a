"""A review in a process of its own, which tells each file and folder that it opens: `python -m tests.serve.audited`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from mplint.errors import MplintError
from mplint.review.checking import Asked
from mplint.review.reviewing import Change, Taste, review


def main() -> None:
    """Review the change in the repository, from the commit and to the commit that are named."""
    opened: list[str] = []

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, bytes, os.PathLike)):
            opened.append(os.path.realpath(os.fsdecode(arguments[0])))

    repository, base, head = sys.argv[1:]
    sys.addaudithook(note)
    try:
        found, said = review(Change(Path(repository), base, head), Asked(), Taste()).found, ""
    except MplintError as error:
        found, said = 0, str(error)
    print(json.dumps({"found": found, "said": said, "opened": sorted(set(opened))}))


if __name__ == "__main__":
    main()

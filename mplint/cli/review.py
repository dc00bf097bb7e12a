"""`mplint review`: say on the lines of a change what it makes wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import click

from mplint.cli.options import Choice, configuration
from mplint.cli.terminal import emit, on_one_line
from mplint.errors import MplintError
from mplint.findings import Severity
from mplint.settings import DEVICES, KERAS, POLICIES, SEVERITIES

if TYPE_CHECKING:
    from mplint.review.checking import Asked
    from mplint.review.reviewing import Review, Taste

FORGES: Final = ("github", "gitlab")


@click.command(short_help="Review a change: comment on its lines what it makes wrong.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--base", metavar="REVISION", help="What the change is made to; where the two histories parted counts.")
@click.option("--head", metavar="REVISION", help="The change.  [default: HEAD]")
@click.option("--forge", type=Choice(FORGES), help="Where to say it; without one, it is printed.")
@click.option("--repository", metavar="OWNER/NAME", help="There.  [default: the one whose CI this is]")
@click.option("--number", type=int, metavar="N", help="The pull or merge request.  [default: that of this CI run]")
@click.option("--api", metavar="URL", help="The forge's API.  [default: what CI says, else the public one]")
@click.option("--dry-run", is_flag=True, help="Say nothing: print all of it as JSON.")
@click.option(
    "--max-comments", type=click.IntRange(0, 100), default=25, show_default=True, help="Comments, the worst first."
)
@click.option("--docs", metavar="URL", help="Where the pages of the rules are, for links to them.")
@click.option("--status", is_flag=True, help="Mark the commit, too, with the state of the review.")
@click.option("--sarif", type=click.Path(dir_okay=False, path_type=Path), help="Write what is found to this file, too.")
@click.option("--fail-on", type=Choice(SEVERITIES), help="End with status 1 from this severity on.  [default: never]")
@click.option("--unsafe-fixes", is_flag=True, default=None, help="Suggest also fixes that are not safe.")
@click.option("--keras", type=Choice(KERAS), help="The generation of Keras, whatever the code says.  [default: auto]")
@click.option("--device", type=Choice(DEVICES), help="What the code runs on.  [default: auto]")
@click.option("--assume-policy", type=Choice(POLICIES), help="Check as if this policy were set.")
@configuration
@click.pass_context
def review(ctx: click.Context, /, paths: tuple[Path, ...], **options: Any) -> None:
    """Review the change from one git revision to another, and comment on its lines.

    The whole program is checked before and after; what the change causes or touches is told on its lines, with a
    suggestion where the fix is one, and a summary below. A policy that is switched on in train.py is told there with
    all that it makes wrong in models.py. PATHS limit what is checked. Nothing of the repository is run.

    With --forge, in the CI of GitHub or GitLab, comments are posted (the token is taken from GITHUB_TOKEN, or
    GITLAB_TOKEN): what was said before is not said again, what is gone is resolved, and nothing is ever approved or
    refused. Where the token may not write, annotations are printed instead. This needs `pip install "mplint[bot]"`.

    Exit status: 0 reviewed, 1 something at or above --fail-on is found, 2 a wrong call, or a forge that does not
    answer.
    """
    from mplint.git import top_of
    from mplint.review.checking import Asked
    from mplint.review.reviewing import Taste

    top = top_of(Path.cwd())
    places = tuple(_inside(top, path) for path in paths)
    asked = Asked(places, options["config"], options["isolated"], _overrides(options))
    fail_on = Severity[options["fail_on"].upper()] if options["fail_on"] else None
    docs = options["docs"].rstrip("/") if options["docs"] else None
    taste = Taste(options["max_comments"], docs, fail_on)
    done = (_told if options["forge"] else _printed)(top, asked, taste, options)
    if done is None:
        return
    for path in done.failed:
        emit(f"error: {on_one_line(path)}: mplint itself failed here, please report it\n", sys.stderr)
    if options["sarif"] is not None:
        from mplint.source.write import write_new

        write_new(options["sarif"], done.sarif.encode())
    ctx.exit(int(done.status.state == "failure"))


def _printed(top: Path, asked: Asked, taste: Taste, options: Mapping[str, Any]) -> Review:
    """Review two revisions, and print what there is to say."""
    from mplint.git import commit_of, common_ancestor
    from mplint.review.payload import as_json
    from mplint.review.reviewing import Change
    from mplint.review.reviewing import review as review_change

    if options["base"] is None:
        raise click.UsageError("--base says what the change is made to")
    head = commit_of(top, options["head"] or "HEAD")
    base = common_ancestor(top, commit_of(top, options["base"]), head)
    done = review_change(Change(top, base, head), asked, taste)
    emit(as_json(done), sys.stdout)
    return done


def _told(top: Path, asked: Asked, taste: Taste, options: Mapping[str, Any]) -> Review | None:
    """Review a pull request, and tell it there."""
    import asyncio

    from mplint.review.environment import connected, place
    from mplint.review.session import Told, review_pull_request

    if options["base"] is not None or options["head"] is not None:
        raise click.UsageError("--base and --head are for a change that is on no forge: leave them out with --forge")
    at = place(options["forge"], os.environ, options["repository"], options["number"], options["api"])
    connection = connected(at)

    async def told() -> Told:
        async with connection as forge:
            return await review_pull_request(
                forge, top, asked, taste, with_status=options["status"], dry_run=options["dry_run"]
            )

    result = asyncio.run(told())
    if options["dry_run"] and result.review is not None:
        from mplint.review.payload import as_json

        emit(as_json(result.review, result.body), sys.stdout)
    elif result.read_only and result.review is not None:
        emit(f"note: {result.read_only}; what is found is printed as annotations instead\n", sys.stderr)
        emit(result.review.annotations, sys.stdout)
        _append(os.environ.get("GITHUB_STEP_SUMMARY"), result.review.summary)
    else:
        emit(f"{result.in_words}\n", sys.stdout)
    return result.review


def _append(file: str | None, text: str) -> None:
    """Add to the page that GitHub shows of a run."""
    if file:
        with Path(file).open("a", encoding="utf-8", errors="replace") as page:
            page.write(f"{text}\n")


def _overrides(options: Mapping[str, Any]) -> dict[str, object]:
    named = ("keras", "device", "assume_policy", "unsafe_fixes")
    return {name: options[name] for name in named if options[name] is not None}


def _inside(top: Path, path: Path) -> PurePosixPath:
    """A path as the repository names it."""
    real, inside = path.resolve(), top.resolve()
    if not real.is_relative_to(inside):
        raise MplintError(f"{path}: lies outside of the repository {top}")
    return PurePosixPath(real.relative_to(inside).as_posix())

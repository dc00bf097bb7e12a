"""`mplint serve` as a command: what it says of wrong calls."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mplint.cli.main import main
from mplint.serve.database import Database
from tests.serve.inside import Reviewer, running
from tests.serve.served import ROOT

GOOD = {"MPLINT_WEBHOOK_SECRET": "secret", "GITHUB_TOKEN": "token"}


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "GITLAB_", "MPLINT_")):
            monkeypatch.delenv(name)
    return tmp_path / "serve.sqlite"


def mplint(database: Path, *arguments: str, **environment: str) -> Result:
    command = ["serve", "--database", str(database), "--port", "0", *arguments]
    return CliRunner().invoke(main, command, env=environment, prog_name="mplint")


def test_what_it_cannot_do_without(database: Path, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    (tmp_path / "no-key.pem").write_text("no key")
    (tmp_path / "binary").write_bytes(b"\xff")
    for arguments, environment, said in [
        ([], {}, "set GITHUB_TOKEN, or act as an app with --app-id and --private-key"),
        (["--forge", "gitlab"], GOOD, "set GITLAB_TOKEN"),
        ([], {"GITHUB_TOKEN": "token"}, "set MPLINT_WEBHOOK_SECRET, or name a file with --webhook-secret"),
        (["--webhook-secret", missing], GOOD, "missing: cannot be read (No such file or directory)"),
        (["--webhook-secret", str(tmp_path / "binary")], GOOD, "binary: cannot be read (no text)"),
        (["--app-id", "1"], GOOD, "--app-id and --private-key belong together"),
        (["--app-id", "1", "--private-key", missing], GOOD, "missing: cannot be read"),
        (["--app-id", "1", "--private-key", str(tmp_path / "no-key.pem")], GOOD, "is no private key in PEM form"),
        (["--app-id", "1", "--private-key", missing, "--forge", "gitlab"], GOOD, "only GitHub has apps"),
        (["--api-url", "github.example.org"], GOOD, "is no address such as https://github.example.org/api/v3"),
        (["--api-url", "https://me:pass@github.example.org"], GOOD, "is no address"),
        (["--api-url", "https://[::1"], GOOD, "is no address"),
        (["--api-url", "https://github.example.org:99999"], GOOD, "is no address"),
        ([], {**GOOD, "MPLINT_WEBHOOK_SECRET": " \n"}, "set MPLINT_WEBHOOK_SECRET"),
        ([], {**GOOD, "MPLINT_WEBHOOK_SECRET": "\udcff"}, "MPLINT_WEBHOOK_SECRET: is no text on one line"),
        ([], {**GOOD, "GITHUB_TOKEN": "one\ntwo"}, "GITHUB_TOKEN: is no text on one line"),
        (["--database", ""], GOOD, "is a folder; name a file"),
        (["--workers", "0"], GOOD, "0 is not in the range"),
        (["--forge", "gitea"], GOOD, "cannot be 'gitea'"),
    ]:
        result = mplint(database, *arguments, **environment)
        assert result.exit_code == 2
        assert said in result.stderr, arguments
        assert not database.exists()


def test_databases_that_are_none_of_ours(database: Path, tmp_path: Path) -> None:
    database.write_text("no database, whatever its name says")
    result = mplint(database, **GOOD)
    assert (result.exit_code, "cannot be used as a database" in result.stderr) == (2, True)
    result = mplint(tmp_path / "missing" / "serve.sqlite", **GOOD)
    assert (result.exit_code, "cannot be used as a database" in result.stderr) == (2, True)
    result = mplint(tmp_path / "none.sqlite", "--failed")
    assert (result.exit_code, "cannot be read as a database of `mplint serve`" in result.stderr) == (2, True)


@pytest.mark.parametrize("version", [0, 1])
def test_databases_of_others_are_left_as_they_are(database: Path, version: int) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(f"CREATE TABLE theirs (x); PRAGMA user_version={version};")
    result = mplint(database, **GOOD)
    assert (result.exit_code, result.stderr.splitlines()[-1].startswith(f"error: {database}: ")) == (2, True)
    assert "Traceback" not in result.stderr
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
        assert version or connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_databases_that_are_broken(database: Path) -> None:
    Database(database).close()
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * (size - 8192))
    for arguments in ([], ["--failed"]):
        result = mplint(database, *arguments, **GOOD)
        assert (result.exit_code, "database disk image is malformed" in result.stderr) == (2, True)
        assert "Traceback" not in result.stderr


def test_a_database_that_another_program_writes_to(database: Path) -> None:
    Database(database).close()
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        result = mplint(database, **GOOD)
        assert (result.exit_code, "cannot be used as a database (database is locked)" in result.stderr) == (2, True)


def test_a_database_has_one_server(database: Path) -> None:
    other = database.with_name("another-name.sqlite")
    other.symlink_to(database)
    with running(database.parent, Reviewer()):
        for name in (database, other):
            result = mplint(name, **GOOD)
            assert result.exit_code == 2
            assert "another `mplint serve` has it; each needs a database of its own" in result.stderr
        assert mplint(database, "--failed").exit_code == 0


def test_a_port_that_is_taken(database: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "mplint", "serve", "--database", str(database), "--port", port]
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **GOOD}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert f"error: cannot listen at 127.0.0.1:{port}: " in done.stderr
        assert "Traceback" not in done.stderr


def test_a_host_that_is_no_name(database: Path) -> None:
    result = mplint(database, "--host", "a..b", **GOOD)
    assert (result.exit_code, "error: cannot listen at a..b:0: " in result.stderr) == (2, True)


def test_its_help_tells_of_all_of_it() -> None:
    told = CliRunner().invoke(main, ["serve", "--help"], prog_name="mplint").stdout
    for word in (
        "--database",
        "--grace",
        "MPLINT_WEBHOOK_SECRET",
        "GITHUB_TOKEN",
        "/metrics",
        "SIGTERM",
        "docs/serve.md",
    ):
        assert word in told


def test_without_the_extra_it_says_what_to_install(database: Path) -> None:
    start = f"sys.argv = ['mplint', 'serve', '--database', {str(database)!r}]; import mplint.cli.main as m; m.run()"
    hide = "import sys; sys.modules['aiohttp'] = sys.modules['prometheus_client'] = None"
    command, known = [sys.executable, "-c", f"{hide}; {start}"], {**os.environ, **GOOD}
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert 'is not installed, which servers need: pip install "mplint[bot]"' in done.stderr

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.errors import MplintError
from mplint.findings import Severity
from mplint.settings import Settings, did_you_mean

CODES = ("MP001", "MP101", "MP102", "MP201")


def selected(settings: Settings) -> list[str]:
    return [code for code in CODES if settings.selects(code)]


def configured(root: Path, text: str, name: str = "mplint.toml") -> Path:
    (root / name).write_text(text, encoding="utf-8")
    return root


def test_defaults(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path)
    assert settings == Settings(root=tmp_path)
    assert selected(settings) == list(CODES)
    assert settings.fail_on is Severity.WARNING
    assert {origin for _, _, origin in settings.items()} == {"default"}


def test_every_setting_can_be_configured(tmp_path: Path) -> None:
    text = """
        select = ["MP1"]
        ignore = ["MP102"]
        extend-select = ["MP201"]
        exclude = ["build"]
        extend-exclude = ["old"]
        force-exclude = true
        respect-gitignore = false
        keras = 3
        device = "tpu"
        assume-policy = "mixed_bfloat16"
        fail-on = "advice"
        output-fix = "dtype"
        output-format = "concise"
        fix = true
        unsafe-fixes = true
        show-fixes = true
        baseline = "known.json"
        cache-dir = ".cache"
        [per-file-ignores]
        "tests/" = ["MP1"]
        [per-file-keras]
        "old/" = 2
        [per-file-assume-policy]
        "lib/" = "mixed_float16"
    """
    settings = Settings.load(configured(tmp_path, text))
    assert selected(settings) == ["MP001", "MP101", "MP201"]
    assert settings.keras == "3"
    assert settings.fail_on is Severity.ADVICE
    assert {origin for _, _, origin in settings.items()} == {str(tmp_path / "mplint.toml")}


def test_pyproject_counts_where_it_has_the_table(tmp_path: Path) -> None:
    configured(tmp_path, "[tool.other]\nx = 1\n", "pyproject.toml")
    assert Settings.load(tmp_path).keras == "auto"
    configured(tmp_path, '[tool.mplint]\nkeras = "2"\n', "pyproject.toml")
    assert Settings.load(tmp_path).keras == "2"
    configured(tmp_path, 'keras = "3"')
    assert Settings.load(tmp_path).keras == "3"


def test_of_several_files_one_counts(tmp_path: Path) -> None:
    configured(tmp_path, "[tool.mplint]\nkeras = '2'\n", "pyproject.toml")
    for name in ("mplint.toml", ".mplint.toml"):
        configured(tmp_path, "device = 'tpu'\n", name)
        settings = Settings.load(tmp_path)
        assert (settings.keras, settings.origins) == ("auto", {"device": str(tmp_path / name)})


def test_flags_win_over_inline_settings_and_these_over_the_file(tmp_path: Path) -> None:
    configured(tmp_path, 'keras = "2"\ndevice = "gpu"\nfail-on = "error"\n')
    settings = Settings.load(tmp_path, ['device = "tpu"', 'fail-on = "advice"'], overrides={"fail_on": "warning"})
    assert (settings.keras, settings.device, settings.fail_on) == ("2", "tpu", Severity.WARNING)
    origins = {key: origin for key, _, origin in settings.items()}
    assert origins["device"] == "--config"
    assert origins["fail-on"] == "--fail-on"


def test_a_named_file_takes_the_place_of_the_one_found(tmp_path: Path) -> None:
    configured(tmp_path, 'keras = "2"\n')
    other = tmp_path / "other.toml"
    other.write_text('device = "tpu"\n')
    settings = Settings.load(tmp_path, [str(other)])
    assert (settings.keras, settings.device) == ("auto", "tpu")


def test_isolated_reads_no_file(tmp_path: Path) -> None:
    configured(tmp_path, 'keras = "2"\n')
    assert Settings.load(tmp_path, ['device = "tpu"'], isolated=True).keras == "auto"
    with pytest.raises(MplintError, match="isolated"):
        Settings.load(tmp_path, ["mplint.toml"], isolated=True)


@pytest.mark.parametrize(
    ("select", "ignore", "extend", "expected"),
    [
        (["MP1"], [], [], ["MP101", "MP102"]),
        (["MP10"], ["MP102"], [], ["MP101"]),
        (["MP102"], ["MP1"], [], ["MP102"]),
        (["MP1"], ["MP1"], [], []),
        (["MP101"], [], ["mp2"], ["MP101", "MP201"]),
        (["ALL"], ["MP10"], [], ["MP201"]),
        (["MP"], ["ALL"], [], ["MP101", "MP102", "MP201"]),
    ],
)
def test_the_more_exact_selector_wins(
    select: list[str], ignore: list[str], extend: list[str], expected: list[str]
) -> None:
    flags = {"select": select, "ignore": ignore, "extend_select": extend}
    settings = Settings.load(Path(), isolated=True, overrides=flags)
    assert selected(settings) == ["MP001", *expected]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"select": ["MP1"]}, ["MP101", "MP102"]),
        ({"select": ["MP101,MP102"], "ignore": ["MP102"]}, ["MP101"]),
        ({"ignore": ["MP1"]}, ["MP201"]),
        ({"ignore": ["MP2"]}, ["MP101"]),
        ({"extend_select": ["MP1"]}, ["MP101", "MP102", "MP201"]),
    ],
)
def test_a_flag_wins_over_the_file_as_in_ruff(tmp_path: Path, flags: dict[str, object], expected: list[str]) -> None:
    configured(tmp_path, 'select = ["MP1", "MP201"]\nignore = ["MP102"]\n')
    assert selected(Settings.load(tmp_path, overrides=flags)) == ["MP001", *expected]


def test_added_settings_name_both_their_sources(tmp_path: Path) -> None:
    configured(tmp_path, 'ignore = ["MP102"]\n')
    settings = Settings.load(tmp_path, overrides={"ignore": ["MP201"]})
    assert settings.ignore == ("MP102", "MP201")
    assert settings.origins["ignore"] == f"{tmp_path / 'mplint.toml'}, --ignore"


@pytest.mark.parametrize(
    ("pattern", "file", "ignored"),
    [
        ("tests/", "tests/a.py", True),
        ("tests/*.py", "tests/a.py", True),
        ("a.py", "deep/down/a.py", True),
        ("/a.py", "deep/a.py", False),
        ("!src/", "tests/a.py", True),
        ("!src/", "src/a.py", False),
        ("*.py", "/elsewhere/b.py", True),
    ],
)
def test_per_file_ignores(tmp_path: Path, pattern: str, file: str, ignored: bool) -> None:
    settings = Settings.load(tmp_path, overrides={"per_file_ignores": [f"{pattern}:MP10"]})
    assert settings.reports("MP101", tmp_path / file) is not ignored
    assert settings.reports("MP201", tmp_path / file)
    assert settings.reports("MP001", tmp_path / file)


def test_per_file_ignores_as_a_flag(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, overrides={"per_file_ignores": ["a.py:MP1,MP2,b.py:MP3"]})
    assert settings.per_file_ignores == (("a.py", ("MP1",)), ("a.py", ("MP2",)), ("b.py", ("MP3",)))


def test_what_cannot_be_read_is_reported_whatever_is_selected() -> None:
    settings = Settings(select=("MP101",), ignore=("ALL", "MP001"))
    assert settings.selects("MP001")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("assume-polcy = 'mixed_float16'", "there is no setting `assume-polcy`; did you mean `assume-policy`?"),
        (
            "assume-policy = 'mixed_float_16'",
            "`assume-policy`: cannot be 'mixed_float_16'; did you mean `mixed_float16`?",
        ),
        ("keras = 4", "`keras`: cannot be 4; known: 2, 3, auto"),
        ("fix = 'yes'", "`fix`: expects true or false, not 'yes'"),
        ("exclude = 3", "`exclude`: expects a list of strings, not 3"),
        ("keras = true", "`keras`: cannot be true"),
        ("keras = ", "is not TOML"),
        (f"keras = {'[' * 5000}{']' * 5000}", "is not TOML"),
        ("exclude = ['a', '!']", "`exclude`: `!` is no pattern in gitignore's language"),
        ("extend-exclude = ['[z-a]']", "`extend-exclude`: `[z-a]` is no pattern"),
        ("[per-file-ignores]\n'a\\' = ['MP101']", "`per-file-ignores`: `a\\` is no pattern"),
        ("[per-file-keras]\n'!!' = '2'", "`per-file-keras`: `!!` is no pattern"),
        ('baseline = "a\\u0000"', "`baseline`: expects a path, not 'a\\x00'"),
        ("baseline = '~nobody-of-this-name/a'", "`baseline`: nobody here has the folder of"),
    ],
)
def test_mistakes_in_a_file_name_the_file_and_the_way_out(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MplintError) as caught:
        Settings.load(configured(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path / 'mplint.toml'}: ")
    assert message in str(caught.value)


def test_mistakes_in_a_flag_name_the_flag(tmp_path: Path) -> None:
    with pytest.raises(MplintError, match=r"^--keras: cannot be 'tow'"):
        Settings.load(tmp_path, overrides={"keras": "tow"})
    with pytest.raises(MplintError, match="expects `PATTERN:CODE`"):
        Settings.load(tmp_path, overrides={"per_file_ignores": ["MP101"]})


@pytest.mark.parametrize("key", ["select", "ignore", "extend-select"])
def test_a_rule_that_does_not_exist_is_refused(tmp_path: Path, key: str) -> None:
    settings = Settings.load(configured(tmp_path, f'{key} = ["MP1O1"]\n'))
    with pytest.raises(MplintError, match=f"`{key}`: there is no rule `MP1O1`; did you mean `MP101`?"):
        settings.require_known(CODES)


def test_prefixes_and_all_are_known(tmp_path: Path) -> None:
    Settings.load(configured(tmp_path, 'select = ["ALL", "MP", "MP1", "MP10", "MP101"]\n')).require_known(CODES)


def test_a_missing_or_unfit_configuration_is_told(tmp_path: Path) -> None:
    with pytest.raises(MplintError, match="No such file"):
        Settings.load(tmp_path, ["absent.toml"])
    configured(tmp_path, "", "pyproject.toml")
    with pytest.raises(MplintError, match=r"no \[tool\.mplint\] table"):
        Settings.load(tmp_path, [str(tmp_path / "pyproject.toml")])
    (tmp_path / "mplint.toml").write_bytes(b"\xff")
    with pytest.raises(MplintError, match="UTF-8"):
        Settings.load(tmp_path)


@pytest.mark.parametrize("name", ["mplint.toml", "other.toml"])
def test_a_table_as_in_pyproject_is_read_in_any_file(tmp_path: Path, name: str) -> None:
    configured(tmp_path, "[tool.mplint]\nkeras = '3'\n[tool.ruff]\n", name)
    assert Settings.load(tmp_path, [str(tmp_path / name)]).keras == "3"
    configured(tmp_path, "device = 'tpu'\n[tool.mplint]\nkeras = '3'\n", name)
    with pytest.raises(MplintError, match=r"`device` stands outside of the table \[tool\.mplint\]"):
        Settings.load(tmp_path, [str(tmp_path / name)])


def test_did_you_mean() -> None:
    assert did_you_mean("selct", ["select", "ignore"]) == "; did you mean `select`?"
    assert did_you_mean("zzz", ["b", "a"]) == "; known: a, b"
    assert not did_you_mean("zzz", map(str, range(20)))


def test_what_a_later_select_emptied_names_it_as_its_source(tmp_path: Path) -> None:
    configured(tmp_path, 'ignore = ["MP102"]\n')
    settings = Settings.load(tmp_path, overrides={"select": ["MP1"]})
    assert (settings.ignore, settings.origins["ignore"]) == ((), "--select")


def test_a_later_source_is_named_only_for_what_it_emptied(tmp_path: Path) -> None:
    configured(tmp_path, 'per-file-keras = { "legacy/*" = "2" }\n')
    flags = {"select": ["MP1"], "keras": "3", "assume_policy": "mixed_float16"}
    settings = Settings.load(tmp_path, overrides=flags)
    assert settings.per_file_keras == ()
    assert settings.origins == {
        "select": "--select",
        "keras": "--keras",
        "per_file_keras": "--keras",
        "assume_policy": "--assume-policy",
    }


PER_FILE = """
    keras = "3"
    assume-policy = "mixed_bfloat16"
    [per-file-keras]
    "legacy/*" = "2"
    "legacy/new.py" = "auto"
    [per-file-assume-policy]
    "lib/" = "mixed_float16"
    "lib/tests/" = "none"
"""


@pytest.mark.parametrize(
    ("file", "keras", "policy"),
    [
        ("legacy/a.py", ("2", "legacy/*"), ("mixed_bfloat16", None)),
        ("legacy/new.py", ("auto", "legacy/new.py"), ("mixed_bfloat16", None)),
        ("lib/deep/a.py", ("3", None), ("mixed_float16", "lib/")),
        ("lib/tests/a.py", ("3", None), (None, "lib/tests/")),
    ],
)
def test_settings_by_file(tmp_path: Path, file: str, keras: tuple[str, str], policy: tuple[str, str]) -> None:
    settings = Settings.load(configured(tmp_path, PER_FILE))
    assert settings.keras_for(tmp_path / file) == keras
    assert settings.assumed_for(tmp_path / file) == policy
    assert settings.assumed_policies == {"mixed_float16", "mixed_bfloat16"}


def test_a_flag_wins_over_what_the_file_says_of_some_files(tmp_path: Path) -> None:
    configured(tmp_path, PER_FILE)
    settings = Settings.load(tmp_path, overrides={"keras": "3"})
    assert settings.keras_for(tmp_path / "legacy" / "a.py") == ("3", None)
    assert settings.assumed_for(tmp_path / "lib" / "a.py") == ("mixed_float16", "lib/")
    settings = Settings.load(tmp_path, ['assume-policy = "float16"'])
    assert settings.assumed_for(tmp_path / "lib" / "a.py") == ("float16", None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('per-file-keras = "2"', "expects a table of `PATTERN = VALUE`, not '2'"),
        ('per-file-keras = { "old/" = "1" }', "`per-file-keras`: `old/` cannot be '1'; known: 2, 3, auto"),
        (
            'per-file-assume-policy = { "x" = "mixed_float" }',
            "`x` cannot be 'mixed_float'; did you mean `mixed_float16`?",
        ),
        ('per-file-kera = { "x" = "2" }', "there is no setting `per-file-kera`; did you mean `per-file-keras`?"),
    ],
)
def test_mistakes_by_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MplintError) as error:
        Settings.load(configured(tmp_path, text))
    assert message in str(error.value)

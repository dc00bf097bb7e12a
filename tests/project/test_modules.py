"""Names, files, and who imports whom."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mplint.project.discovery import Exclusions
from mplint.project.modules import Project
from mplint.source.file import SourceError
from tests.project.trees import project, shown, write

LAYOUT = {
    "train.py": "",
    "pkg/__init__.py": "",
    "pkg/models/__init__.py": "",
    "pkg/models/net.py": "",
    "pkg/util.py": "",
    "scripts/run.py": "",
    "scripts/helper.py": "",
    "scripts/train.py": "",
    "my-scripts/odd.py": "",
    "space/part/deep.py": "",
    "python/lib/__init__.py": "",
    "python/lib/core.py": "",
}
SRC = {"src/pkg/__init__.py": "", "src/pkg/a.py": "", "src/tool.py": "", "tests/test_a.py": "", "tests/help.py": ""}


@pytest.mark.parametrize(
    ("files", "path", "name"),
    [
        (LAYOUT, "train.py", "train"),
        (LAYOUT, "pkg/__init__.py", "pkg"),
        (LAYOUT, "pkg/models/net.py", "pkg.models.net"),
        (LAYOUT, "scripts/run.py", "scripts.run"),
        (LAYOUT, "my-scripts/odd.py", "odd"),
        (LAYOUT, "space/part/deep.py", "space.part.deep"),
        (LAYOUT, "python/lib/core.py", "lib.core"),
        (SRC, "src/pkg/a.py", "pkg.a"),
        (SRC, "src/tool.py", "tool"),
        (SRC, "tests/help.py", "tests.help"),
        ({"src/__init__.py": "", "src/a.py": ""}, "src/a.py", "src.a"),
    ],
)
def test_a_module_has_a_name_and_the_name_leads_back(
    tmp_path: Path, files: dict[str, str], path: str, name: str
) -> None:
    here = project(tmp_path, files)
    assert here.module_name(tmp_path / path) == name
    assert here.path_of(name) == tmp_path / path


def test_a_root_that_is_a_package_gives_its_name(tmp_path: Path) -> None:
    here = project(tmp_path / "nodes", {"__init__.py": "", "a.py": "", "sub/__init__.py": "", "sub/b.py": ""})
    assert here.module_name(tmp_path / "nodes" / "__init__.py") == "nodes"
    assert here.module_name(tmp_path / "nodes" / "sub" / "b.py") == "nodes.sub.b"
    for name in ("nodes.sub.b", "sub.b"):
        assert here.path_of(name) == tmp_path / "nodes" / "sub" / "b.py"
    assert here.resolve("a", 0, tmp_path / "nodes" / "sub" / "b.py") == tmp_path / "nodes" / "a.py"


def test_names_that_lead_nowhere(tmp_path: Path) -> None:
    here = project(tmp_path, LAYOUT)
    for name in ("nothing", "pkg.nothing", "space", "space.part", "", "pkg..util", "numpy", "keras.layers"):
        assert here.path_of(name) is None


@pytest.mark.parametrize(
    ("name", "level", "importer", "target"),
    [
        ("pkg.util", 0, "train.py", "/pkg/util.py"),
        ("pkg", 0, "train.py", "/pkg/__init__.py"),
        ("pkg.models", 0, "pkg/util.py", "/pkg/models/__init__.py"),
        ("util", 1, "pkg/__init__.py", "/pkg/util.py"),
        ("", 1, "pkg/util.py", "/pkg/__init__.py"),
        ("util", 2, "pkg/models/net.py", "/pkg/util.py"),
        ("models.net", 1, "pkg/util.py", "/pkg/models/net.py"),
        ("nothing", 1, "pkg/models/net.py", "pkg.models.nothing"),
        ("", 1, "scripts/run.py", "scripts"),
        ("helper", 1, "scripts/run.py", "/scripts/helper.py"),
        ("a", 9, "pkg/util.py", "a"),
        ("helper", 0, "scripts/run.py", "/scripts/helper.py"),
        ("train", 0, "scripts/run.py", "/scripts/train.py"),
        ("train", 0, "pkg/util.py", "/train.py"),
        ("scripts.train", 0, "scripts/run.py", "/scripts/train.py"),
        ("space.part.deep", 0, "train.py", "/space/part/deep.py"),
        ("space.part", 0, "train.py", "space.part"),
        ("deep", 0, "train.py", "deep"),
        ("lib.core", 0, "train.py", "/python/lib/core.py"),
        ("pkg.nothing", 0, "train.py", "pkg.nothing"),
        ("numpy", 0, "train.py", "numpy"),
        ("os.path", 0, "train.py", "os.path"),
        ("odd", 0, "train.py", "/my-scripts/odd.py"),
        ("a..b", 0, "train.py", "a..b"),
        ("", 0, "train.py", ""),
    ],
)
def test_resolve(tmp_path: Path, name: str, level: int, importer: str, target: str) -> None:
    here = project(tmp_path, LAYOUT)
    assert shown(tmp_path, here.resolve(name, level, tmp_path / importer)) == target


def test_a_src_layout(tmp_path: Path) -> None:
    here = project(tmp_path, SRC)
    for name, target in [("pkg.a", "/src/pkg/a.py"), ("tool", "/src/tool.py"), ("help", "/tests/help.py")]:
        assert shown(tmp_path, here.resolve(name, 0, tmp_path / "tests" / "test_a.py")) == target
    assert shown(tmp_path, here.resolve("src.pkg.a", 0, tmp_path / "tests" / "test_a.py")) == "/src/pkg/a.py"


def test_siblings_in_a_package_are_imported_without_a_dot_only_by_scripts(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "pkg/a.py": "", "pkg/b.py": "", "pkg/logging.py": ""}
    here = project(tmp_path / "library", files)
    assert here.resolve("b", 0, tmp_path / "library" / "pkg" / "a.py") == "b"
    here = project(tmp_path / "scripts", {**files, "pkg/run.py": "if __name__ == '__main__': pass"})
    a = tmp_path / "scripts" / "pkg" / "a.py"
    assert here.resolve("b", 0, a) == a.parent / "b.py"
    assert here.resolve("logging", 0, a) == "logging"


def test_the_api_is_outside_unless_it_is_the_project(tmp_path: Path) -> None:
    here = project(tmp_path / "user", {"keras/layers.py": "", "keras.py": "", "tensorflow/x.py": "", "a.py": ""})
    for name in ("keras", "keras.layers", "tensorflow.x", "tf_keras"):
        assert here.resolve(name, 0, tmp_path / "user" / "a.py") == name
        assert here.path_of(name) is None
    here = project(tmp_path / "own", {"keras/__init__.py": "", "keras/layers.py": "", "a.py": ""})
    assert here.resolve("keras.layers", 0, tmp_path / "own" / "a.py") == tmp_path / "own" / "keras" / "layers.py"
    assert here.resolve("keras.ops", 0, tmp_path / "own" / "a.py") == "keras.ops"


def test_the_first_package_of_a_name_hides_the_others(tmp_path: Path) -> None:
    here = project(
        tmp_path, {"src/pkg/__init__.py": "", "src/pkg/a.py": "", "pkg/__init__.py": "", "pkg/b.py": "", "x.py": ""}
    )
    assert here.resolve("pkg.b", 0, tmp_path / "x.py") == tmp_path / "pkg" / "b.py"
    assert here.resolve("pkg.a", 0, tmp_path / "x.py") == "pkg.a"


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("tests/helper.py", True),
        ("pkg/tests/deep/helper.py", True),
        ("test/x.py", True),
        ("test_x.py", True),
        ("x_test.py", True),
        ("conftest.py", True),
        ("test.py", False),
        ("train.py", False),
        ("testing/x.py", False),
        ("contest.py", False),
        ("latest_x.py", False),
    ],
)
def test_tests_are_known_by_their_names(tmp_path: Path, path: str, is_test: bool) -> None:
    root = tmp_path / "tests"  # where the project itself lies does not matter
    assert Project(root, [root / path]).is_test(root / path) is is_test


GRAPH = {
    "main.py": "from app import run\n",
    "app/__init__.py": "",
    "app/run.py": "def go():\n    from .model import build\n    import json, helper\n",
    "app/model.py": "from app import policy, missing\nfrom . import policy as p\n",
    "app/policy.py": "import keras\n",
    "helper.py": "import main\n",
    "other.py": "'''\nimport main\n'''\nimport importlib\nimportlib.import_module('app.policy')\n",
    "typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import main\n",
    "broken.py": "import helper\nx = (\n",
    "latin.py": "import helper  # \udce9\n",
    "lonely.py": "x = 1\n",
}


@pytest.fixture
def graph(tmp_path: Path) -> Project:
    for name, text in GRAPH.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    return Project.at(tmp_path)


@pytest.mark.parametrize(
    ("path", "imports"),
    [
        ("main.py", "app/__init__.py app/run.py"),
        ("app/run.py", "app/__init__.py app/model.py helper.py"),
        ("app/model.py", "app/__init__.py app/policy.py"),
        ("app/policy.py", ""),
        ("other.py", "app/__init__.py app/policy.py"),
        ("typed.py", ""),
        ("broken.py", "helper.py"),
        ("latin.py", ""),
    ],
)
def test_imports(graph: Project, path: str, imports: str) -> None:
    assert graph.imports(graph.root / path) == {graph.root / name for name in imports.split()}


@pytest.mark.parametrize(
    ("path", "importers"),
    [
        ("lonely.py", ""),
        ("broken.py", ""),
        ("app/policy.py", "app/model.py app/run.py main.py helper.py other.py broken.py"),
        ("app/model.py", "app/run.py main.py helper.py broken.py"),
        ("main.py", "helper.py app/run.py main.py broken.py"),
    ],
)
def test_importers_are_transitive(graph: Project, path: str, importers: str) -> None:
    assert graph.importers(graph.root / path) == {graph.root / name for name in importers.split()}


def test_mentions(graph: Project) -> None:
    assert graph.mentions(graph.root / "app" / "policy.py", b"tensorflow", b"keras")
    assert not graph.mentions(graph.root / "app" / "policy.py", b"tensorflow")
    assert not graph.mentions(graph.root / "app" / "policy.py")
    assert not graph.mentions(graph.root / "gone.py", b"keras")


def test_a_source_is_read_once(graph: Project) -> None:
    path = graph.root / "main.py"
    source = graph.source(path)
    old = graph.data(path)
    path.write_text("changed = 1\n")
    assert graph.source(path) is source
    assert graph.data(path) == old
    assert graph.glance(path, len) == len(source.text)


def test_a_file_that_cannot_be_read_is_an_error_each_time(graph: Project) -> None:
    for _ in range(2):
        with pytest.raises(SourceError):
            graph.source(graph.root / "latin.py")


def test_an_overlay_replaces_and_adds_files(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = 1\n", "b.py": ""})
    here = Project.at(tmp_path, overlay={tmp_path / "a.py": b"import c\n", tmp_path / "c.py": b"y = 2\n"})
    assert here.files == (tmp_path / "a.py", tmp_path / "b.py", tmp_path / "c.py")
    assert here.source(tmp_path / "a.py").text == "import c\n"
    assert here.imports(tmp_path / "a.py") == {tmp_path / "c.py"}
    assert here.importers(tmp_path / "c.py") == {tmp_path / "a.py"}
    assert here.mentions(tmp_path / "c.py", b"y =")


def test_an_edited_project_shares_what_did_not_change(tmp_path: Path) -> None:
    here = project(tmp_path, {"a.py": "import b\n", "b.py": "x = 1\n", "c.py": ""})
    a, b, c = here.files
    sources = [here.source(path) for path in here.files]
    assert here.importers(b) == {a}
    assert here.mentions(c, b"import") is False
    other = here.edited({c: b"import b\n"})
    assert other.source(a) is sources[0]
    assert other.source(c).text == "import b\n"
    assert other.mentions(c, b"import")
    assert other.importers(b) == {a, c}
    assert here.source(c) is sources[2]
    assert here.importers(b) == {a}
    third = other.edited({tmp_path / "d.py": b"import c\n", a: b""})
    assert third.source(c).text == "import b\n"
    assert third.importers(b) == {c, tmp_path / "d.py"}


def test_a_glance_is_taken_once_and_keeps_nothing_else(tmp_path: Path) -> None:
    here = project(tmp_path, {"a.py": "x = 1\n"})
    seen: list[str] = []

    def read(text: str) -> int:
        seen.append(text)
        return len(seen)

    assert [here.glance(tmp_path / "a.py", read) for _ in range(3)] == [1, 1, 1]
    assert here.edited({tmp_path / "a.py": b"y"}).glance(tmp_path / "a.py", read) == 2
    with pytest.raises(SourceError):
        here.glance(tmp_path / "gone.py", read)


def test_named_files_belong_to_the_project_though_excluded(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "build/b.py": "", "build/c.py": ""})
    here = Project.at(
        tmp_path, extra=[tmp_path / "build" / "b.py"], exclusions=Exclusions(tmp_path, extend_exclude=["a.py"])
    )
    assert here.files == (tmp_path / "build" / "b.py",)
    assert Project.at(tmp_path, exclusions=Exclusions(tmp_path, exclude=[])).files == tuple(
        tmp_path / name for name in ("a.py", "build/b.py", "build/c.py")
    )


def test_paths_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.py": "import b\n", "b.py": ""})
    monkeypatch.chdir(tmp_path)
    here = Project(Path(), [Path("a.py"), Path("b.py")])
    assert here.files == (tmp_path / "a.py", tmp_path / "b.py")
    assert here.imports(Path("a.py")) == {tmp_path / "b.py"}
    assert here.module_name(Path("a.py")) == "a"


def test_files_outside_the_root_can_be_asked_about(tmp_path: Path) -> None:
    write(tmp_path, {"root/a.py": "", "else/b.py": "import c, a\n", "else/c.py": ""})
    here = Project.at(tmp_path / "root", extra=[tmp_path / "else" / "b.py", tmp_path / "else" / "c.py"])
    assert here.module_name(tmp_path / "else" / "b.py") == "b"
    assert here.imports(tmp_path / "else" / "b.py") == {tmp_path / "else" / "c.py", tmp_path / "root" / "a.py"}
    assert not here.is_test(tmp_path / "else" / "b.py")


def test_a_notebook_is_no_module_and_says_what_its_cells_say(tmp_path: Path) -> None:
    """Not what their outputs hold, nor how JSON writes it."""
    cell = {"cell_type": "code", "source": ['dtype = "half"\n'], "outputs": [{"text": "mixed_float16"}]}
    book, script = tmp_path / "book.ipynb", tmp_path / "run.py"
    book.write_text(json.dumps({"cells": [cell]}))
    script.write_text("import book\n")
    project = Project(tmp_path, [book, script])
    assert project.mentions(book, b'"half"')
    assert not project.mentions(book, b"mixed_float16")
    assert project.resolve("book", 0, script) == "book"
    assert not project.importers(book)


def test_what_hydra_instantiates_is_imported(tmp_path: Path) -> None:
    here = project(
        tmp_path,
        {
            "train.py": "import hydra\nmodel = hydra.utils.instantiate(cfg.model)\n",
            "other.py": "import hydra\n",
            "conf/model/mlp.yaml": "_target_: nets.mlp.Mlp\nhead:\n  _target_: nets.heads.Softmax\n  units: 3\n",
            "conf/loss.yaml": "_target_: torch.nn.MSELoss\n",
            "nets/__init__.py": "",
            "nets/mlp.py": "",
            "nets/heads.py": "",
            "nets/unused.py": "",
        },
    )
    imports = {path.relative_to(tmp_path).as_posix() for path in here.imports(tmp_path / "train.py")}
    assert imports == {"nets/__init__.py", "nets/mlp.py", "nets/heads.py"}
    assert not here.imports(tmp_path / "other.py")

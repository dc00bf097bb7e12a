"""Directories that programs put on `sys.path`."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.project.search_path import added_directories, located
from tests.project.trees import project, shown


@pytest.mark.parametrize(
    ("code", "places"),
    [
        ('sys.path.append("../lib")', ["/p/lib", "/lib"]),
        ("sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))", ["/p"]),
        ('sys.path.append(os.path.join(os.path.dirname(__file__), "..", "lib"))', ["/p/lib"]),
        ('sys.path.append(osp.join(osp.dirname(__file__), os.pardir, "lib"))', ["/p/lib"]),
        ('sys.path.append(os.path.dirname(__file__) + "/../lib")', ["/p/lib"]),
        ('sys.path.append(str(Path(__file__).resolve().parent.parent / "lib"))', ["/p/lib"]),
        ('sys.path.append(str(Path(__file__).parents[1].joinpath("lib")))', ["/p/lib"]),
        ('sys.path.append(f"{os.path.dirname(__file__)}/lib")', ["/p/jobs/lib"]),
        ('ROOT = Path(__file__).parent\nsys.path.extend([str(ROOT), str(ROOT / "x")])', ["/p/jobs", "/p/jobs/x"]),
        ("here, _ = 1, 2\nsys.path.append(os.path.split(os.path.realpath(__file__))[0])", ["/p/jobs"]),
        ("sys.path.append(os.getcwd())", ["/p/jobs", "/p"]),
        ('site.addsitedir("/opt/nets")', ["/opt/nets", "/opt/nets"]),
        ('sys.path.append(os.environ["NETS"])', []),
        ("sys.path.append(path)\npath = path", []),
        ('# sys.path.append("lib")\nprint(sys.path)', []),
    ],
)
def test_directories(code: str, places: list[str]) -> None:
    text = f"{code}\n"
    file, root = Path("/p/jobs/train.py"), Path("/p")
    assert [str(place) for one in added_directories(text) for place in located(one, file, root)] == places


def test_imports_follow_them(tmp_path: Path) -> None:
    add = 'import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), "..", "{}"))\nimport net\n'
    here = project(
        tmp_path,
        {
            "a/train.py": add.format("nets_a"),
            "b/train.py": add.format("nets_b"),
            "c/train.py": "import net, helper\n",
            "nets_a/net.py": "import helper\n",
            "nets_a/helper.py": "",
            "nets_b/net.py": "",
        },
    )
    resolved = {name: shown(tmp_path, here.resolve("net", 0, tmp_path / name / "train.py")) for name in "abc"}
    assert resolved == {"a": "/nets_a/net.py", "b": "/nets_b/net.py", "c": "net"}
    assert shown(tmp_path, here.resolve("helper", 0, tmp_path / "c" / "train.py")) == "/nets_a/helper.py"

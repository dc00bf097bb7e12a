"""What a text tells of modules and files that are named at run time."""

from __future__ import annotations

import pytest

from mplint.project.dynamic import files_run_by
from mplint.project.imports import Import, imports_of

LISTED = '__all__ = [\n    "nets",\n    "tools",\n]\n'
PARTS = [Import("kit.nets"), Import("kit.tools")]
OWN_PARTS = [Import("nets", 1), Import("tools", 1)]
OPEN = Import("kit", 0, (), "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('m = importlib.import_module(f"models.{name}")\n', [Import("models", 0, (), "")]),
        ('m = import_module("models." + args.model)\n', [Import("models", 0, (), "")]),
        ('m = import_module("models.net_%s" % name)\n', [Import("models", 0, (), "net_")]),
        ('m = import_module("models.{}.net".format(name))\n', [Import("models", 0, (), "")]),
        ('m = import_module(".".join(["models", name]))\n', [Import("models", 0, (), "")]),
        ('m = import_module("." + name, package="zoo.nets")\n', [Import("zoo.nets", 0, (), "")]),
        ('m = import_module("." + name, __package__)\n', [Import("", 1, (), "")]),
        ('m = import_module(f"{__name__}.{name}")\n', [Import("", 1, (), "")]),
        ('m = import_module(__name__ + "." + name)\n', [Import("", 1, (), "")]),
        ('m = import_module(f".{name}", __name__)\n', [Import("", 1, (), "")]),
        ('path = f"models.{name}"\nm = import_module(path)\n', [Import("models", 0, (), "")]),
        ('m = import_module("a.b" if x else f"c.{x}")\n', [Import("a.b"), Import("c", 0, (), "")]),
        ('m = import_module(\n    f"models.{pick(name)}",\n)\n', [Import("models", 0, (), "")]),
        ('m = import_module(name)\nPARTS = {"Net": "kit.nets", "x": "no dots"}\n', [Import("kit.nets")]),
        ('net = {"_target_": "nets.mlp.Mlp", "width": 3}\n', [Import("nets.mlp.Mlp")]),
        ('m = import_module(f"{name}.models")\n', []),
        (f"{LISTED}def get(name):\n    if name in __all__:\n        return import_module(f'kit.{{name}}')\n", PARTS),
        (f"{LISTED}if n not in __all__:\n    raise KeyError\nm = import_module(__name__ + '.' + n)\n", OWN_PARTS),
        ("if n in NETS:\n    m = import_module(f'kit.{n}')\nNETS = {'nets': 1, 'tools': 2}\n", PARTS),
        (f"{LISTED}__all__ += more\nif n in __all__:\n    m = import_module(f'kit.{{n}}')\n", [OPEN]),
        (f"{LISTED}if n in __all__:\n    m = import_module(f'kit.{{other}}')\n", [OPEN]),
        ("if n in names():\n    m = import_module(f'kit.{n}')\n", [OPEN]),
        ("# import_module(f'models.{name}')\n", []),
        ('doc = """\nimport_module(f"models.{name}")\n"""\n', []),
    ],
)
def test_modules(text: str, expected: list[Import]) -> None:
    assert list(imports_of(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("get_ipython().run_line_magic('run', 'tools/setup.py')\n", ("tools/setup.py",)),
        ('ns = runpy.run_path("parts/net.py", run_name="__main__")\n', ("parts/net.py",)),
        ("exec(open('setup.py').read())\nexec(compile(open('b.py').read(), 'b.py', 'exec'))\n", ("setup.py", "b.py")),
        ("exec(text)\nrun_path(name)\nget_ipython().run_line_magic('load_ext', 'autoreload')\n", ()),
    ],
)
def test_files(text: str, expected: tuple[str, ...]) -> None:
    assert files_run_by(text) == expected

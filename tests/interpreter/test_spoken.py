"""What a program speaks of: under its policy only that may be called where no call was seen."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from mplint.interpreter.spoken import Spoken
from mplint.project.modules import Project
from tests.interpreter.programs import ROOT, found_in
from tests.project.trees import write


def spoken(**files: str) -> frozenset[str]:
    """The names of which the program in the file `main` speaks."""
    return anywhere({ROOT / f"{name}.py": textwrap.dedent(text).encode() for name, text in files.items()})


def anywhere(contents: Mapping[Path, bytes], looked_up: frozenset[Path] = frozenset()) -> frozenset[str]:
    """The same of files, out of some of which something is taken by a name that is not known."""
    found = Spoken(Project(ROOT, list(contents), contents))
    return frozenset().union(*(words for path in contents for words in found.of(path, ROOT / "main.py", looked_up)))


NETS = "def net():\n    pass\n\nclass Net:\n    pass\n"
REGISTRY = """
_KNOWN = {}

def register(name):
    def note(thing):
        _KNOWN[name] = thing
        return thing
    return note

def make(name):
    return _KNOWN[name]()
"""
REGISTERED = "from registry import register\n\n@register('net')\ndef net():\n    pass\n"


GETS_AT_IT: Mapping[str, tuple[str, str]] = {
    "by its name": ("from nets import net\nf = [net]\n", NETS),
    "by another name": ("from nets import net as make\nf = [make]\n", NETS),
    "as an attribute": ("import nets\nf = [nets.net]\n", NETS),
    "as a string": ("import nets\nf = 'nets.net'\n", NETS),
    "through a function": (
        "import nets\nf = [nets.make]\n",
        NETS + "\ndef make(size):\n    return [net,\n        Net]\n",
    ),
    "through another name in its module": ("import nets\nf = [nets.make]\n", NETS + "\nmake = net\n"),
    "in a dictionary": ("import nets\nf = nets.ALL[name]()\n", NETS + "\nALL = {\n    'net': net,\n}\n"),
    "put into a dictionary": ("import nets\nf = nets.ALL[name]()\n", "ALL = {}\n" + NETS + "\nALL['net'] = net\n"),
    "in a list": ("import nets\nf = nets.ALL\n", "ALL = []\n" + NETS + "\nALL.append(net)\n"),
    "by getattr": ("import nets\nf = getattr(nets, name)()\n", NETS),
    "by __dict__": ("import nets\nf = nets.__dict__[name]()\n", NETS),
    "by vars": ("import nets as all_nets\nf = vars(all_nets)[name]()\n", NETS),
    "by globals": ("import nets\nnets.make(name)\n", NETS + "\ndef make(name):\n    return globals()[name]()\n"),
    "by eval": ("import nets\nnets.make(name)\n", NETS + "\ndef make(name):\n    return eval(name)()\n"),
    "by import_module": ("import importlib\nf = getattr(importlib.import_module('nets'), name)\n", NETS),
    "what is done on import": ("import nets\n", NETS + "\nif True:\n    made = net()\n    net()\n"),
    "under a branch": (
        "import nets\nf = nets.Net\n",
        "try:\n    import x\nexcept ImportError:\n    def net(): pass\n    class Net:\n        f = net\n",
    ),
    "of a base": ("import nets\nf = nets.Other\n", NETS + "\nclass Other(Net):\n    f = net\n"),
    "registered": ("import nets\nfrom registry import make\nmake(name)\n", REGISTERED),
    "registered by a call": (
        "import nets\nfrom registry import make\nmake(name)\n",
        NETS + "from registry import register\nregister('net')(net)\n",
    ),
    "registered in an object": (
        "import nets\nfrom objects import REGISTRY\nREGISTRY.get(name)\n",
        "from objects import REGISTRY\n\n@REGISTRY.register()\ndef net():\n    pass\n",
    ),
    "registered in a class": (
        "import nets\nfrom objects import Registry\nRegistry.get(name)\n",
        "from objects import Registry\n\n@Registry.register\ndef net():\n    pass\n",
    ),
    "registered in a library": (
        "import gin\nimport nets\ngin.parse_config_file(name)\n",
        "import gin\n\n@gin.configurable\ndef net():\n    pass\n",
    ),
    "by getattr with what it takes": (
        "import nets\nf = getattr(nets, name)(units=3, rate=(1, 2))\n",
        "def net(units: int = 4, *, rate=None, name='x'):\n    pass\n",
    ),
    "by getattr with anything": ("import nets\nf = getattr(nets, name)(units=3)\n", "def net(**more):\n    pass\n"),
    "by getattr, called in two ways": (
        "import nets\nf = getattr(nets, name)\nf(units=3)\nf(1)\n",
        "def net(rate):\n    pass\n",
    ),
    "by getattr, handed on": ("import nets\nf = [getattr(nets, name)]\nf(units=3)\n", NETS),
    "by getattr in deep brackets": ("import nets\nf = getattr(nets, name)(units=" + "[" * 20 + "\n", NETS),
    "by getattr behind a star": ("import nets\nf = getattr(nets, name)()\n", "from more import *\n"),
}

NOT: Mapping[str, tuple[str, str]] = {
    "that is called with more than it takes": ("import nets\nf = getattr(nets, name)(units=3)\n", NETS),
    "that a variable is called with": ("import nets\nf = nets.__dict__[name]\nf(1, units=3)\n", NETS),
    "that a variable is called with on lines of Windows": (
        "import nets\r\nf = nets.__dict__[name]\r\nf(1, units=3)\r\n",
        NETS,
    ),
    "that a variable in a function is called with": (
        "import nets\ndef run(name):\n    make = getattr(nets, name)\n    return make(1, units=[3, 4], **more)\n",
        NETS,
    ),
    "imported": ("import nets\n", NETS),
    "imported by what is imported": ("import nets\n", "from more import net\n__all__ = ['net']\n"),
    "in a comment": ("import nets  # net\n", NETS),
    "in prose": ("import nets\nprint('makes a net')\n", NETS),
    "in another definition that nobody names": ("import nets\n", NETS + "\nclass Other(Net):\n    f = net\n"),
    "in a dictionary that nobody names": ("import nets\n", NETS + "\nALL = {\n    'net': net,\n}\n"),
    "registered where nobody looks": ("import nets\nimport registry\n", REGISTERED),
    "registered with Keras": (
        "import nets\nfrom tensorflow import keras\nkeras.Model()\n",
        "from tensorflow import keras\n\n@keras.utils.register_keras_serializable()\ndef net():\n    pass\n",
    ),
    "under a decorator of the project": (
        "import nets\nfrom half import fast\nf = [fast]\n",
        "from half import fast\n\n@fast\ndef net():\n    pass\n",
    ),
    "below an abstract class": (
        "import nets\nf = [nets.Base]\n",
        "import abc\n\nclass Base(metaclass=abc.ABCMeta):\n    pass\n\nclass net(Base):\n    pass\n",
    ),
    "among what a module offers": ("import nets\n__all__ = ['f']\n", NETS + "\n__all__ = ['net']\n"),
    "documented by a call": ("import nets\n", NETS + "\nsetattr(net, '__doc__', '')\n"),
    "as another program starts, the other way around": (
        "import nets\n",
        NETS + "\nif '__main__' == __name__:\n    f = net\n",
    ),
    "as another program starts": ("import nets\n", NETS + "\nif __name__ == '__main__':\n    f = net\n"),
    "in another module that is asked": ("import nets, half\nf = getattr(half, name)\n", NETS),
    "in an object that is asked": ("import nets\nclass A:\n    def f(self):\n        getattr(self, name)\n", NETS),
    "by a method of the same name": ("import nets\n", NETS + "\nclass Other:\n    def f(self):\n        net()\n"),
}

OBJECTS = "class Registry(dict):\n    def register(self):\n        pass\n\nREGISTRY = Registry()\n"


@pytest.mark.parametrize("name", [*GETS_AT_IT, *NOT])
def test_what_a_program_can_get_at_is_spoken_of(name: str) -> None:
    main, nets = GETS_AT_IT.get(name) or NOT[name]
    words = spoken(main=main, nets=nets, registry=REGISTRY, objects=OBJECTS, half="", more=NETS)
    assert ("net" in words) is (name in GETS_AT_IT)


def test_what_derives_from_a_class_that_knows_it_is_spoken_of() -> None:
    base = "class Base:\n    def __init_subclass__(cls):\n        ALL[cls.__name__] = cls\n\nALL = {}\n"
    net = "from base import Base\n\nclass Net(Base):\n    pass\n"
    assert "Net" in spoken(main="import nets\nfrom base import ALL\nALL[name]()\n", nets=net, base=base)
    assert "Net" not in spoken(main="import nets, base\n", nets=net, base=base)
    asked = "import nets\nfrom base import Plain\nPlain.__subclasses__()\n"
    assert "Net" in spoken(main=asked, nets=net.replace("Base", "Plain"), base="class Plain:\n    pass\n")


def said_in(path: str, **files: str) -> frozenset[str]:
    """The names of which the program in the file `main` speaks that may mean something in the file `path`."""
    contents = {ROOT / f"{name}.py": textwrap.dedent(text).encode() for name, text in files.items()}
    return frozenset().union(*Spoken(Project(ROOT, list(contents), contents)).of(ROOT / f"{path}.py", ROOT / "main.py"))


@pytest.mark.parametrize(
    ("main", "new", "old"),
    [
        ("from kit import net\nimport old\nf = [net]\n", True, False),
        ("from old import net\nimport kit\nf = net()\n", False, True),
        ("import old, kit\nf = [kit.net]\n", True, True),
        ("from kit import net\nimport old\nf = [net, old.net]\n", True, True),
        ("try:\n    from kit import net\nexcept ImportError:\n    from old import net\nf = net()\n", True, True),
        ("from kit import *\nimport old\nf = net()\n", True, True),
        ("import old, kit\ndef net():\n    pass\nf = net()\n", False, False),
        ("from circle import net\nimport old, kit\nf = net()\n", True, True),
        ("from old import Other\nimport kit\nf = Other()\n", False, True),
    ],
)
def test_what_is_imported_from_one_file_is_not_its_namesake_in_another(main: str, new: bool, old: bool) -> None:
    older = NETS + "\nclass Other:\n    def __init__(self):\n        self.f = net()\n"
    files = {
        "main": main,
        "kit": "from new import net\n",
        "new": NETS,
        "old": older,
        "circle": "from circle import net\n",
    }
    assert ("net" in said_in("new", **files)) is new
    assert ("net" in said_in("old", **files)) is old


CLASSES = """
class Plain:
    pass

class Base:
    def __init__(self, units):
        pass

class Small:
    def __init__(self, rate=0.5, *args):
        def inner(units):
            pass
"""


def test_what_a_class_can_be_called_with_is_what_its_constructor_takes() -> None:
    words = spoken(main="import nets\nf = vars(nets)\nmake = nets.__dict__[name]\nmake(units=4)\n", nets=CLASSES)
    assert {"Plain", "Base", "Small"} <= words  # `vars` may give any
    words = spoken(main="import nets\nmake = nets.__dict__[name]\nmake(units=4)\n", nets=CLASSES)
    assert {"Plain", "Base"} <= words
    assert "Small" not in words


def test_a_function_with_the_name_of_a_class_in_its_own_is_a_function() -> None:
    words = spoken(main="import nets\nmake = nets.__dict__[name]\nmake(units=4)\n", nets="def classify(rate): pass\n")
    assert "classify" not in words


def test_a_module_out_of_which_a_run_took_something_is_open_as_far_as_it_is_called() -> None:
    main = b"import nets\nmake = getattr(nets, name)\nmake(units=4)\n"
    contents = {ROOT / "main.py": main, ROOT / "nets.py": CLASSES.encode()}
    words = anywhere(contents, frozenset(contents))
    assert "Base" in words
    assert "Small" not in words


def test_a_module_out_of_which_a_run_took_something_is_open() -> None:
    contents = {ROOT / "main.py": b"import nets\n", ROOT / "nets.py": NETS.encode()}
    words = anywhere(contents, frozenset(contents))
    assert "net" in words


NET = """
from tensorflow import keras

def {0}(units=3):
    row = keras.Input((4,))
    return keras.Model(row, keras.layers.Dense(units)(row))
"""


def policies(root: Path, **files: str) -> dict[str, set[str | None]]:
    """The policies under which each function of `nets` makes a model."""
    write(root, {"nets.py": NET.format("first") + NET.format("second"), **{f"{n}.py": t for n, t in files.items()}})
    made: dict[str, set[str | None]] = {}
    for world in found_in(root).worlds:
        for model in world.models:
            made.setdefault(world.entry, set()).add(model.policy.name)
    return made


MIXED = "from tensorflow import keras\nimport nets\nkeras.mixed_precision.set_global_policy('{0}')\nx = [nets.{1}]\n"


def test_each_function_runs_under_the_worst_policy_of_the_programs_that_speak_of_it(tmp_path: Path) -> None:
    made = policies(
        tmp_path, half=MIXED.format("mixed_float16", "first"), brain=MIXED.format("mixed_bfloat16", "second")
    )
    assert made == {"nets.py:first": {"mixed_float16"}, "nets.py:second": {"mixed_bfloat16"}}


def test_what_no_program_speaks_of_has_no_policy_of_theirs(tmp_path: Path) -> None:
    assert policies(tmp_path, half=MIXED.format("mixed_float16", "first")) == {"nets.py:first": {"mixed_float16"}}


def test_what_a_package_or_the_module_sets_holds_for_all_that_is_in_it(tmp_path: Path) -> None:
    sets = MIXED.format("mixed_float16", "first")
    assert policies(tmp_path / "a", __init__=sets) == {
        "nets.py:first": {"mixed_float16"},
        "nets.py:second": {"mixed_float16"},
    }
    own = {"nets": "from settings import x\n" + NET.format("second"), "settings": sets.replace("import nets", "")}
    own["settings"] = own["settings"].replace("nets.first", "1")
    assert policies(tmp_path / "b", main="import nets\n", **own) == {"nets.py:second": {"mixed_float16"}}

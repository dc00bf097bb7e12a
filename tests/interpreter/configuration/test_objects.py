"""Configuration objects: fields, mappings, presets, the environment."""

from __future__ import annotations

import pytest

from tests.interpreter.programs import SETTER, half, policies, variables


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("import attrs\n@attrs.define\nclass C:\n    a: int = 1\n    b: list = attrs.field(factory=list)\n"
         "c = C()\nr = (c.a, c.b, attrs.evolve(c, a=2).a, attrs.asdict(c))", (1, [], 2, {"a": 1, "b": []})),
        ("import attr\n@attr.s\nclass C:\n    a = attr.ib()\n    b = attr.ib(default=2)\n    c = attr.ib(attr.Factory(list))\n"
         "c = C(5)\nr = (c.a, c.b)", (5, 2)),
        ("import attrs\n@attrs.frozen\nclass C:\n    a: int = attrs.field(default=1)\n    b: int = attrs.field(init=False)\n"
         "    def __attrs_post_init__(self):\n        object.__setattr__(self, 'b', self.a + 1)\nr = C(4).b", 5),
        ("import attrs\n@attrs.define\nclass C:\n    a: int = 1\n    b: int = attrs.field(init=False)\n"
         "    def __attrs_post_init__(self):\n        self.b = self.a + 1\nr = attrs.evolve(C(), a=4).b", 5),
        ("from pydantic import BaseModel, Field\nclass C(BaseModel):\n    a: int = 1\n    b: str = Field('x', title='b')\n"
         "    c: str = Field(...)\nc = C(c='z')\nr = (c.a, c.b, c.c, c.model_copy(update={'a': 3}).a)", (1, "x", "z", 3)),
        ("import pydantic\nclass C(pydantic.BaseModel):\n    a: int = 1\n    b: int = 0\n"
         "    def model_post_init(self, context):\n        self.b = self.a + 1\n"
         "    @pydantic.model_validator(mode='after')\n    def twice(self):\n        self.a = self.a * 2\n        return self\n"
         "    @pydantic.model_validator(mode='before')\n    def early(cls, values):\n        values['a'] = 9\n"
         "class D(C):\n    pass\nr = (D(a=3).a, D(a=3).b)", (6, 4)),
        ("from dataclasses import dataclass\nfrom typing import ClassVar\n@dataclass\nclass C:\n    a: ClassVar[int] = 1\n"
         "    b: int = 2\nr = (C(5).a, C(5).b)", (1, 5)),
        ("from collections import namedtuple\nC = namedtuple('C', 'a b', defaults=[2])\nc = C(1)\na, b = c\n"
         "r = (c.a, b, c[1], len(c), c._replace(a=5).a, isinstance(c, tuple), c._asdict())",
         (1, 2, 2, 2, 5, True, {"a": 1, "b": 2})),
        ("import ml_collections\nc = ml_collections.ConfigDict({'a': {'b': 1}})\nc.a.c = 2\nc['d'] = dict(e=3)\n"
         "c.update({'a': {'b': 4}})\nr = (c.a.b, c['a']['c'], c.d.e, c.get('x', 7), 'd' in c)", (4, 2, 3, 7, True)),
        ("from easydict import EasyDict\nc = EasyDict()\nc.a = {'b': 1}\nr = (c.a.b, c['a']['b'], list(c))", (1, 1, ["a"])),
        ("from omegaconf import OmegaConf\nc = OmegaConf.merge(OmegaConf.create({'a': {'b': 1, 'c': 2}}), {'a': {'b': 3}})\n"
         "r = (c.a.b, c.a.c, OmegaConf.select(c, 'a.b'))", (3, 2, 3)),
        ("class D(dict):\n    def __getattr__(self, name):\n        return self[name]\nd = D(a=1)\nd['b'] = 2\n"
         "r = (d.a, d.b, d.get('c', 3), 'a' in d, sorted(d))", (1, 2, 3, True, ["a", "b"])),
        ("class D(dict):\n    def __init__(self, *args, **keywords):\n        super().__init__(*args, **keywords)\n"
         "        self.__dict__ = self\nd = D({'a': 1}, b=2)\nr = (d.a, d.b, d['a'])", (1, 2, 1)),
        ("class D(dict):\n    pass\nclass E(dict):\n    def __delitem__(self, key):\n        self['deleted'] = key\n"
         "d, e = D(a=1, b=2), E(a=1)\ndel d['a']\ndel e['a']\nr = (list(d), list(e), e['deleted'])", (["b"], ["a", "deleted"], "a")),
        ("import ml_collections\nc = ml_collections.ConfigDict({'a': 1, 'b': 2})\ndel c['a']\nr = (list(c), 'a' in c)", (["b"], False)),
        ("class D(dict):\n    __getattr__ = dict.get\n    __setattr__ = dict.__setitem__\nd = D(a=1)\nd.b = 2\nr = (d.a, d['b'])",
         (1, 2)),
    ],
)  # fmt: skip
def test_objects_with_fields_and_items(program: str, expected: object) -> None:
    assert variables(program)["r"] == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("from pydantic_settings import BaseSettings\nclass C(BaseSettings):\n    x: str = 'mixed_float16'\nset_policy(C().x)", True),
        ("from pydantic_settings import BaseSettings\nclass C(BaseSettings):\n    x: bool = False\n"
         "set_policy('mixed_float16' if C().x else 'float32')", True),
        ("from pydantic import BaseModel\nclass C(BaseModel):\n    x: bool = False\n"
         "set_policy('mixed_float16' if C().x else 'float32')", False),
        ("import os\nset_policy('mixed_' + os.environ.get('X', 'float16'))", True),
        ("import os\nset_policy(os.environ.get('X') or 'mixed_float16')", True),
        ("import os\nset_policy(os.environ['X'])", False),
        ("import os\nif int(os.environ.get('X', 0)):\n    set_policy('mixed_float16')", True),
        ("import os\nos.environ.setdefault('X', 'a')\nset_policy('mixed_float16' if os.environ['X'] == 'b' else 'float32')", True),
        ("import os\nos.environ['X'] = 'a'\nset_policy('mixed_float16' if os.environ['X'] == 'b' else 'float32')", False),
        ("import os\nos.environ['X'] = 'a'\nos.environ[os.environ['Y']] = 'b'\n"
         "set_policy('mixed_float16' if os.environ['X'] == 'b' else 'float32')", True),
        ("from decouple import config\nset_policy(config('X', default='mixed_float16'))", True),
        ("from decouple import config\nif config('X', default=False, cast=bool):\n    set_policy('mixed_float16')", True),
        ("from environs import Env\nenv = Env()\nset_policy(env.str('X', 'mixed_float16'))", True),
        ("from environs import Env\nenv = Env()\nif env.bool('X', False):\n    set_policy('mixed_float16')", True),
        ("import os\nP = {'a': {'x': 'mixed_float16'}, 'b': {'x': 'float32'}}\nset_policy(P[os.environ['P']]['x'])", True),
        ("import os\nP = {'a': {'x': 'float64'}, 'b': {'x': 'float32'}}\nset_policy(P[os.environ['P']]['x'])", False),
        ("from foo import config\nset_policy(config.get('x', 'mixed_float16'))", True),
        ("from foo import config\nset_policy(getattr(config, 'x', 'mixed_float16'))", True),
        ("from foo import load\nd = {'x': 'mixed_float16'}\nd.update(load())\nset_policy(d['x'])", True),
        ("from foo import load\nd = {'x': 'mixed_float16', **load()}\nset_policy(d['x'])", True),
        ("from foo import load\ndef go(x='mixed_float16'):\n    set_policy(x)\ngo(**load())", True),
        ("import ml_collections\nc = ml_collections.ConfigDict()\nc.x = 'mixed_float16'\nset_policy(c.x)", True),
        ("from yacs.config import CfgNode\nc = CfgNode({'x': 'float32'})\nc.merge_from_file('other.yaml')\n"
         "c.merge_from_other_cfg(CfgNode({'x': 'mixed_float16'}))\nset_policy(c.x)", True),
        ("import os\nimport ml_collections\nc = ml_collections.ConfigDict({'x': 'float32'})\nd = {}\nif 'X' in os.environ:\n"
         "    d['x'] = 'mixed_float16'\nc.update(d)\nset_policy(c.x)", True),
        ("import ml_collections\nc = ml_collections.ConfigDict()\nc.x = False\nif c.x:\n    set_policy('mixed_float16')", False),
        ("from omegaconf import OmegaConf\nc = OmegaConf.merge(OmegaConf.create({'x': False}), OmegaConf.from_cli())\n"
         "if c.x:\n    set_policy('mixed_float16')", True),
        ("import gin\n@gin.configurable\ndef go(x='float32'):\n    set_policy(x)\n"
         "gin.parse_config(\"go.x = 'mixed_float16'\")\ngo()", True),
        ("import gin\n@gin.configurable('run')\ndef go(x='float32'):\n    set_policy(x)\n"
         "gin.bind_parameter('main/run.x', 'mixed_float16')\ngo()", True),
        ("import gin\n@gin.configurable\ndef go(x='float32'):\n    set_policy(x)\n"
         "gin.bind_parameter('go.x', 'mixed_float16')\ngo(x='float32')", False),
        ("import gin\n@gin.configurable\nclass C:\n    def __init__(self, x='float32'):\n        set_policy(x)\n"
         "gin.bind_parameter('C.x', 'mixed_float16')\nC()", True),
        ("import gin\n@gin.configurable\ndef go(x=False):\n    if x:\n        set_policy('mixed_float16')\n"
         "gin.bind_parameter('go.y', True)\ngo()", False),
        ("from hydra.core.config_store import ConfigStore\nimport hydra\nfrom dataclasses import dataclass\n"
         "@dataclass\nclass C:\n    x: str = 'mixed_float16'\nConfigStore.instance().store(name='c', node=C)\n"
         "@hydra.main(config_name='c')\ndef main(cfg):\n    set_policy(cfg.x)\nmain()", True),
        ("from hydra.core.config_store import ConfigStore\nimport hydra\nfrom dataclasses import dataclass\n"
         "@dataclass\nclass C:\n    x: str = 'mixed_float16'\nConfigStore.instance().store(name='c', node=C, group='g')\n"
         "@hydra.main(config_name='c')\ndef main(cfg):\n    set_policy(cfg.x)\nmain()", False),
    ],
)  # fmt: skip
def test_where_a_policy_comes_from(program: str, expected: bool) -> None:
    assert half(SETTER + program) is expected


def test_a_branch_that_changes_a_configuration_keeps_what_hangs_on_it() -> None:
    program = f"""{SETTER}
import os
config = {{"policy": "float32", "epochs": 3}}
if os.environ.get("FAST"):
    config.update(policy="mixed_float16")
set_policy(config["policy"])
"""
    assert policies(program) == {"mixed_float16", "float32"}


def test_a_method_of_a_member_that_is_not_known_runs_for_each() -> None:
    program = f"""{SETTER}
import enum
import os


class Mode(enum.Enum):
    FAST = "mixed_float16"
    EXACT = "float32"

    def enter(self):
        set_policy(self.value)


Mode(os.environ["MODE"]).enter()
"""
    assert policies(program) == {"mixed_float16", "float32"}

"""Configuration files of the project that a program loads, or may load."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.interpreter.program import Program
from mplint.interpreter.values import HALF_POLICIES
from mplint.interpreter.worlds import run_script
from mplint.project.modules import Project

SETTER = """
import configparser
import json
import os
import sys
import tomllib
from pathlib import Path

import yaml
from tensorflow import keras

HERE = Path(__file__).resolve().parent
set_policy = keras.mixed_precision.set_global_policy
"""


def half(folder: Path, program: str, **files: str) -> bool:
    """Whether some world of a program ends in half precision; `__` in the name of a file is a slash, `_` a dot."""
    for name, text in {"main_py": program, **files}.items():
        path = folder.joinpath(*name.replace("_", ".").split(".."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    worlds = run_script(Program(Project.at(folder)), folder / "main.py", "3")
    return any(policy.name in HALF_POLICIES for world in worlds for policy in world.policies)


FILES = {
    "a_yaml": "x: mixed_float16\nin:\n  x: float32\n",
    "b_yaml": "x: float32  # mixed_float16\n# x: mixed_float16\n",
    "c__d_json": '{"in": {"x": "mixed_float16"}, "x": "float32"}',
    "e_toml": '[in]\nx = "mixed_float16"\n',
    "g_yaml": "x: float32\n? half\n: true\n",
    "f_ini": "[in]\nx = mixed_float16\n[on]\nx = yes\n",
}


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("set_policy(yaml.safe_load(open('a.yaml'))['x'])", True),
        ("set_policy(yaml.safe_load(open('a.yaml'))['in']['x'])", False),
        ("set_policy(yaml.safe_load(open('b.yaml'))['x'])", False),
        ("if yaml.safe_load(open('b.yaml')).get('half', False):\n    set_policy('mixed_float16')", False),
        ("if yaml.safe_load(open('g.yaml')).get('half', False):\n    set_policy('mixed_float16')", True),
        ("set_policy(yaml.load(open('a.yaml'), Loader=yaml.SafeLoader).get('x', 'float32'))", True),
        ("with open(HERE / 'a.yaml') as file:\n    config = yaml.safe_load(file)\nset_policy(config['x'])", True),
        ("with (HERE / 'a.yaml').open() as file:\n    config = yaml.safe_load(file.read())\nset_policy(config['x'])", True),
        ("set_policy(yaml.safe_load(HERE.joinpath('b.yaml').read_text())['x'])", False),
        ("set_policy(yaml.safe_load(Path(__file__).with_name('b.yaml').read_text())['x'])", False),
        ("path = os.path.join(os.path.dirname(__file__), 'c', 'd.json')\nset_policy(json.load(open(path))['in']['x'])", True),
        ("path = f'{os.path.dirname(__file__)}/c/d.json'\nset_policy(json.load(open(path))['x'])", False),
        ("set_policy(json.loads(Path('c/d.json').read_text()).get('missing', 'float32'))", False),
        ("set_policy(tomllib.load(open('e.toml', 'rb'))['in']['x'])", True),
        ("parser = configparser.ConfigParser()\nparser.read('f.ini')\nset_policy(parser['in']['x'])", True),
        ("parser = configparser.ConfigParser()\nparser.read('f.ini')\nset_policy(parser.get('in', 'x', fallback='float32'))", True),
        ("parser = configparser.ConfigParser()\nparser.read('f.ini')\n"
         "set_policy('mixed_float16' if parser.getboolean('on', 'x') else 'float32')", True),
        ("parser = configparser.ConfigParser()\nparser.read_dict({'in': {'x': 'mixed_float16'}})\nset_policy(parser['in']['x'])", True),
        ("parser = configparser.ConfigParser()\nparser.read_dict({'in': {'x': 'float32'}})\nset_policy(parser['in']['x'])", False),
        ("parser = configparser.ConfigParser()\nparser.read('f.ini')\nparser.set('in', 'x', 'float32')\nset_policy(parser['in']['x'])",
         False),
        ("parser = configparser.ConfigParser()\nparser.add_section('in')\nparser.set('in', 'x', 'mixed_float16')\n"
         "set_policy(parser.get('in', 'x'))", True),
        ("from omegaconf import OmegaConf\nset_policy(OmegaConf.load('a.yaml').x)", True),
        ("from omegaconf import OmegaConf\nset_policy(OmegaConf.load('b.yaml').x)", False),
        # which file it is, is not known
        ("set_policy(yaml.safe_load(open(sys.argv[1]))['x'])", True),
        ("set_policy(yaml.safe_load(open(sys.argv[1]))['y'])", False),
        ("set_policy(yaml.safe_load(open(sys.argv[1]))['in']['x'])", True),
        ("from foo import load\nset_policy(load().x)", True),
        ("from foo import load\nset_policy(load().section.x)", False),
        ("import argparse\nargs = argparse.Namespace(x='float32')\nvars(args).update(yaml.safe_load(open(sys.argv[1])))\n"
         "set_policy(args.x)", True),
        ("import argparse\nargs = argparse.Namespace(x='float32')\nfor key, value in yaml.safe_load(open(sys.argv[1])).items():\n"
         "    setattr(args, key, value)\nset_policy(args.x)", True),
        ("import argparse\nargs = argparse.Namespace(y='float32')\nvars(args).update(yaml.safe_load(open(sys.argv[1])))\n"
         "set_policy(args.y)", False),
        ("from types import SimpleNamespace\nset_policy(SimpleNamespace(**json.load(open(sys.argv[1]))).x)", True),
        ("from foo import load\nset_policy(f'mixed_{load().x}')", False),
        # outside of the project, or none
        ("set_policy(yaml.safe_load(open('../a.yaml'))['y'])", False),
        ("set_policy(yaml.safe_load(open('none.yaml'))['y'])", False),
    ],
)  # fmt: skip
def test_what_is_loaded(tmp_path: Path, program: str, expected: bool) -> None:
    assert half(tmp_path, SETTER + program, **FILES) is expected


def test_a_part_of_the_name_that_a_file_holds(tmp_path: Path) -> None:
    program = SETTER + "from foo import load\nset_policy(f'mixed_{load().net.dtype}')"
    assert half(tmp_path, program, conf__base_yaml="net:\n  dtype: bfloat16\n")


def test_what_hydra_composes(tmp_path: Path) -> None:
    program = f"""{SETTER}
import hydra


@hydra.main(config_path="conf", config_name="config")
def main(cfg):
    set_policy(cfg.precision.policy)


main()
"""
    group = "defaults:\n  - precision: full\n"
    assert half(tmp_path, program, conf__config_yaml=group, conf__precision__half_yaml="policy: mixed_float16\n")
    assert not half(tmp_path, program, conf__config_yaml=group, conf__precision__half_yaml="policy: float32\n")


CONFIG = """
import ml_collections


def get_config():
    config = ml_collections.ConfigDict()
    config.policy = "{policy}"
    config.half = False
    config.net = ml_collections.ConfigDict()
    config.net.dtype = "float16"
    return config
"""


@pytest.mark.parametrize(
    ("definition", "use", "policy", "expected"),
    [
        ("'config', 'configs/base.py'", "set_policy(FLAGS.config.policy)", "mixed_float16", True),
        ("'config', 'configs/base.py'", "set_policy(FLAGS.config.policy)", "float32", False),
        ("'config', 'configs/base.py:large'", "set_policy(FLAGS.config['policy'])", "mixed_float16", True),
        ("'config', os.path.join(os.path.dirname(__file__), 'configs/base.py')", "set_policy(FLAGS.config.policy)",
         "mixed_float16", True),
        ("'config'", "set_policy(FLAGS.config.policy)", "mixed_float16", True),
        ("'config', None, lock_config=True", "set_policy(CONFIG.value.policy)", "mixed_float16", True),
        ("'config'", "set_policy('mixed_float16' if FLAGS.config.half else 'float32')", "float32", True),
        ("'config'", "set_policy('mixed_' + FLAGS.config.net.dtype)", "float32", True),
        ("'config'", "set_policy(FLAGS.config.get('missing', 'float32'))", "mixed_float16", False),
        ("'config'", "c = FLAGS.config\n    c.policy = 'mixed_float16'\n    set_policy(c.policy)", "float32", True),
    ],
)  # fmt: skip
def test_a_flag_that_names_a_file(tmp_path: Path, definition: str, use: str, policy: str, expected: bool) -> None:
    program = f"""{SETTER}
from absl import app, flags
from ml_collections import config_flags
FLAGS = flags.FLAGS
CONFIG = config_flags.DEFINE_config_file({definition})


def main(argv):
    {use}


app.run(main)
"""
    assert half(tmp_path, program, configs__base_py=CONFIG.format(policy=policy)) is expected


def test_a_flag_that_may_name_any_of_several_files(tmp_path: Path) -> None:
    program = f"""{SETTER}
from absl import app, flags
from ml_collections import config_flags
config_flags.DEFINE_config_file("config")
app.run(lambda argv: set_policy(flags.FLAGS.config.policy))
"""
    full = CONFIG.format(policy="float32")
    assert half(tmp_path, program, configs__a_py=full, configs__b_py=CONFIG.format(policy="mixed_float16"))
    assert not half(tmp_path, program, configs__a_py=full, configs__b_py=full)


@pytest.mark.parametrize(
    ("binding", "expected"),
    [
        ("train.policy = 'mixed_float16'", True),
        ('train.train.policy = "mixed_float16"  # half', True),
        ("P = 'mixed_float16'\ntrain.policy = %P", True),
        ("half/train.policy = 'mixed_float16'", True),
        ("train.policy = 'float32'", False),
        ("# train.policy = 'mixed_float16'", False),
        ("score.policy = 'mixed_float16'", False),
        ("train.policy = @half()", False),
    ],
)
def test_what_gin_binds(tmp_path: Path, binding: str, expected: bool) -> None:
    program = (
        f"{SETTER}import gin\n\n@gin.configurable\ndef train(policy='float32'):\n    set_policy(policy)\n\ntrain()"
    )
    assert half(tmp_path, program, a_gin=binding) is expected


def test_a_binding_takes_the_place_of_the_default(tmp_path: Path) -> None:
    program = f"{SETTER}import gin\n\n@gin.configurable\ndef train(policy='mixed_float16'):\n    set_policy(policy)\n\ntrain()"
    assert half(tmp_path, program)
    assert not half(tmp_path, program, a_gin="train.policy = 'float32'\n")


def test_a_link_out_of_the_project_is_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text("x: mixed_float16\n", encoding="utf-8")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.yaml").symlink_to(outside)
    program = SETTER + "set_policy(yaml.safe_load(open('a.yaml'))['x'])"
    assert not half(folder, program)

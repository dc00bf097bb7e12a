"""Which uses of an older API are reported: those that the program does not expect to fail."""

from __future__ import annotations

import pytest

from mplint.interpreter.graph_rewriting import GraphRewriting
from mplint.interpreter.other_generation import OtherGeneration
from mplint.interpreter.outdated import Outdated
from tests.interpreter.programs import worlds

HEAD = "import tensorflow as tf\nfrom tensorflow.keras import mixed_precision as mp\n"
OLD = "mp.experimental.set_policy('mixed_float16')"


def old(source: str, generation: str = "2", **files: str) -> list[str]:
    """The names that are gone, as often as they are reported."""
    _, found = worlds(generation, main=HEAD + source, **files)
    names = {(use.at, use.names) for world in found for use in Outdated(world).names()}
    return sorted(each.path.rpartition(".")[2] for _, uses in names for each in uses)


@pytest.mark.parametrize("generation", ["2", "3"])
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (OLD, ["set_policy"]),
        (f"try:\n    mp.set_global_policy('mixed_float16')\nexcept AttributeError:\n    {OLD}", []),
        (f"try:\n    {OLD}\nexcept Exception:\n    mp.set_global_policy('mixed_float16')", []),
        (f"def use():\n    {OLD}\ntry:\n    use()\nexcept AttributeError:\n    pass", []),
        (f"def use():\n    {OLD}\ntry:\n    use()\nexcept Exception as error:\n    print(error)", ["set_policy"]),
        (f"def use():\n    {OLD}\ntry:\n    use()\nexcept ImportError:\n    pass\nuse()", ["set_policy"]),
        (f"if hasattr(mp, 'experimental'):\n    {OLD}", []),
        (f"if tf.__version__ < '2.4':\n    {OLD}", []),
        (f"from packaging.version import parse\nif parse(tf.__version__) <= parse('2.8'):\n    {OLD}", []),
        (f"old = tf.__version__.startswith('2.4')\n{OLD} if old else mp.set_global_policy('mixed_float16')", []),
        ("mp.experimental", ["experimental"]),
        (f"{OLD}\nwith tf.Session() as session:\n    pass", []),
        (f"{OLD}\nwith tf.compat.v1.Session() as session:\n    pass", ["set_policy"]),
        ("e = mp.experimental\ne.Policy('float32')\ne.set_policy('float32')", ["experimental", "set_policy"]),
        ("print(mp.Policy('mixed_float16').loss_scale)", ["loss_scale"]),
    ],
)
def test_old_names(source: str, expected: list[str], generation: str) -> None:
    assert old(source, generation) == expected


def uses(source: str, generation: str) -> list[str]:
    head = "import tensorflow as tf\nfrom tensorflow import keras\n"
    _, found = worlds(generation, main=head + source)
    return sorted({use.name for world in found for use in OtherGeneration(world).optimizer_uses(generation)})


LSO = "opt = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))\n"


@pytest.mark.parametrize(
    ("source", "of_two", "of_three"),
    [
        (LSO + "opt.get_scaled_loss(tf.constant(1.0))", [], ["get_scaled_loss"]),
        (LSO + "opt.scale_loss(tf.constant(1.0))", ["scale_loss"], []),
        ("keras.optimizers.Adam().minimize(f, [])", [], ["minimize"]),
        (LSO + "if hasattr(opt, 'apply'):\n    opt.apply([], [])\nelse:\n    opt.minimize(f, [])", [], []),
        (LSO + "try:\n    opt.get_scaled_loss(1.0)\nexcept AttributeError:\n    opt.scale_loss(1.0)", [], []),
        (LSO + "print(opt.loss_scale)", [], ["loss_scale"]),
        ("class Own:\n    def get_scaled_loss(self, x):\n        return x\nOwn().get_scaled_loss(1)", [], []),
        ("import apex\napex.amp.scale_loss(1, 2)", [], []),
    ],
)
def test_methods_of_one_generation(source: str, of_two: list[str], of_three: list[str]) -> None:
    assert uses(source, "2") == of_two
    assert uses(source, "3") == of_three


def test_a_scale_that_is_called() -> None:
    head = "import tensorflow as tf\nfrom tensorflow import keras\n"
    for generation in "23":
        _, found = worlds(generation, main=f"{head}{LSO}opt.loss_scale()\nopt.loss_scale")
        assert sum(1 for world in found for _ in Outdated(world).called_scales()) == 1


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("tf.train.experimental.enable_mixed_precision_graph_rewrite(opt)", 1),
        ("tf.compat.v1.train.experimental.enable_mixed_precision_graph_rewrite(opt)", 1),
        ("tf.compat.v1.mixed_precision.enable_mixed_precision_graph_rewrite(unknown)", 0),
    ],
)
def test_graph_rewrites(call: str, expected: int) -> None:
    _, found = worlds("2", main=f"import tensorflow as tf\nopt = tf.keras.optimizers.SGD(0.1)\n{call}")
    assert sum(1 for world in found for _ in GraphRewriting(world).calls()) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("o.set_experimental_options({'auto_mixed_precision': True})", 1),
        ("o.set_experimental_options({'auto_mixed_precision': False})", 0),
        ("o.set_experimental_options(dict(auto_mixed_precision=True))", 1),
        ("d = {}\nd.update({'auto_mixed_precision': True})\no.set_experimental_options(options=d)", 1),
        ("os.environ.setdefault('TF_ENABLE_AUTO_MIXED_PRECISION', '1')", 1),
        ("os.environ['TF_ENABLE_AUTO_MIXED_PRECISION'] = '0'", 0),
    ],
)
def test_options(source: str, expected: int) -> None:
    head = "import os\nimport tensorflow as tf\no = tf.config.optimizer\ntf.keras.layers.Dense(1)\n"
    _, found = worlds("3", main=head + source)
    assert sum(1 for world in found for _ in GraphRewriting(world).options()) == expected

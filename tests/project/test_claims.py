"""What one file says about its generation."""

from __future__ import annotations

import importlib.util
import re
import time
from pathlib import Path

import pytest

from mplint.keras_api import top_names_of
from mplint.project.claims import Flavor, claims_of


@pytest.mark.parametrize(
    ("text", "flavors"),
    [
        ("import tensorflow as tf\nx = tf.constant(1)\n", set()),
        ("import tensorflow as tf\nx = tf.keras.Input((1,))\n", {Flavor.TENSORFLOW}),
        ("from tensorflow import keras\n", {Flavor.TENSORFLOW}),
        ("from tensorflow.keras import layers\n", {Flavor.TENSORFLOW}),
        ("import tensorflow.compat.v2 as tf\ntf.keras.layers\n", {Flavor.TENSORFLOW}),
        ("import keras\n", {Flavor.KERAS}),
        ("from keras.layers import Dense\n", {Flavor.KERAS}),
        ("import tf_keras as keras\n", {Flavor.TF_KERAS}),
        ("import keras_core as keras\n", {Flavor.KERAS_CORE}),
        ("import keras\nimport tensorflow as tf\ntf.keras.Model\n", {Flavor.KERAS, Flavor.TENSORFLOW}),
        ("from .keras import layers\nfrom mine.keras import x\nimport keras_tuner\n# import keras\n", set()),
    ],
)
def test_flavors(text: str, flavors: set[Flavor]) -> None:
    assert claims_of(text).flavors == flavors


@pytest.mark.parametrize(
    ("text", "generations"),
    [
        ("from keras import ops\n", {"3"}),
        ("import keras.ops as K\n", {"3"}),
        ("from keras.ops import mean\n", {"3"}),
        ("from tensorflow.keras import config\n", {"3"}),
        ("from keras import Layer, layers\n", {"3"}),
        ("from keras.optimizers import LossScaleOptimizer\n", {"3"}),
        ("from keras.wrappers.scikit_learn import KerasClassifier\n", {"2"}),
        ("from tensorflow.keras.layers.experimental import preprocessing\n", {"2"}),
        ("from tensorflow.keras.layers import experimental\n", {"2"}),
        ("from keras.utils import np_utils\n", {"2"}),
        ("from keras import layers, models, mixed_precision\nfrom .keras import ops\nfrom mine import ops\n", set()),
        ("from keras.optimizers import Adam\nfrom keras.mixed_precision import LossScaleOptimizer\n", set()),
        ("from keras.src import ops\n", {"3"}),
        ("from keras.src.trainers import trainer\n", {"3"}),
        ("from keras.src.engine import base_layer\n", {"2"}),
        ("from keras.src import backend, layers\nimport keras.src.utils\n", set()),
        ("try:\n    from keras import ops\nexcept ImportError:\n    ops = None\n", set()),
        ("try:\n    from keras import ops\nexcept ImportError as error:\n    raise SystemExit(1) from error\n", {"3"}),
        ("try:\n    from keras import ops\nexcept ValueError:\n    ops = None\n", {"3"}),
        ("def f():\n  try:\n    import json\n  except ImportError:\n    pass\n  from keras import ops\n", {"3"}),
        ("import keras\nassert keras.__version__.startswith('3')\n", {"3"}),
        ("import keras\nassert keras.__version__ >= '3.0'\n", {"3"}),
        ("import tensorflow as tf\nassert tf.keras.__version__.startswith('2.')\n", {"2"}),
        ("from keras.utils.vis_utils import plot_model\n", {"2"}),
        ("import keras.layers.core\n", {"2"}),
        ("from keras.engine.topology import Layer\n", {"2"}),
        ("from keras.layers.convolutional import Conv2D\n", {"2"}),
        ("from keras.layers.advanced_activations import LeakyReLU\n", {"2"}),
        ("from keras.preprocessing.image import ImageDataGenerator\n", {"2"}),
        ("from keras.preprocessing.text import Tokenizer\n", {"2"}),
        ("from tensorflow.keras.preprocessing.image import ImageDataGenerator, load_img\n", set()),
        ("from tensorflow.keras.preprocessing.text import Tokenizer\n", set()),
        ("from keras.preprocessing import image\nfrom keras.preprocessing.image import load_img\n", set()),
        ("from keras.utils import to_categorical, plot_model, Sequence\n", set()),
        ("from keras.applications.resnet50 import ResNet50\nfrom keras.optimizers.legacy import Adam\n", set()),
        ("from tensorflow.keras.mixed_precision import experimental as mixed_precision\n", {"2"}),
        ("from tensorflow.keras.experimental import CosineDecay\n", {"2"}),
        ("from tensorflow.python.keras.engine.training import Model\n", set()),
        ("from keras.layers import CuDNNLSTM, Dense\n", {"2"}),
        ("from keras.layers import RandAugment\n", {"3"}),
        ("from keras.api.layers import Dense\n", {"3"}),
        ("try:\n    from keras.utils import np_utils\nexcept:\n    np_utils = None\n", set()),
        ("try:\n    from keras import utils\nexcept ImportError:\n    from keras.utils import np_utils\n", set()),
        ("if tf.__version__ < '2.4':\n    from tensorflow.keras.mixed_precision import experimental\n", set()),
        ("if OLD_VERSION:\n    x = 1\nelse:\n    from keras.utils import np_utils\n", set()),
        ("if OLD_VERSION:\n    x = 1\nfrom keras.utils import np_utils\n", {"2"}),
        ("if OLD_VERSION:\r\n    x = 1\r\nelse:\r\n    from keras.utils import np_utils\r\n", set()),
    ],
)
def test_imports(text: str, generations: set[str]) -> None:
    assert set(claims_of(text).imported) == generations


@pytest.mark.parametrize(
    ("text", "generations"),
    [
        ("import keras\nkeras.ops.mean(x)\n", {"3"}),
        ("import tensorflow as tf\ntf.keras.config.floatx()\n", {"3"}),
        ("import keras as k\nk.random.normal()\n", {"3"}),
        ("from tensorflow import keras as k\nk.tree.flatten\n", {"3"}),
        ("import keras\nclass A(keras.Layer): pass\n", {"3"}),
        ("import keras\nkeras.optimizers.LossScaleOptimizer(o)\n", {"3"}),
        ("import keras\nmodel.compile(auto_scale_loss=False)\n", {"3"}),
        ("import keras\nloss = self.optimizer.scale_loss(loss)\n", {"3"}),
        ("import keras\nself.optimizer.apply(grads, weights)\n", {"3"}),
        ("import keras\nkeras.mixed_precision.set_dtype_policy('x')\n", {"3"}),
        ("import tensorflow as tf\nopt.get_scaled_loss(loss)\n", {"2"}),
        ("import keras\nkeras.optimizers.legacy.Adam()\n", {"2"}),
        ("import keras\nopt.get_scaled_loss(opt.scale_loss(l))\n", {"2", "3"}),
        ("import keras\nx = 'keras.ops.mean'  # keras.ops\n", set()),
        ("import keras\nself.keras.ops.mean\nmine.keras.config\nkeras.optimizers.Adam\nkeras.opsy\n", set()),
        ("import keras\nclass A:\n  def scale_loss(self): ...\nA().scale_loss()\n", set()),
        ("import keras\nwith amp.scale_loss(loss, o) as l: pass\n", set()),
        ("import keras\nimport sonnet as snt\nopt.apply(g, v)\n", set()),
        ("import keras\nif FLAGS.scale_loss: pass\n", set()),
        ("import torch\nopt.scale_loss(loss)\nopt.apply(x)\n", set()),
        ("import tensorflow as tf\ntf.keras.mixed_precision.experimental.set_policy('mixed_float16')\n", {"2"}),
        ("import tensorflow as tf\nopt = tf.train.experimental.enable_mixed_precision_graph_rewrite(opt)\n", {"2"}),
        ("import tensorflow as tf\ntf.keras.experimental.LinearModel()\n", {"2"}),
        ("from tensorflow.keras import layers\nlayers.experimental.preprocessing.Rescaling(1.0)\n", {"2"}),
        ("from tensorflow.keras import layers\nlayers.AugMix()\n", {"3"}),
        ("import tensorflow as tf\ntf.keras.preprocessing.image.ImageDataGenerator()\n", set()),
        ("from tensorflow import keras\nkeras.preprocessing.image.ImageDataGenerator()\n", set()),
        ("import keras\nkeras.preprocessing.image.ImageDataGenerator()\n", {"2"}),
        ("import keras\nimport tensorflow as tf\ntf.keras.Model\nkeras.preprocessing.text.Tokenizer()\n", set()),
        ("import tensorflow as tf\ntf.keras.layers.Dense(1)\ntf.keras.optimizers.Adam(lr=0.1)\n", {"2"}),
        ("from tensorflow.keras.optimizers import Adam\nAdam(\n    lr=1e-3,\n)\n", {"2"}),
        ("from keras import optimizers\noptimizers.SGD(momentum=0.9, lr = 0.1)\n", {"2"}),
        ("import keras\nkeras.optimizers.SGD(0.1, decay=0.1)\nkeras.optimizers.Adam(learning_rate=lr)\n", set()),
        ("import keras\nfrom torch.optim import Adam\nAdam(p, lr=0.1)\noptim.SGD(lr=0.1)\n", set()),
        ("import keras\ntry:\n  keras.engine.x\nexcept AttributeError:\n  x = 1\n", set()),
        ("import keras\nif hasattr(keras, 'engine'):\n  keras.engine.x\n", set()),
        ("import tensorflow as tf\nif tf.__version__ < '2.4':\n  tf.keras.experimental.x\n", set()),
    ],
)
def test_uses(text: str, generations: set[str]) -> None:
    assert set(claims_of(text).used) == generations


@pytest.mark.parametrize(
    ("line", "switch"),
    [
        ("os.environ['TF_USE_LEGACY_KERAS'] = '1'", "2"),
        ('os.environ["TF_USE_LEGACY_KERAS"]="True"', "2"),
        ("os.environ['TF_USE_LEGACY_KERAS'] = str(1)", "2"),
        ("os.environ.setdefault('TF_USE_LEGACY_KERAS', '1')", "2"),
        ("os.putenv('TF_USE_LEGACY_KERAS', '1')", "2"),
        ("os.environ.update(TF_USE_LEGACY_KERAS='1')", "2"),
        ("os.environ.update({'TF_USE_LEGACY_KERAS': '1'})", "2"),
        ("os.environ['TF_USE_LEGACY_KERAS'] = '0'", "3"),
        ("os.environ['TF_USE_LEGACY_KERAS'] = value", None),
        ("legacy = os.environ.get('TF_USE_LEGACY_KERAS', '0')", None),
        ("legacy = os.getenv('TF_USE_LEGACY_KERAS', '1')", None),
        ("# os.environ['TF_USE_LEGACY_KERAS'] = '1'", None),
        ("'''os.environ['TF_USE_LEGACY_KERAS'] = 1'''", None),
        ("\"set TF_USE_LEGACY_KERAS='1' first\"", None),
    ],
)
def test_switch(line: str, switch: str | None) -> None:
    assert claims_of(f"import os\n{line}\nimport tensorflow as tf\n").switch == switch


@pytest.mark.parametrize(
    ("line", "guarded"),
    [
        ("if hasattr(optimizer, 'get_scaled_loss'): pass", True),
        ('scale = getattr(self.optimizer, "scale_loss", None)', True),
        ("if hasattr(keras, 'ops'): pass", True),
        ("if hasattr(tf.keras, 'config'): pass", True),
        ("if keras.__version__ < '3': pass", True),
        ("if keras.__version__.startswith('3'): pass", True),
        ("if int(keras.__version__.split('.')[0]) > 2: pass", True),
        ("if Version(keras.version()) > Version('3'): pass", True),
        ("if version.parse(tf.__version__) >= version.parse('2.16'): pass", True),
        ("if tf.keras.__version__ > '2.99': pass", True),
        ("print(keras.__version__, tf.__version__)", False),
        ("if tf.__version__ < '2.4': pass", False),
        ("if tf.__version__.startswith('1.'): pass", False),
        ("if hasattr(config, 'ops') or hasattr(model, 'optimizer'): pass", False),
        ("# if keras.__version__ < '3'", False),
        ("'''if hasattr(keras, 'ops')'''", False),
        ("assert keras.__version__ >= '3'", False),
    ],
)
def test_guards(line: str, guarded: bool) -> None:
    assert (claims_of(f"import keras\nimport tensorflow as tf\n{line}\n").guarded is not None) is guarded


def test_a_place_that_neither_has_today_is_tried_for_older_releases() -> None:
    tried = "try:\n    {}\nexcept ImportError:\n    x = None\n"
    assert claims_of(tried.format("from keras import ops")).guarded is not None
    assert claims_of(tried.format("from tensorflow.keras.layers import experimental")).guarded is not None
    assert claims_of(tried.format("from keras.engine import training")).guarded is None
    assert claims_of(tried.format("from keras.engine import training")).imported == {}


@pytest.mark.parametrize(
    ("text", "falls_back"),
    [
        ("try:\n    import tf_keras as keras\nexcept ImportError:\n    from tensorflow import keras\n", True),
        ("try:\n    from tf_keras import layers\nexcept:\n    from tensorflow.keras import layers\n", True),
        ("try:\n  import tf_keras as keras\nexcept (ModuleNotFoundError, ImportError):\n  import keras\n", True),
        ("try:\n    import keras\nexcept ImportError:\n    import tf_keras as keras\n", False),
        ("import tf_keras\nimport keras\n", False),
        ("try:\n    import tf_keras\nexcept ImportError:\n    tf_keras = None\n", False),
    ],
)
def test_fallback(text: str, falls_back: bool) -> None:
    assert claims_of(text).falls_back is falls_back


def names_in(package: str) -> set[str]:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"{package} is not installed: pip install mplint[verify]")
    text = Path(spec.origin).read_text(encoding="utf-8")
    return set(re.findall(r"\b(?:import|as) (\w+),?$", text, re.MULTILINE))


def test_the_tables_hold_for_the_installed_packages() -> None:
    new, old = names_in("keras"), names_in("tf_keras")
    assert not {"layers", "Model"} - (new & old)
    assert {"ops", "random", "Layer", "KerasTensor"} <= top_names_of("3") & new
    assert not top_names_of("3") & old
    assert not top_names_of("2") & new


@pytest.mark.parametrize(
    "hostile",
    [
        "from " + "." * 200_000,
        "from" + " " * 200_000 + "\nimport\n",
        "import keras\n" + "if TYPE_CHECKING:\n import a\n" * 20_000,
        "import keras\n  import tf_keras\n" + "except " * 100_000,
        "import keras\nx = [" + "keras.__version__, " * 20_000,
        "import keras\n'TF_USE_LEGACY_KERAS'," + " " * 200_000 + "\n" + "'TF_USE_LEGACY_KERAS'," * 20_000,
        "import keras\n" + "hasattr(" * 50_000,
        "import keras\n" + "a_" * 200_000,
        "import keras\n" + "import_module('a')\n'x'\n" * 20_000,
        "from keras import (" + "a,\n" * 50_000,
        "import keras\n" + "try:\n x\n" * 20_000 + "except:\n" * 10,
        "import keras\n" + "if version:\n x\n" * 20_000,
        "import keras\n" + "if version:\n" + " if version:\n" * 20_000,
        "import keras\n" + "if version:\n x\nelif version:\n x\n" + "\n" * 50_000,
        "import keras\n" + "Adam(lr" * 50_000,
        "import keras\nkeras" + ".a" * 100_000,
        "import keras\nkeras" + ".a(keras" * 50_000,
    ],
    ids=range(17),
)
def test_hostile_text_takes_linear_time(hostile: str) -> None:
    start = time.process_time()
    claims_of(hostile)
    assert time.process_time() - start < 5

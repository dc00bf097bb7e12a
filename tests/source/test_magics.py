"""What IPython adds to Python becomes Python, line by line."""

from __future__ import annotations

import ast
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from mplint.source.magics import masked, prefixes

LINES = {
    "%matplotlib inline\n": "pass\n",
    "!pip install keras": "pass",
    "    !ls\n": "pass\n",
    "?Dense\n": "pass\n",
    "Dense?\n": "pass\n",
    "x = Dense?\n": "pass\n",
    "layers['a'].call?\n": "pass\n",
    "keras.layers.Dense??\r\n": "pass\r\n",
    "files = !ls *.py\n": "files = get_ipython().getoutput()\n",
    "found['a=b'] = !ls\n": "found['a=b'] = get_ipython().getoutput()\n",
    "a = b = !ls\n": "a = b = !ls\n",
    "a, b = %sx ls\n": "a, b = get_ipython().getoutput()\n",
    "x: list = !ls\n": "x: list = get_ipython().getoutput()\n",
    "%run precision.py\n": "get_ipython().run_line_magic(\"run\", 'precision.py')\n",
    "%run -i 'precision.py' --half\n": "get_ipython().run_line_magic(\"run\", 'precision.py', '-i')\n",
    '%run -p -n "steps/setup"  # the usual\n': "get_ipython().run_line_magic(\"run\", 'steps/setup', '-n')\n",
    "%run ../setup.ipynb\n": "get_ipython().run_line_magic(\"run\", '../setup.ipynb')\n",
    "%run ./setup\n": "get_ipython().run_line_magic(\"run\", './setup')\n",
    "%run $name\n": "pass\n",
    "%run -m package.module\n": "pass\n",
    "%time model.fit(x)\n": "model.fit(x)\n",
    "%timeit -n 3 -r2 f(x)\n": "f(x)\n",
    "%time !ls\n": "pass\n",
    ",f a b\n": "pass\n",
    "x = a % b\n": "x = a % b\n",
    "x == !y\n": "x == !y\n",
    "x != y\n": "x != y\n",
    "# what is this?\n": "# what is this?\n",
    "x = 'what?'\n": "x = 'what?'\n",
}


@pytest.mark.parametrize("line", LINES)
def test_a_line(line: str) -> None:
    assert masked([line]) == [LINES[line]]


@pytest.mark.parametrize(
    "cell",
    [
        "x = (7\n%2\n)\n",
        "s = '''\n!ls\n%time\nwhat?\n'''\n",
        'r = r"""\\"""\n',
        "s = 'a\\\n%time\\\n'\n",
        "x = 7 \\\n% 2\n",
        "f(\n    a,\n    # why?\n)\n",
        "f(b=\n%c\n)\n",
    ],
)
def test_inside_a_statement_nothing_is_a_magic(cell: str) -> None:
    assert "".join(masked(cell.splitlines(keepends=True))) == cell


def test_a_command_goes_on_behind_a_backslash() -> None:
    assert masked(["!python train.py \\\n", "    --half \\\n", "    --epochs 3\n", "x = 1\n"]) == [
        "pass\n",
        "#\n",
        "#\n",
        "x = 1\n",
    ]


def test_magics_in_blocks() -> None:
    cell = "if colab:\n    %cd /content\n    !ls\nelse:\n    %pwd\n"
    assert "".join(masked(cell.splitlines(keepends=True))) == "if colab:\n    pass\n    pass\nelse:\n    pass\n"


def test_behind_a_quote_in_a_command_python_goes_on() -> None:
    assert masked(["!echo don't\n", "%pwd\n", "x = 'a'\n"]) == ["pass\n", "pass\n", "x = 'a'\n"]


@pytest.mark.parametrize("magic", ["%%time", "%%capture out", "%%timeit -n 1", "%%wandb", "%%time?"])
def test_cells_that_are_python(magic: str) -> None:
    assert masked([f"{magic}\n", "x = 1\n", "!ls\n"]) == ["#\n", "x = 1\n", "pass\n"]


def test_a_cell_in_a_cell() -> None:
    assert masked(["%%time\n", "%%capture\n", "  x = 1\n"]) == ["#\n", "#\n", "x = 1\n"]
    assert masked(["%%time\n", "%%bash\n", "ls\n"]) == ["#\n", "#\n", "#\n"]
    assert masked([*["%%time\n"] * 5000, "x = 1\n"]) == [*["#\n"] * 5000, "x = 1\n"]


@pytest.mark.parametrize("magic", ["%%bash", "%%writefile train.py", "%%html", "%%javascript", "%%python", "%%R -i x"])
def test_cells_of_other_languages(magic: str) -> None:
    assert masked(["\n", f"{magic}\n", "echo (\n", "x = 1"]) == ["\n", "#\n", "#\n", "#"]


def test_the_language_of_a_cell_on_databricks() -> None:
    assert masked(["%sql\n", "SELECT *\n", "FROM runs\n"]) == ["#\n", "#\n", "#\n"]
    assert masked(["%md\n", "# Results\n"]) == ["pass\n", "# Results\n"]
    assert masked(["%sql SELECT 1\n", "x = 1\n"]) == ["pass\n", "x = 1\n"]


def test_a_magic_alone_in_a_cell_needs_no_percent_sign() -> None:
    assert masked(["ls ./data\n"]) == ["pass\n"]
    assert masked(["run setup.py"]) == ["get_ipython().run_line_magic(\"run\", 'setup.py')"]
    assert masked(["time = 3\n"]) == ["time = 3\n"]
    assert masked(["ls ./data\n", "x = 1\n"]) == ["ls ./data\n", "x = 1\n"]


def test_prompts_that_were_pasted_in() -> None:
    cell = [">>> if x:\n", "...     y = 1\n", "...\n", ">>> z = ...\n"]
    assert masked(cell) == ["if x:\n", "    y = 1\n", "\n", "z = ...\n"]
    assert prefixes(cell) == [">>> ", "... ", "...", ">>> "]
    assert masked(["In [1]: x = 1\n", "   ...: y = 2\n"]) == ["x = 1\n", "y = 2\n"]
    assert prefixes(["In [1]: %%time\n", "   ...: x = 1\n"]) == ["In [1]: ", "   ...: "]


def test_a_title_may_stand_before_a_cell_magic() -> None:
    assert masked(["#@title Install it\n", "%%bash\n", "cd models && ls\n"]) == ["#@title Install it\n", "#\n", "#\n"]


# -- against the real thing

STATEMENTS = (
    "%matplotlib inline", "!ls", "!!ls", "!pip install \\\n  x", "x = 1",
    "if x:\n    y = 2\n    %cd foo\n    !ls\nelse:\n    %pwd",
    "files = !ls", "t = %time 3", "foo?", "?foo", "??foo", "foo.bar??", "*foo*?", "%foo?", "x[0]?", "a b?", "x = foo?",
    "x = (\n  %2\n  1)", "x = (7\n%2\n)", "s = '''\n!ls\n'''", "s = '''a\n%time\n\\''' # '''", "", "# c", "print('a?')",
    "x.y[0] = !ls", "d['='] = !ls", "a, b = %sx ls", "x: int = !ls", "x == !1", "f(a=%b)", "x = y %z", "x != !ls",
    "x += !ls", "a = b = !ls", "%time x = 1", "%timeit -n 3 f(x)", "%time", "!", "?", "%", "%run a.py",
    "%run -i 'a.py' b",
    "%run $x",
    "def f():\n    x = !ls\n    foo?\n    return x", "def f():\n    return !ls", "x = 1; !ls", "for i in y: !echo {i}",
    "!echo don't", "!echo 'it'", "x = 'a' # what?", "await foo()", "d = {'a': 1}", "x = [1,\n  2]", "x \\\n= !ls",
    "f'''{x\n}'''", "lambda: 1", "if x:\n    # c\n    !python a.py --x \\\n   --y \\\n   --z\n    z = 1", "f(x)?", "\t",
    "@d\ndef f(): pass", 'r"""\\""" + "%d" % x', "x = 7 \\\n% 2", "s = 'a\\\n!b'", "%%foo", "%alias_magic a b",
)  # fmt: skip
HEADS = ("", "", "", "%%time\n", "%%capture out\n", "%%bash\n", "%%foo?\n", "\n\n", "%%timeit\n%%capture\n")


@given(st.sampled_from(HEADS), st.lists(st.sampled_from(STATEMENTS), max_size=4), st.booleans())
def test_it_is_what_ipython_makes_of_it(head: str, statements: list[str], ended: bool) -> None:
    """Where IPython makes a program of a cell; what it does not understand need not be understood."""
    cell = head + "\n".join(statements) + "\n" * ended
    wanted = _by_ipython(cell)
    if wanted is not None:
        assert _dump("".join(masked(cell.splitlines(keepends=True)))) == wanted


def _by_ipython(cell: str) -> str | None:
    try:
        tree = _parsed(TransformerManager().transform_cell(cell))  # type: ignore[no-untyped-call]
    except SyntaxError:
        return None
    match tree.body:
        case [ast.Expr(value=ast.Call(func=ast.Attribute(attr="run_cell_magic"), args=arguments))]:
            name, _, body = (ast.literal_eval(argument) for argument in arguments)
            return _by_ipython(body) if name in ("time", "timeit", "capture") else _dump("")
        case _:
            return _without_pass(_Masked().visit(tree))


class _Masked(ast.NodeTransformer):
    """Calls of magics as they are masked."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        match node.value:
            case ast.Call(
                func=ast.Attribute(attr="run_line_magic"), args=[ast.Constant("run"), ast.Constant(str(line))]
            ):
                return _parsed("".join(masked([f"%run {line}"]))).body
            case ast.Call(
                func=ast.Attribute(attr="run_line_magic"),
                args=[ast.Constant("time" | "timeit"), ast.Constant(str(line))],
            ):
                return _parsed(line.removeprefix("-n 3 ")).body or ast.Pass()
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name("get_ipython")))):
                return ast.Pass()
            case _:
                return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node.func:
            case ast.Attribute(value=ast.Call(func=ast.Name("get_ipython"))):
                return ast.parse("get_ipython().getoutput()", mode="eval").body
            case _:
                return self.generic_visit(node)


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = compile(text, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    assert isinstance(tree, ast.Module)
    return tree


def _dump(text: str) -> str:
    return _without_pass(_parsed(text))


def _without_pass(tree: ast.Module) -> str:
    tree.body = [statement for statement in tree.body if not isinstance(statement, ast.Pass)]
    return ast.dump(tree)

"""Notebooks: one program of their cells, and new text in the bytes that belong to changed lines only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mplint.fixer import fix, write
from mplint.project.modules import Project
from mplint.settings import Settings
from mplint.source.file import Location, SourceError
from mplint.source.notebook import Notebook

PATH = Path("/program/book.ipynb")
SETTER = "keras.mixed_precision.set_global_policy('mixed_float16')"
MODEL = "model = keras.Model(inputs, keras.layers.Dense(3)(inputs))"
CELLS = (
    ("markdown", "# Digits\n"),
    (
        "code",
        "%pip install keras\nfrom tensorflow import keras\nkeras.mixed_precision.set_global_policy('mixed_float16')",
    ),
    ("raw", "x ="),
    ("code", "%%bash\necho don't\n"),
    (
        "code",
        "inputs = keras.Input((8,))  # é\nfiles = !ls\nmodel = keras.Model(inputs, keras.layers.Dense(3)(inputs))\n",
    ),
)


def book(
    cells: Sequence[tuple[str, str]] = CELLS, *, listed: bool = True, language: str = "python"
) -> dict[str, object]:
    found: list[dict[str, object]] = []
    for number, (kind, text) in enumerate(cells):
        source = text.splitlines(keepends=True) if listed else text
        cell: dict[str, object] = {"cell_type": kind, "id": f"c{number}", "metadata": {}, "source": source}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": [{"output_type": "stream", "name": "stdout", "text": "x = 1"}]}
        found.append(cell)
    metadata = {"language_info": {"name": language}}
    return {"cells": found, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


STYLES: dict[str, bytes] = {
    "as Jupyter writes it": (json.dumps(book(), indent=1, ensure_ascii=False) + "\n").encode(),
    "escaped": json.dumps(book(), indent=4).encode(),
    "in one line": json.dumps(book()).encode(),
    "without spaces": json.dumps(book(), separators=(",", ":")).encode(),
    "CRLF and tabs": json.dumps(book(), indent="\t").replace("\n", "\r\n").encode(),
    "with a byte order mark": b"\xef\xbb\xbf" + json.dumps(book(), indent=1).encode(),
    "sources as strings": json.dumps(book(listed=False), indent=1, ensure_ascii=False).encode(),
    "keys in another order": json.dumps(book(), indent=1, sort_keys=True).encode(),
}


def validate(data: bytes) -> None:
    """Jupyter's own word on a notebook."""
    nbformat.validate(nbformat.reads(data.decode("utf-8-sig"), as_version=4))  # type: ignore[no-untyped-call]


def read(data: bytes) -> Notebook:
    return Notebook.from_bytes(PATH, data)


def test_the_program() -> None:
    assert read(STYLES["in one line"]).text == (
        "# %% cell 2\npass\n"
        "from tensorflow import keras\nkeras.mixed_precision.set_global_policy('mixed_float16')\n"
        "# %% cell 4\n#\n#\n"
        "# %% cell 5\ninputs = keras.Input((8,))  # é\nfiles = get_ipython().getoutput()\n"
        "model = keras.Model(inputs, keras.layers.Dense(3)(inputs))\n"
    )


def test_rows_are_those_of_the_cell() -> None:
    book = read(STYLES["in one line"])
    at = book.text.index("model =")
    row, _ = book.position(at)
    assert book.location(at) == Location(5, 3, 1)
    assert book.rows_together(row) == (row - 2, row)
    assert book.shown(row - 1) == "files = !ls"
    assert book.location(book.text.index("from")).where == "cell 2:2"


@pytest.mark.parametrize("style", STYLES)
def test_what_is_not_changed_is_written_as_it_was(style: str) -> None:
    data = STYLES[style]
    assert read(data).encode(read(data).text) == data


@pytest.mark.parametrize("style", STYLES)
def test_only_the_changed_line_changes(style: str, tmp_path: Path) -> None:
    path = tmp_path / "book.ipynb"
    data = STYLES[style]
    path.write_bytes(data)
    project = Project(tmp_path, [path])
    outcome = fix(project, [path], Settings(root=tmp_path, keras="3"), unsafe=False)
    assert not write(outcome, project)
    quoted = "dtype=\\'float32\\'" if "\\'" in data.decode("utf-8-sig") else "dtype='float32'"
    assert path.read_bytes() == data.replace(b"Dense(3)", f"Dense(3, {quoted})".encode())


@pytest.mark.parametrize("style", STYLES)
def test_lines_come_and_go(style: str) -> None:
    """A line is put in, one is taken out, and the last of a cell without a line feed changes."""
    data = STYLES[style]
    before = read(data)
    text = before.text.replace("files = get_ipython().getoutput()\n", "").replace("model =", "y = 'ü'\nmodel =")
    text = text.replace("'mixed_float16')\n", "'mixed_bfloat16')\n# so\n")
    after = read(before.encode(text))
    assert after.text == text
    old, new = json.loads(data.decode("utf-8-sig")), json.loads(before.encode(text).decode("utf-8-sig"))
    joined = ["".join(cell["source"]) for cell in new["cells"]]
    assert joined[1].endswith("'mixed_bfloat16')\n# so")
    assert joined[4].splitlines()[1] == "y = 'ü'"
    for cell in (*old["cells"], *new["cells"]):
        del cell["source"]
    assert old == new
    validate(before.encode(text))


def test_the_style_of_new_lines_is_that_of_the_others() -> None:
    data = STYLES["as Jupyter writes it"]
    before = read(data)
    new = before.encode(before.text.replace("model =", "y = 'ü'\nmodel =")).decode()
    assert '    "files = !ls\\n",\n    "y = \'ü\'\\n",\n    "model =' in new


@pytest.mark.parametrize("source", [["x = ", "1\n", "y", " = 2"], ["x = 1\ny = 2"], ["", "x = 1\n", "", "y = 2"]])
def test_a_list_that_is_cut_elsewhere(source: list[str]) -> None:
    content = book([("code", "")])
    content["cells"][0]["source"] = source  # type: ignore[index]
    before = read(json.dumps(content).encode())
    assert before.text == "# %% cell 1\nx = 1\ny = 2\n"
    written = json.loads(before.encode(before.text.replace("y = 2", "y = 3")))
    assert written["cells"][0]["source"] == ["x = 1\n", "y = 3"]


def test_a_line_that_looks_like_the_mark_of_a_cell() -> None:
    data = json.dumps(book([("code", "# %% cell 1\nx = 1\n"), ("code", "y = 2\n")])).encode()
    before = read(data)
    assert before.encode(before.text) == data
    assert b"x = 3" in before.encode(before.text.replace("x = 1", "x = 3"))


def test_the_end_of_the_program_has_a_place() -> None:
    book = read(STYLES["in one line"])
    assert book.location(len(book.text)) == Location(5, 4, 1)


def test_a_change_over_the_end_of_a_cell_is_refused() -> None:
    before = read(STYLES["in one line"])
    with pytest.raises(SourceError, match="over the end of a cell"):
        before.encode(before.text.replace("# %% cell 4\n", ""))


def test_the_third_format() -> None:
    """Its cells lie in sheets, and their text is the `input`."""
    code = {"cell_type": "code", "collapsed": False, "language": "python", "metadata": {}, "outputs": []}
    sheets = [
        {"cells": [{"cell_type": "heading", "level": 1, "source": ["x ="]}, {**code, "input": ["x = 1\n", "!ls"]}]},
        {"cells": [{**code, "input": "y = 2"}, {**code, "input": "z <- 3", "language": "R"}], "metadata": {}},
    ]
    data = json.dumps({"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": sheets}).encode()
    before = read(data)
    assert before.text == "# %% cell 2\nx = 1\npass\n# %% cell 3\ny = 2\n"
    written = before.encode(before.text.replace("y = 2", "y = 4"))
    assert written == data.replace(b"y = 2", b"y = 4")
    validate(written)


def test_other_languages_hold_no_program() -> None:
    assert read(json.dumps(book(language="R")).encode()).text == ""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "is no notebook: "),
        (b"[]", "it has no list of cells"),
        (b'{"cells": {}}', "it has no list of cells"),
        (b"\xff", "is no UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"cells": [], "nbformat": ' + b"9" * 10_000 + b"}", "is no notebook: Exceeds the limit"),
    ],
)
def test_what_is_no_notebook(data: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read(data)


LINE = st.sampled_from(["x = 1\n", "é = '\\n'\n", "\n", "!ls\n", "    pass\n", "s = '''\n", "# \u2028\n", "y = [\r\n"])


@given(st.lists(st.lists(LINE, max_size=6), max_size=3), st.data(), st.sampled_from([None, 1]), st.booleans())
def test_whatever_lines_change(lines: list[list[str]], data: st.DataObject, indent: int | None, listed: bool) -> None:
    texts = ["".join(cell) for cell in lines]
    content = book([("code", text) for text in texts], listed=False)
    for cell, written in zip(content["cells"], lines, strict=True):  # type: ignore[call-overload]
        cell["source"] = written if listed else cell["source"]
    raw = json.dumps(content, indent=indent).encode()
    before = read(raw)
    assert before.encode(before.text) == raw
    rows = before.text.split("\n")
    code = [place for place, row in enumerate(rows[:-1]) if not row.startswith("# %% cell")]
    for place in data.draw(st.lists(st.sampled_from(code), unique=True) if code else st.just([])):
        rows[place] = "new = 1"
    text = "\n".join(rows)
    sources = ["".join(cell["source"]) for cell in json.loads(before.encode(text))["cells"]]
    assert [source.count("\n") for source in sources] == [each.count("\n") for each in texts]
    assert sum(source.count("new = 1") for source in sources) == text.count("new = 1")


def test_a_cell_that_is_no_python_is_left_out() -> None:
    before = read(json.dumps(book([("code", "x = 1\n"), ("code", "View it:\nhere (\n"), ("code", "y = 2\n")])).encode())
    assert before.text == "# %% cell 1\nx = 1\n# %% cell 2\n#\n#\n# %% cell 3\ny = 2\n"
    (fault,) = before.faults
    assert before.location(before.offset(fault.row, fault.column)) == Location(2, 1, 1)


def test_a_cell_may_be_indented_as_a_whole() -> None:
    """As IPython does, the first line's indentation is taken from all; new lines get it."""
    before = read(json.dumps(book([("code", "  if x:\n      y = 1\n  z = 2\n")])).encode())
    assert before.text == "# %% cell 1\nif x:\n    y = 1\nz = 2\n"
    assert before.location(before.text.index("1\nz")) == Location(1, 2, 11)
    written = json.loads(before.encode(before.text.replace("    y = 1\n", "    y = 3\n    w = 4\n")))
    assert written["cells"][0]["source"] == ["  if x:\n", "      y = 3\n", "      w = 4\n", "  z = 2\n"]


def test_await_at_the_top() -> None:
    assert not read(json.dumps(book([("code", "x = await f()\n")])).encode()).faults


OUTPUTS: tuple[dict[str, object], ...] = (
    {"output_type": "stream", "name": "stdout", "text": ["x0 = 1\n", "\u2028 \u0000 é"]},
    {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo="}},
    {"output_type": "error", "ename": "E", "evalue": "\\", "traceback": ['\x1b[0;31m"source": [', "]"]},
)
KINDS = st.sampled_from(["code", "code", "code", "markdown", "raw"])
LINES = (
    "{0} = 'é'\n",
    "    {0} = '\\\\'\n",
    '# {0} "\u2028" \U0001f600\n',
    "%time {0} = 1\n",
    "    %timeit -n 3 {0}()\n",
    "!ls {0}\n",
    "{0}(\r\n",
    "\n",
)


@st.composite
def notebooks(draw: st.DrawFn) -> tuple[dict[str, object], list[str]]:
    """A notebook as nbformat takes it, and the names that its code uses, each once."""
    cells: list[dict[str, object]] = []
    names: list[str] = []
    for number, kind in enumerate(draw(st.lists(KINDS, max_size=5))):
        lines = draw(st.lists(st.sampled_from(LINES), max_size=5))
        written = [line.format(f"name{number}{chr(97 + place)}") for place, line in enumerate(lines)]
        if written and written[-1].strip() and draw(st.booleans()):
            written[-1] = written[-1].rstrip("\r\n")
        cell: dict[str, object] = {"cell_type": kind, "id": f"c{number}", "metadata": {"tags": ["source", "{"]}}
        if kind == "code":
            cell |= {
                "execution_count": draw(st.sampled_from([None, 7])),
                "outputs": draw(st.sampled_from([[], OUTPUTS])),
            }
            names += [name for place, line in enumerate(written) if (name := f"name{number}{chr(97 + place)}") in line]
        cell["source"] = written if draw(st.booleans()) else "".join(written)
        cells.append(dict(draw(st.permutations(list(cell.items())))))
    rest = {"metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}}, "nbformat": 4}
    content = {"cells": cells, "nbformat_minor": 5, **rest}
    return dict(draw(st.permutations(list(content.items())))), names


@given(
    notebooks(),
    st.sampled_from([None, 0, 1, 4, "\t"]),
    st.sampled_from([(", ", ": "), (",", ":"), (" ,", " : ")]),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_in_whatever_style_only_changed_lines_change(
    made: tuple[dict[str, object], list[str]],
    indent: int | str | None,
    separators: tuple[str, str],
    ascii_only: bool,
    windows: bool,
    data: st.DataObject,
) -> None:
    content, names = made
    text = json.dumps(content, indent=indent, separators=separators, ensure_ascii=ascii_only)
    raw = (text.replace("\n", "\r\n") if windows else text).encode()
    before = read(raw)
    assert before.encode(before.text) == raw
    known = [name for name in names if name in before.text]
    changed = data.draw(st.lists(st.sampled_from(known), unique=True)) if known else []
    program, wanted = before.text, raw
    for name in changed:
        program = program.replace(name, f"NEW{name}")
        wanted = wanted.replace(name.encode(), f"NEW{name}".encode())
    written = before.encode(program)
    assert written == wanted
    validate(written)


def test_a_magic_in_front_of_a_statement_stays() -> None:
    """It has a place in its line, too, that positions count."""
    cell = "if x:\n    %time y = f(1)\n%timeit -n 3 g(2)\n"
    before = read(json.dumps(book([("code", cell)])).encode())
    assert before.text == "# %% cell 1\nif x:\n    y = f(1)\ng(2)\n"
    assert before.location(before.text.index("f(1)")) == Location(1, 2, 15)
    assert before.location(before.text.index("g(2)")) == Location(1, 3, 14)
    written = json.loads(before.encode(before.text.replace("f(1)\n", "f(3)\n    z = y\n").replace("g(2)", "g(4)")))
    assert "".join(written["cells"][0]["source"]) == ("if x:\n    %time y = f(3)\n    z = y\n%timeit -n 3 g(4)\n")

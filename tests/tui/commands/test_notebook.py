"""`%load_ext microtape` and `%%microtape`, in a kernel as Jupyter starts it."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.error import UsageError

from tests.support.kernels import execute
from tests.support.rendering import needs_graphviz
from tui.commands import notebook

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
OF_THE_PAGE = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)


class Ran(NamedTuple):
    """What a cell has shown."""

    value: str  # of its last expression
    bundle: dict[str, str]  # what was displayed
    text: str  # that was printed
    errors: list[str]  # tracebacks without colours


def run_cells(cells: list[str]) -> list[Ran]:
    """Run cells one after the other, in one kernel, whether they fail or not."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    execute(book, ROOT, allow_errors=True)
    return [ran(cell.outputs) for cell in book.cells]


def ran(outputs: list[Any]) -> Ran:
    """The outputs of a cell by their kinds."""
    of: dict[str, list[Any]] = {"execute_result": [], "display_data": [], "stream": [], "error": []}
    for output in outputs:
        of[output.output_type].append(output)
    value = "".join(output.data["text/plain"] for output in of["execute_result"])
    bundle = of["display_data"][0].data if of["display_data"] else {}
    text = "".join(output.text for output in of["stream"])
    errors = [re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output.traceback)) for output in of["error"]]
    return Ran(value, bundle, text, errors)


CELLS = {
    "load": "%load_ext microtape\nimport microtape as mt\nx = mt.tensor([1.0, 2.0], requires_grad=True)",
    "film": "%%microtape\nloss = (x * x).sum()\nloss.backward()\nx.grad",
    "part": "%%microtape --step 2 --pass 2 --title 'The second'\nfor _ in range(2):\n    (x * x).sum().backward()",
    "wrong": "%%microtape --diagnose\nz = x.exp()\nz.add_(1)\nz.sum().backward()",
    "right": "%%microtape --diagnose\n(x * 3).sum().backward()",
    "no pass": "%%microtape\ny = x * 2",
    "nothing": "%%microtape\npass",
    "fails": "%%microtape\n(x * x).sum().backward()\n1 / 0",
    "no Python": "%%microtape\ndef f(:",
    "unknown option": "%%microtape --colour\n1",
    "unknown pass": "%%microtape --pass 3\n(x * x).sum().backward()",
    "quotation mark": "%%microtape --title 'The\n1",
    "unknown step": "%%microtape --step 9\n(x * x).sum().backward()",
    "fails without a finding": "%%microtape --diagnose\n(x * x).sum().backward()\n1 / 0",
    "displayed": "loss = (x * x).sum()\nloss",
    "a second name": "with mt.record() as r:\n    loss.backward()\nprint([one.names for one in r.recording.tensors])",
    "loop": "with mt.record(until='nan') as loop:\n    (x * x).sum().backward()\nloop",
}


@pytest.fixture(scope="module")
def shown() -> dict[str, Ran]:
    return dict(zip(CELLS, run_cells(list(CELLS.values())), strict=True))


@needs_graphviz
def test_a_cell_runs_as_always_and_its_film_follows(shown: dict[str, Ran]) -> None:
    film = shown["film"]
    assert film.value == "tensor([2., 4.])"
    assert film.bundle["text/html"].startswith("<iframe srcdoc=")
    assert "<svg" in film.bundle["image/svg+xml"]
    assert film.bundle["text/plain"] == "<Recording of 'cell 2': 3 nodes, 1 pass, 3 steps>"
    assert not film.errors


@needs_graphviz
def test_a_film_may_show_one_pass_and_open_at_a_step(shown: dict[str, Ran]) -> None:
    page = shown["part"].bundle["text/html"]
    assert "&lt;title&gt;The second&lt;/title&gt;" in page
    assert "&quot;opens&quot;:2" in page
    data = re.search(r'<script type="application/json" id="film">(.*?)</script>', html.unescape(page), re.S)
    assert data is not None
    assert len(json.loads(data[1])["chapters"]) == 1  # of two passes


def test_what_is_wrong_is_named_by_cell_and_line(shown: dict[str, Ran]) -> None:
    wrong = shown["wrong"]
    assert "cell 4, line 3" in wrong.text.splitlines()[0]
    assert "%%microtape --step 3" in wrong.text  # the step that fails
    (error,) = [one for one in wrong.errors if one]
    assert "Cell In[4], line 4" in error
    assert shown["right"].text == "cell 5: nothing wrong was found in 1 pass\n"


@needs_graphviz
def test_a_cell_without_a_pass_says_so(shown: dict[str, Ran]) -> None:
    assert shown["no pass"].text == "cell 6 never called backward(): there is no pass to play\n"
    assert "image/svg+xml" in shown["no pass"].bundle
    assert shown["nothing"].text == "cell 7 never called backward(): there is no pass to play\n"
    assert not shown["nothing"].bundle


@needs_graphviz
def test_a_cell_that_fails_tells_it_once_and_shows_its_film(shown: dict[str, Ran]) -> None:
    told, again = shown["fails"].errors
    assert "Cell In[8], line 3" in told
    assert "microtape/" not in told.replace("%%microtape", "")  # none of our frames
    assert again == ""
    assert "text/html" in shown["fails"].bundle


def test_a_cell_that_is_no_python_tells_it_once(shown: dict[str, Ran]) -> None:
    told, again = shown["no Python"].errors
    assert "line 2" in told
    assert again == ""
    assert not shown["no Python"].bundle


def test_wrong_options_are_told_in_one_line(shown: dict[str, Ran]) -> None:
    lines = {
        "unknown option": "UsageError: unrecognized arguments: --colour (%%microtape? lists the options)\n",
        "unknown pass": "UsageError: --pass 3: cell 11 has run 1 pass\n",
        "quotation mark": "UsageError: No closing quotation: --title 'The\n",
        "unknown step": "UsageError: --step 9: the film has 3 steps\n",
    }
    assert {name: shown[name].text for name in lines} == lines
    assert not any(shown[name].errors for name in lines)


def test_a_cell_that_fails_for_a_reason_of_its_own_is_not_said_to_be_right(shown: dict[str, Ran]) -> None:
    assert shown["fails without a finding"].text == "cell 14 failed, and nothing in 1 pass shows why\n"


def test_tensors_have_the_names_of_the_program_not_those_of_the_notebook(shown: dict[str, Ran]) -> None:
    names = shown["a second name"].text
    assert "('x',)" in names
    assert "('loss',)" in names  # and neither `_` nor `_15`, which IPython has given it


def test_the_recorder_of_a_loop_is_shown_as_its_recording(shown: dict[str, Ran]) -> None:
    assert shown["loop"].value.startswith("<Recording of 'record()': 3 nodes, 1 pass, 3 steps>")


WORDS = st.sampled_from(
    ["--pass", "--step", "--title", "--engine", "--check", "--diagnose", "--pass=x", "--step 1.5", "--", "-h", "nan",
     "'", "torch", "3", "\x1b[31m", "\0", "\ud800", "\r", "9" * 5_000]
)  # fmt: skip


@given(st.lists(WORDS | st.text(max_size=5), max_size=4).map(" ".join))
def test_any_options_are_taken_or_refused_in_one_line(options: str) -> None:
    told = ""
    try:
        notebook._parser().parse_args(notebook._words(options))
    except UsageError as refused:
        told = str(refused)
    assert not {unicodedata.category(one) for one in told} & {"Cc", "Cs"}  # control characters, halves of others


def test_the_page_about_notebooks_is_true() -> None:
    cells = [block for block in OF_THE_PAGE if block.startswith("%")]
    printed = [block for block in OF_THE_PAGE if not block.startswith("%")]
    found = run_cells(cells)
    assert not any(one.errors for one in found)
    assert found[1].value == "tensor([0.2500, 0.1667])"
    assert [one.text for one in found if one.text] == printed


def test_the_page_lists_the_options() -> None:
    source = (ROOT / "tui" / "commands" / "notebook.py").read_text(encoding="utf-8")
    assert set(re.findall(r'add_argument\("(--\w+)"', source)) == set(re.findall(r"\| `(--\w+)", PAGE))


@pytest.mark.parity
@needs_graphviz
def test_a_cell_on_pytorch_is_recorded() -> None:
    cell = "%%microtape\nimport torch\nw = torch.ones(2, requires_grad=True)\n(w * w).sum().backward()\nw.grad"
    _, film = run_cells(["%load_ext microtape", cell])
    assert film.value == "tensor([2., 2.])"
    assert film.bundle["text/plain"] == "<Recording of 'cell 2': 3 nodes, 1 pass, 3 steps>"

"""What notebooks display: pictures, films, and recordings as films, in a real notebook and a real browser."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest

import microtape as mt
import viz
from microtape.recording.engines import ProgramRecorder
from microtape.recording.model.model import Recording
from microtape.recording.writing.recorder import Recorder
from tests.support.browser import PATIENCE, Browser, needs_browser
from tests.support.kernels import execute
from tests.support.recordings.handmade import chain, diamond, failing
from tests.support.rendering import needs_graphviz
from viz import notebook, notebook_parts

ROOT = Path(__file__).parents[2]

CELLS = [
    "import microtape as mt",
    """\
with mt.record() as r:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()
    loss.backward()
""",
    "r.recording",
    "import viz\nr.recording",
    "viz.draw(loss)",
    "viz.film(r)",
    "r",
    "r.recording.passes[0]",
    "r.recording.nodes[1]",
    "loss",
    "loss.grad_fn",
    "x",
]


@pytest.fixture(scope="module")
def outputs() -> list[Any]:
    """The outputs of each cell of a notebook when it is run."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    execute(book, ROOT)
    return [cell.outputs for cell in book.cells]


def shown(output: Any) -> dict[str, Any]:
    (one,) = output
    assert one.output_type == "execute_result", one
    data: dict[str, Any] = one.data
    return data


@pytest.mark.slow
@needs_graphviz
def test_a_notebook_shows_a_picture(outputs: list[Any]) -> None:
    data = shown(outputs[4])
    assert ElementTree.fromstring(data["image/svg+xml"]).tag.endswith("svg")
    assert "loss = sum(%" in data["text/plain"]


@pytest.mark.slow
@needs_graphviz
def test_a_pass_and_a_node_of_a_recording_have_pictures(outputs: list[Any]) -> None:
    one = shown(outputs[7])
    assert one["text/plain"] == "<Pass 1: backward() at cell 2, line 4, 3 steps>"
    assert one["text/html"].startswith("<iframe srcdoc=")
    node = shown(outputs[8])
    assert node["text/plain"] == "<NodeRecord %1 MulBackward0 at cell 2, line 3>"
    assert "mul(x, x)" in node["image/svg+xml"]


@pytest.mark.slow
@needs_graphviz
def test_a_tensor_with_a_history_shows_its_graph(outputs: list[Any]) -> None:
    loss = shown(outputs[9])
    assert loss["text/plain"] == "tensor(5., grad_fn=<SumBackward0>)"
    assert "loss = sum(%1)" in loss["image/svg+xml"]
    node = shown(outputs[10])
    assert node["text/plain"].startswith("<SumBackward0 object at")
    assert "sum(%1)" in node["image/svg+xml"]
    assert shown(outputs[11]).keys() == {"text/plain"}  # a leaf has no history


def test_without_a_notebook_nothing_but_text_is_shown() -> None:
    recording = diamond()
    assert notebook_parts.show_pass(recording.passes[0]) is None
    assert notebook_parts.show_record(recording.nodes[0]) is None
    assert notebook_parts.show_tensor(mt.ones(1, requires_grad=True) * 2) is None


def test_a_view_that_another_write_has_made_invalid_is_shown_as_text() -> None:
    whole = mt.ones(2, 3, requires_grad=True) * 2
    row, _ = whole.unbind(0)
    with mt.no_grad():
        whole.zero_()
    assert notebook_parts.show_tensor(row) is None


@pytest.mark.slow
@needs_graphviz
def test_a_recording_is_a_film_once_viz_is_imported(outputs: list[Any]) -> None:
    assert shown(outputs[2]).keys() == {"text/plain"}  # the engine knows nothing of films
    data = shown(outputs[3])
    assert data["text/plain"] == "<Recording of 'record()': 3 nodes, 1 pass, 3 steps>"
    assert data["text/html"].startswith("<iframe srcdoc=")
    assert shown(outputs[5])["text/html"].startswith("<iframe srcdoc=")
    assert shown(outputs[6])["text/html"] == data["text/html"]  # the recorder shows its recording


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    one = Browser(tmp_path / "chromium")
    yield one
    one.close()


@needs_graphviz
@needs_browser
def test_the_film_in_a_notebook_plays(outputs: list[Any], browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "notebook.html"
    page.write_text(f"<!DOCTYPE html><body>{shown(outputs[3])['text/html']}")
    browser.open(page)
    before = at_rest(browser)
    browser.click("iframe")
    deadline = time.monotonic() + PATIENCE
    while browser.screenshot() == before:  # the frame's content is out of reach, so compare screenshots
        assert time.monotonic() < deadline, "nothing happens when a key is pressed"
        browser.press("ArrowRight")
        time.sleep(0.1)
    assert browser.complaints == []
    assert [address for address in browser.requests if not address.startswith("file:")] in ([], ["about:srcdoc"])


def at_rest(browser: Browser) -> bytes:
    """A screenshot of the page once it no longer changes."""
    seen, deadline = browser.screenshot(), time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        time.sleep(0.2)
        before, seen = seen, browser.screenshot()
        if before == seen:
            return seen
    raise AssertionError("the page never comes to rest")


def bundle(recording: Recording) -> dict[str, str]:
    found: dict[str, str] = recording._repr_mimebundle_()  # type: ignore[attr-defined]
    return found


@needs_graphviz
def test_a_recording_too_long_for_a_film_is_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "text/html" in bundle(chain(30))
    monkeypatch.setattr(notebook, "MOST_STEPS", 20)
    assert bundle(chain(30)).keys() == {"image/svg+xml", "text/plain"}


@needs_graphviz
@pytest.mark.parametrize("kind", [Recorder, ProgramRecorder])
def test_a_recorder_displays_its_recording(kind: type[Recorder | ProgramRecorder]) -> None:
    with kind() as recorder:
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        (x * x).sum().backward()
    told = "<Recording of 'record()': 3 nodes, 1 pass, 3 steps>"
    assert repr(recorder) == f"<Recorder with {told}>"
    found = recorder._repr_mimebundle_()  # type: ignore[union-attr]
    assert found.keys() == {"text/html", "image/svg+xml", "text/plain"}
    assert found["text/plain"] == told


@needs_graphviz
def test_a_recording_without_a_pass_is_a_picture_or_text() -> None:
    recording = diamond()
    without = Recording(recording.title, recording.nodes, recording.tensors, (), recording.sources)
    assert bundle(without).keys() == {"image/svg+xml", "text/plain"}
    empty = bundle(Recording("empty.py", (), (), (), {}))
    assert empty["text/plain"].startswith("<Recording of 'empty.py': 0 nodes, 0 passes, 0 steps>\n(nothing to draw")


def test_without_graphviz_there_is_text_and_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    monkeypatch.setenv("PATH", "")
    assert bundle(failing()).keys() == {"text/plain"}
    assert "Graphviz is not installed" in bundle(failing())["text/plain"]


@needs_graphviz
def test_the_iframe_holds_the_page_of_the_film() -> None:
    film = viz.film(diamond())
    html = film._repr_mimebundle_()["text/html"]
    assert unescape(html.partition('srcdoc="')[2].partition('"')[0]) == film.html
    assert 'sandbox="allow-scripts"' in html  # and nothing else: it cannot reach the notebook around it


def test_importing_viz_imports_no_notebook_software() -> None:
    code = "import sys, viz; print([m for m in ('IPython', 'PIL', 'nbformat', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""`viz.draw` and the drawing that it returns, as a user sees them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import microtape as mt
import viz
from microtape.errors import RecordingError
from microtape.recording.engines import snapshot
from tests.support.full_disk import full_disk
from tests.support.recordings.handmade import diamond, failing
from tests.support.rendering import needs_graphviz


def test_a_recording_a_recorder_and_a_tape_file_are_drawn_alike(tmp_path: Path) -> None:
    with mt.record() as recorder:
        x = mt.tensor(2.0, requires_grad=True)
        (x * x).backward()
    path = tmp_path / "run.tape"
    mt.save(recorder.recording, path)
    dot = viz.draw(recorder.recording).dot
    assert viz.draw(recorder).dot == viz.draw(path).dot == viz.draw(str(path)).dot == dot


def test_a_live_graph_is_drawn_from_a_tensor_a_list_or_a_grad_fn() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 3.0).exp()
    total = y.sum()
    for what in (total, [y, total], (y, total), total.grad_fn):
        operations = [box for box in viz.draw(what).graph.boxes if box.kind == "operation"]
        assert [box.title.partition(" = ")[2].partition("(")[0] for box in operations] == ["mul", "exp", "sum"]
    total.backward()
    assert "sum(" in viz.draw(total).text()  # after the graph was freed


def test_the_error_names_what_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"viz\.draw\(\) takes a Recording, .* not int"):
        viz.draw(3)
    with pytest.raises(TypeError, match="not str"):
        viz.draw([mt.tensor(1.0, requires_grad=True), "x"])
    with pytest.raises(viz.DrawError, match="nothing to draw"):
        viz.draw(mt.tensor(1.0))
    with pytest.raises(RecordingError, match=r"missing\.tape"):
        viz.draw(tmp_path / "missing.tape")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": "2"}, "step='2' is not valid: it takes a whole number"),
        ({"step": 1.5}, "step=1.5 is not valid"),
        ({"pass_index": None}, "pass_index=None is not valid"),
        ({"around": 2.5}, "around=2.5 is not valid"),
        ({"around": "z", "radius": "1"}, "radius='1' is not valid"),
        ({"max_boxes": "all"}, "max_boxes='all' is not valid"),
        ({"show": 3}, "show=3 is not valid: it takes a word or a list of words"),
        ({"open": [0]}, r"open=\[0\] is not valid: it takes a word"),
    ],
)
def test_an_option_of_the_wrong_type_gives_one_clear_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(viz.DrawError, match=message):
        viz.draw(diamond(), **options)


def test_a_number_of_numpy_is_a_number() -> None:
    assert viz.draw(diamond(), step=np.int64(2)).dot == viz.draw(diamond(), step=2).dot  # type: ignore[arg-type]


@needs_graphviz
@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.PDF", b"%PDF"), ("a.dot", b"digraph"), ("a.gv", b"digraph"),
        ("a.txt", b"diamond.py: backward() at line 6"),
    ],
)  # fmt: skip
def test_the_suffix_selects_the_format(name: str, start: bytes, tmp_path: Path) -> None:
    path = viz.draw(diamond()).save(tmp_path / name)
    assert path == tmp_path / name
    assert path.read_bytes().startswith(start)


def test_a_file_that_cannot_be_written_gives_one_clear_line(tmp_path: Path) -> None:
    drawing = viz.draw(diamond())
    for name in ("a.bmp", "svg", ""):
        with pytest.raises(viz.DrawError, match=r"should end in \.svg, \.png, \.pdf, \.dot, \.gv or \.txt"):
            drawing.save(tmp_path / name)
    with pytest.raises(viz.DrawError, match=r"cannot write '.*a\.dot': there is no folder '.*nowhere'"):
        drawing.save(tmp_path / "nowhere" / "a.dot")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_picture(tmp_path: Path) -> None:
    drawing = viz.draw(diamond())
    old = dict.fromkeys(("graph.dot", "graph.txt"), b"the old one")
    for name, content in old.items():
        (tmp_path / name).write_bytes(content)
    for name in old:
        with full_disk(), pytest.raises(viz.DrawError, match=f"cannot write '.*{name}': File too large"):
            drawing.save(tmp_path / name)
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == old


@needs_graphviz
def test_a_notebook_gets_an_svg_and_text() -> None:
    bundle = viz.draw(diamond(), step=1)._repr_mimebundle_(include=None, exclude=None)
    assert ElementTree.fromstring(bundle["image/svg+xml"]).tag.endswith("svg")
    assert bundle["text/plain"].startswith("diamond.py: backward() at line 6\nafter step 1 of 5")


def test_the_repr_of_a_drawing() -> None:
    assert repr(viz.draw(diamond())).startswith("<Drawing of 'diamond.py: backward() at line 6', 6 boxes: .svg()")


def test_the_text_shows_where_gradients_went() -> None:
    assert (
        viz.draw(diamond(), step=1).text()
        == """\
diamond.py: backward() at line 6
after step 1 of 5: %4 MulBackward0 sent 5 to %2 and 6 to %3

  %0 x  leaf  scalar
    value  2
    .grad  no gradient yet

  %1 y  leaf  scalar
    value  3
    .grad  no gradient yet

+ %2 = mul(x, y)  scalar
    %2 = x · y   ∂%2/∂x = y,  ∂%2/∂y = x
    value   6
    grad    5
    saved   x, y
    line 5  x * y
    ← %0 x
    ← %1 y

+ %3 = add(x, y)  scalar
    %3 = x + y   ∂%3/∂x = 1,  ∂%3/∂y = 1
    value   5
    grad    6
    line 5  x + y
    ← %0 x
    ← %1 y

▶ %4 z = mul(%2, %3)  scalar
    z = %2 · %3   ∂z/∂%2 = %3,  ∂z/∂%3 = %2
    value   30
    grad    1
    saved   %2, %3  freed
    line 5  (x * y) * (x + y)
    → %2: 5
    → %3: 6

  backward()  line 6
    → %4 z: 1
"""
    )


def test_ascii_text_is_ascii_only() -> None:
    text = viz.draw(failing()).text(ascii=True)
    assert text.isascii()
    assert "! %1 e = exp(x)  vector 2" in text
    assert "\\u" not in text


def test_a_snapshot_is_a_recording_like_any_other() -> None:
    x = mt.tensor(2.0, requires_grad=True)
    y = x * x
    assert viz.draw(snapshot(y)).graph.subtitle == "the graph as it is now"


def test_a_freed_graph_says_so() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y.sum().backward()
    graph = viz.draw(y).graph
    assert graph.subtitle == "the graph as it is now, after backward: what was saved for it has been freed"
    (box,) = [one for one in graph.boxes if one.kind == "operation"]
    assert [row.text for row in box.rows if row.key == "saved"] == ["freed"]
    (leaf,) = [one for one in graph.boxes if one.kind == "leaf"]
    assert [row.text for row in leaf.rows if row.key == ".grad"] == ["[2.718, 7.389]"]
    assert [item.text for item in graph.legend if item.about == "arrow"] == ["value"]  # the gradients are unknown


def test_a_graph_with_an_overwritten_tensor_shows_both_versions() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y += 1
    graph = viz.draw(y.sum()).graph
    rows = [row for one in graph.boxes for row in one.rows if row.tone == "alarm"]
    assert [row.text for row in rows] == ["y v0, now v1 ✗"]


def test_the_error_names_a_graphviz_py_that_hides_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", ModuleType("graphviz"))
    monkeypatch.delitem(sys.modules, "graphviz.quoting", raising=False)
    with pytest.raises(viz.GraphvizError) as caught:
        _ = viz.draw(diamond()).dot
    assert str(caught.value).startswith(
        "the package graphviz cannot be imported (is a graphviz.py of your own in its way?): cannot import name"
    )
    assert "z = mul(%2, %3)" in viz.draw(diamond()).text()


def test_a_file_to_write_is_for_save() -> None:
    loss = mt.tensor(2.0, requires_grad=True) * 3
    with pytest.raises(viz.DrawError, match=r'viz.draw\(\) writes no file: .* viz.draw\(\.\.\.\).save\("a.svg"\)'):
        viz.draw(loss, "a.svg")  # type: ignore[arg-type]


def test_a_graph_whose_backward_fails_says_so() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    loss = y.sum()
    y += 1
    with pytest.raises(RuntimeError, match="inplace"):
        loss.backward()
    expected = "backward fails at %1 ExpBackward0: y, which it saved, was overwritten"
    assert viz.draw(loss).graph.subtitle == expected


def test_the_recorder_of_a_loop_is_drawn_like_its_recording() -> None:
    with mt.record(every=1) as loop:
        (mt.tensor(2.0, requires_grad=True) * 3).backward()
    assert viz.draw(loop).text() == viz.draw(loop.recording).text()

"""The arrows along which something wrong has spread are marked, from the step on at which it has, and no others."""

from __future__ import annotations

from collections.abc import Callable

import microtape as mt
import viz
from microtape.recording.findings import findings
from microtape.recording.model.model import Recording
from tests.programs.corpus import HERE, record_program
from tests.support.rendering import needs_graphviz
from viz.basics.theme import LIGHT
from viz.scene.visual_graph import build_graph


def wrong(recording: Recording, step: int | None = None) -> set[tuple[str, str]]:
    """The titles of the boxes at the ends of the arrows that are marked."""
    picture = build_graph(recording, step=step, fold=False)
    titles = {box.id: box.title.partition(" = ")[0] for box in picture.boxes}
    return {(titles[arrow.tail], titles[arrow.head]) for arrow in picture.arrows if arrow.wrong}


def recorded(program: Callable[[], None]) -> Recording:
    found: Recording = mt.record(program)
    return found


def of_program(name: str) -> Recording:
    """The recording of one of the broken programs."""
    found, _ = record_program(HERE / "broken" / f"{name}.py")
    return found


def infinite() -> None:
    x = mt.tensor([0.0, 4.0], requires_grad=True)
    w = mt.tensor([2.0, 3.0], requires_grad=True)
    root = (x * 1).sqrt()
    loss = (root + w).sum()
    loss.backward()


def not_a_number() -> None:
    x = mt.tensor([0.0, 4.0], requires_grad=True)
    share = x / (x * 0)
    (share * 2).sum().backward()


def healthy() -> None:
    x = mt.tensor([1.0, 4.0], requires_grad=True)
    x.sqrt().sum().backward()


def test_infinity_is_marked_from_its_origin_to_the_leaf() -> None:
    recording = recorded(infinite)
    assert wrong(recording) == {("%1", "root"), ("x", "%1")}
    steps = [len(wrong(recording, step)) for step in range(len(recording.passes[0].steps) + 1)]
    assert steps == sorted(steps)
    assert set(steps) == {0, 1, 2}  # one after the other, and none before its step


def test_nan_of_the_forward_is_marked_on_its_way_down_before_backward_begins() -> None:
    assert wrong(recorded(not_a_number), 0) == {("share", "%3"), ("%3", "%4")}


def test_zeros_are_marked_where_they_travel() -> None:
    picture = build_graph(of_program("brightness"))
    texts = [arrow.text for arrow in picture.arrows if arrow.wrong]
    assert texts
    assert set(texts) <= {"0", "[0, 0, 0, 0]"}


def test_the_way_from_a_leaf_to_where_its_history_ends_is_marked() -> None:
    below = {("W1", "%1"), ("%1", "%3"), ("b1", "%3"), ("%3", "%4"), ("%4", "detach(%4)")}
    assert wrong(of_program("encoder")) == below


def test_a_leaf_that_no_recorded_operation_used_is_marked_too() -> None:
    recording = of_program("frozen_features")
    here = next(one.pass_ for one in findings(recording) if one.kind == "no gradient")
    picture = build_graph(recording, pass_index=here or 0)
    assert [arrow.kind for arrow in picture.arrows if arrow.wrong] == ["border"]
    assert any(box.id.startswith("finding") for box in picture.boxes)


def test_nothing_is_marked_where_nothing_is_wrong() -> None:
    assert wrong(recorded(healthy)) == set()


@needs_graphviz
def test_a_mark_is_red_in_pictures_and_pages() -> None:
    recording = recorded(infinite)
    lines = [line for line in viz.draw(recording).dot.splitlines() if "->" in line]
    assert sum(LIGHT.alarm in line for line in lines if "dotted" not in line) == 2
    assert '"done wrong"' in viz.film(recording).html

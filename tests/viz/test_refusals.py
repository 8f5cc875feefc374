"""What cannot be drawn is refused in a line that says what to do instead."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

import microtape as mt
import tui
import viz
from microtape.recording import Recording, record
from tests.support.recordings.live import leaf
from viz.basics.errors import DrawError, GraphvizError, TooLargeError


def chain(length: int) -> Recording:
    def program() -> None:
        y = leaf(1.0)
        for _ in range(length):
            y = y * 2
        y.backward()

    return record(program)


@pytest.mark.parametrize("seconds", [0.001, 90])
def test_a_film_of_frames_that_nobody_could_see_is_refused(seconds: float) -> None:
    with pytest.raises(DrawError, match=f"seconds={seconds:g} is not valid: it takes 0.02 to 60"):
        viz.film(chain(2), seconds=seconds).gif()


def test_a_film_that_cannot_be_written_says_where_and_why(tmp_path: Path) -> None:
    film = viz.film(chain(2))
    with pytest.raises(DrawError, match=r"cannot write '.*nowhere/film.html': there is no folder '.*nowhere'"):
        film.save(tmp_path / "nowhere" / "film.html")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"title": 3}, "title=3 is not valid: it takes a text"),
        ({"around": []}, "around=[] is not valid: it takes the number of a node, or its name"),
        ({"time_limit": "a"}, "time_limit='a' is not valid: give a number of seconds above 0"),
        ({"time_limit": 0}, "time_limit=0 is not valid: give a number of seconds above 0"),
        ({"time_limit": float("nan")}, "time_limit=nan is not valid: give a number of seconds above 0"),
    ],
)
def test_options_of_another_type_are_named(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(DrawError, match=re.escape(problem)):
        viz.draw(chain(2), **options).svg()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"pass_index": []}, "pass_index=[] is not valid: it names no pass"),
        ({"step": "a"}, "step='a' is not valid: it takes a whole number"),
        ({"step": -1}, "step=-1 is negative"),
    ],
)
def test_a_page_says_so_too(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(DrawError, match=re.escape(problem)):
        _ = viz.film(chain(2), **options).html


@pytest.mark.parametrize(
    ("x", "what"), [([], "an empty list"), (chain(2).passes[0], "microtape.recording.model.model.Pass"), ([3], "int")]
)
def test_what_is_no_graph_is_named(x: Any, what: str) -> None:
    for show in (viz.draw, viz.film, tui.step):
        with pytest.raises(TypeError, match=f"or a Tensor, a grad_fn or a list of them, not {what}$"):
            show(x)


def test_a_neighbourhood_with_too_many_boxes_is_refused_with_the_way_out() -> None:
    with pytest.raises(TooLargeError, match="more than max_boxes=3: take a smaller radius, or raise max_boxes="):
        viz.draw(chain(12), around="%5", radius=4, max_boxes=3)


def test_levels_that_are_too_many_boxes_are_refused_with_fewer() -> None:
    def program() -> None:
        y = leaf(1.0)
        for number in range(12):
            with mt.scope(f"block {number}"):
                for _ in range(3):
                    y = (y * 2).tanh()
        y.backward()

    with pytest.raises(TooLargeError, match="open fewer levels with depth=1"):
        viz.draw(record(program), depth=2, max_boxes=4)


def test_a_full_disk_is_said_by_the_picture_that_needs_a_temporary_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    drawing = viz.draw(chain(2))
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(GraphvizError, match="no temporary file can be written: No space left on device"):
        drawing.svg()

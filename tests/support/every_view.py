"""Every view of a recording, without a terminal: what the command prints, what the panes say, and pictures."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import viz
from microtape.recording.file.tape_file import load, save
from microtape.recording.model.model import Recording, Summary
from tui.shell.spans import plain
from tui.time.arrays import array_lines
from tui.time.box_picture import box_lines
from tui.time.calls import CallCursor, everywhere
from tui.time.cursor import StepCursor
from tui.words.copying import copyables
from tui.words.functions.inside import InsideWords
from tui.words.functions.inside_lines import heading
from tui.words.pane_texts import PaneTexts
from tui.words.passes import pass_lines, passes_of
from tui.words.sentence import sentence
from tui.words.time_marks import all_marks, mark_lines
from tui.words.trace import trace, trace_folded, trace_forward, trace_moment
from tui.words.trace_json import as_json, step_as_json
from tui.words.why_none import why_none
from viz.basics.options import DETAILS


def through_a_file(recording: Recording, folder: Path) -> Recording:
    """The recording, saved and loaded: nothing is lost."""
    path = folder / "run.tape"
    save(recording, path, element_budget=10**6)
    loaded = load(path)
    for one in dataclasses.fields(Recording):
        _check_same(getattr(loaded, one.name), getattr(recording, one.name))
    return loaded


def _check_same(a: Any, b: Any) -> None:
    if isinstance(a, Summary) and isinstance(b, np.ndarray):
        assert a.shape == b.shape  # over the budget
    elif isinstance(b, np.ndarray):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        assert a.tobytes() == b.tobytes()
    elif isinstance(b, Mapping):
        assert a.keys() == b.keys()
        for key, value in b.items():
            _check_same(a[key], value)
    elif isinstance(b, tuple):
        assert type(a) is type(b)
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            _check_same(x, y)
    else:
        assert a == b


def printed(recording: Recording) -> str:
    """What `trace` prints; its JSON is made, too."""
    json.dumps(as_json(recording, list(range(len(recording.passes))), into=True), allow_nan=False)
    list(trace(recording, into=True))
    return "\n".join(trace(recording))


def stepped(recording: Recording) -> list[str]:
    """The texts of every moment of every pass, the same on the way back."""
    found = []
    for index in range(max(len(recording.passes), 1)):
        first = StepCursor.open(recording, index).to_moment(0)
        there = list(_moments(first, 1))
        back = list(_moments(first.end(), -1))
        assert there == back[::-1]
        found += there
    return found


def _moments(cursor: StepCursor, by: int) -> Iterator[str]:
    while True:
        yield _screen(cursor)
        following = cursor.move(by)
        if following == cursor:
            return
        cursor = following


def _screen(cursor: StepCursor) -> str:
    words = PaneTexts(cursor, 80)
    lines = [sentence(cursor), *words.node(), *words.leaves(), *words.engine()]
    return "\n".join(plain(one) for one in lines)


def every_pane(recording: Recording) -> None:
    """What is behind a key: phases inside of steps, boxes, arrays, marks, reasons, copies, JSON."""
    list(pass_lines(passes_of(recording)))
    for index in range(max(len(recording.passes), 1)):
        cursor = StepCursor.open(recording, index).to_moment(0)
        list(trace_forward(cursor, into=True))
        list(mark_lines(cursor, all_marks(cursor)))
        for moment in range(cursor.timeline.last + 1):
            here = cursor.to_moment(moment)
            list(trace_moment(here, ascii=True))
            list(trace_folded(here))
            list(box_lines(here))
            list(copyables(here))
            json.dumps(step_as_json(here), allow_nan=False)
            _inside(here)
            for node in here.timeline.rows:
                list(why_none(here, node))
            if here.focus is not None:
                list(array_lines(here, here.focus))
            inside = here.move_inside(1)
            while inside != here and inside.part is not None and inside.position <= moment + 1:
                _screen(inside)
                inside, before = inside.move_inside(1), inside
                if inside == before:
                    break


def _inside(moment: StepCursor) -> None:
    """What ran inside of the user's functions at a moment."""
    opened = CallCursor.open(moment)
    for one in everywhere(opened) if opened is not None else ():
        words = InsideWords(one)
        words.arrays(one.position)
        list(words.variables(one.position))
        heading(one, "")


def drawn(recording: Recording, *, every_step: bool = False) -> str:
    """The DOT text of each pass at its end, or at every step, with every detail."""
    if not recording.nodes:
        return ""
    found = []
    for index in range(max(len(recording.passes), 1)):
        steps = len(recording.passes[index].steps) if recording.passes else 0
        for step in [*(range(steps + 1) if every_step else ()), None]:
            picture = viz.draw(recording, step, index, show=DETAILS)
            found += [picture.dot, picture.text()]
    return "\n".join(found)


def open_everywhere(recording: Recording, folder: Path) -> str:
    """All of the above; the text of what a user sees."""
    recording = through_a_file(recording, folder)
    every_pane(recording)
    return "\n".join([printed(recording), *stepped(recording), drawn(recording, every_step=True)])

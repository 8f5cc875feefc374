"""The trace as JSON, for programs: a recording, or one step of it.

The data follows `microtape.recording.model.model`, field by field. An array is `{"shape", "dtype", "data"}` with nested
lists; an array too large to keep is `{"summary": {...}}`. Numbers that JSON lacks are the strings "nan", "inf" and
"-inf"; a complex number is `[real, imaginary]`. Indices and ids count from 0. A step's `sentence` says what it did.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from microtape.recording.findings import findings
from microtape.recording.model.model import Recording, Summary, Value
from microtape.recording.model.source import expression
from microtape.recording.model.summary import summarize
from microtape.recording.tables.columns import Table
from tui.shell.progress import REPORT_EVERY
from tui.shell.spans import plain
from tui.time.arrays import arrays_of
from tui.time.box_layout import HEIGHT
from tui.time.box_picture import BoxPicture, operands_of
from tui.time.calls import CallCursor
from tui.time.cursor import StepCursor
from tui.time.listing import FoldedTape, GroupRow
from tui.time.source import place_of
from tui.words.functions.contract import contract_at
from tui.words.functions.inside import InsideWords
from tui.words.pane_texts import PaneTexts
from tui.words.passes import PassOf, compare, list_passes
from tui.words.sentence import computed, sentence
from tui.words.time_marks import Mark
from tui.words.why import answer_lines, subject_or_tensor

FORMAT = {"format": "microtape trace", "version": 1}


def as_json(
    recording: Recording,
    passes: Iterable[int] | None = None,
    progress: Callable[[str], None] = lambda text: None,
    *,
    into: bool = False,
) -> dict[str, Any]:
    """The recording as JSON-ready data, with the passes at these indices (None: all).

    With `into`, each step has what ran inside of the user's functions.
    `progress` is called repeatedly with a text; an exception from it ends the work.
    """
    chosen = []
    for position in range(len(recording.passes)) if passes is None else passes:
        one = recording.passes[position]
        cursor = StepCursor.after(recording, 0, position)
        steps = []
        for done in range(len(one.steps)):
            if done % REPORT_EVERY == 0:
                progress(f"{done:,} of {len(one.steps):,} steps")
            steps.append({**_step(cursor.move(done + 1)), **_inside(cursor.move(done + 1), into)})
        chosen.append({**as_plain(one._replace(steps=())), "steps": steps})
    return {
        **FORMAT,
        "title": recording.title,
        "findings": as_plain(findings(recording)),
        "nodes": as_plain(recording.nodes),
        "tensors": as_plain(recording.tensors),
        "passes": chosen,
        "functions": as_plain(recording.functions),
        "checks": as_plain(recording.checks),
        "jacobians": as_plain(recording.jacobians),
        "courses": as_plain(recording.courses),
        "sources": dict(recording.sources),
        "error": as_plain(recording.error),
        "notes": list(recording.notes),
    }


def step_as_json(cursor: StepCursor, *, into: bool = False) -> dict[str, Any]:
    """One moment: the step or operation with its node, the engine's queues, every leaf, and the texts of the panes."""
    words = PaneTexts(cursor, 200, limit=None)
    leaves = [cursor.leaf(tensor) for tensor in cursor.timeline.collectors]
    return {
        **FORMAT,
        "title": cursor.recording.title,
        "pass": cursor.timeline.pass_.index if cursor.timeline.pass_ else None,
        "operations_done": min(cursor.position, len(cursor.timeline.forward)),
        "steps_done": cursor.steps_done,
        "node": as_plain(cursor.timeline.node(cursor.node)) if cursor.node is not None else None,
        "step": _step(cursor) if cursor.step is not None else None,
        "contract": as_plain(contract_at(cursor, cursor.node)) if cursor.node is not None else None,
        "sentence": plain(sentence(cursor)),
        "place": as_plain(place_of(cursor)),
        "expression": expression(cursor.recording, place_of(cursor)),
        "ready": list(cursor.ready),
        "waiting": [
            {
                "node": node,
                "dependencies_left": cursor.dependencies_left(node),
                "buffer": {str(nr): as_plain(total) for nr, total in cursor.buffer(node).items()},
            }
            for node in cursor.waiting
        ],
        "words": {
            "node": [plain(spans) for spans in words.node()],
            "leaves": [plain(spans) for spans in words.leaves()],
            "engine": [plain(spans) for spans in words.engine()],
        },
        "leaves": [
            {
                "tensor": leaf.tensor,
                "name": cursor.tensor_label(leaf.tensor),
                "state": leaf.state,
                "arrived": leaf.arrived,
                "expected": leaf.expected,
                "total": as_plain(leaf.total),
                "grad": as_plain(leaf.grad),
            }
            for leaf in leaves
        ],
        **_inside(cursor, into),
    }


def _inside(cursor: StepCursor, into: bool) -> dict[str, Any]:
    """The calls of the user's functions in a step, each with the words of its steps; nothing if not asked for."""
    calls = cursor.timeline.calls.get(cursor.position, ())
    return {"inside": [_call(CallCursor(cursor.recording, calls, at)) for at in range(len(calls))]} if into else {}


def _call(cursor: CallCursor) -> dict[str, Any]:
    steps = []
    for position, row in enumerate(InsideWords(cursor, 200).rows):
        here = cursor.to(position)
        inner = here.inner()
        words = f"{row.op} {row.operands}".strip()
        steps.append({
            **as_plain(here.step), "words": f"{words}: {plain(row.result)}",
            "calls": [] if inner is None else [_call(inner)],
        })  # fmt: skip
    return {**as_plain(cursor.call._replace(steps=())), "steps": steps}


def forward_as_json(cursor: StepCursor, *, into: bool = False) -> dict[str, Any]:
    """Every operation before a pass, in order, with its sentence."""
    end = cursor.to_moment(len(cursor.timeline.forward))
    operations = [
        {"node": node, "sentence": plain(computed(end, node)), **_inside(end.to_moment(moment), into)}
        for moment, node in enumerate(cursor.timeline.forward, 1)
    ]
    return {**FORMAT, "operations": operations}


def boxes_as_json(cursor: StepCursor) -> dict[str, Any]:
    """The boxes of the graph: each node with its place in characters, state, value, gradient and operands."""
    picture = BoxPicture(cursor.timeline)
    picture.follow(cursor)
    operands = operands_of(cursor.timeline, picture.shown)
    boxes = [
        {
            **picture.layout.boxes[node]._asdict(),
            "height": HEIGHT,
            "label": cursor.recording.label(node),
            "op": cursor.timeline.node(node).op,
            "state": cursor.state(node),
            "delivered": node in cursor.delivered_to,
            "value": as_plain(cursor.value(node)),
            "gradient": as_plain(cursor.gradient(node)),
            "operands": list(operands[node]),
        }
        for node in picture.shown
    ]
    return {**FORMAT, "steps_done": cursor.steps_done, "of": len(cursor.timeline.rows), "boxes": boxes}


def marks_as_json(cursor: StepCursor, marks: Iterable[Mark]) -> dict[str, Any]:
    """Marked moments, each given by the number of operations and backward steps done."""
    start = len(cursor.timeline.forward)
    found = [
        {"operations": min(one.moment, start), "steps": max(one.moment - start, 0), "node": one.node,
         "what": one.what, "about": one.about}
        for one in marks
    ]  # fmt: skip
    return {**FORMAT, "marks": found}


def rows_as_json(cursor: StepCursor, nodes: Collection[int]) -> dict[str, Any]:
    """The found nodes, in tape order."""
    found = [as_plain(cursor.timeline.node(node)) for node in cursor.timeline.rows if node in nodes]
    return {**FORMAT, "nodes": found, "of": len(cursor.timeline.rows)}


def folds_as_json(cursor: StepCursor) -> dict[str, Any]:
    """The rows of the folded tape: the id of a node, or a fold with its nodes."""
    rows: list[Any] = [
        {"fold": one.group.title, "nodes": list(one.nodes)} if isinstance(one, GroupRow) else one
        for one in FoldedTape(cursor.timeline).listing((), None).entries
    ]
    return {**FORMAT, "rows": rows}


def arrays_as_json(cursor: StepCursor, node: int) -> dict[str, Any]:
    """The arrays of a node at a moment, each with its name."""
    arrays = [{"name": name, "value": as_plain(value), **_about(value)} for name, value in arrays_of(cursor, node)]
    return {**FORMAT, "node": node, "steps_done": cursor.steps_done, "arrays": arrays}


def answer_as_json(cursor: StepCursor, text: str) -> dict[str, Any]:
    """Why a gradient has its value: its terms with their senders, and the answer in words.

    Raises:
        LookupError: the text names nothing; the message is for the user.
    """
    about = subject_or_tensor(cursor, text)
    words = [plain(spans) for spans in answer_lines(cursor, text)]
    if isinstance(about, int):
        return {**FORMAT, "tensor": about, "gradient": None, "terms": [], "words": words}
    terms = [{"step": one.step, "node": one.sender, "term": as_plain(one.term)} for one in cursor.arrived(about.node)]
    return {
        **FORMAT,
        "node": about.node,
        "index": list(about.index) if about.index is not None else None,
        "gradient": as_plain(cursor.gradient(about.node)),
        "terms": terms,
        "words": words,
    }


def passes_as_json(recording: Recording) -> dict[str, Any]:
    """The list of passes."""
    return {**FORMAT, "title": recording.title, "passes": [asdict(one) for one in list_passes(recording)]}


def courses_as_json(recording: Recording) -> dict[str, Any]:
    """The course of training at each recorded pass."""
    return {**FORMAT, "title": recording.title, "courses": as_plain(recording.courses)}


def comparison_as_json(first: PassOf, second: PassOf) -> dict[str, Any]:
    """Two passes side by side."""
    pairs = [
        {
            "name": plain(one.name),
            "node": one.node,
            "first": as_plain(one.first),
            "second": as_plain(one.second),
            "difference": as_plain(one.difference),
            "verdict": one.verdict(),
        }
        for one in compare(first, second)
    ]
    numbers = [one.record.index for one in (first, second)]
    return {**FORMAT, "title": first.recording.title, "passes": numbers, "pairs": pairs}


def _about(value: Value) -> dict[str, Any]:
    """The statistics and the histogram of an array whose elements were kept."""
    return {} if isinstance(value, Summary) else {"summary": as_plain(summarize(value))["summary"]}


def _step(cursor: StepCursor) -> dict[str, Any]:
    return {**as_plain(cursor.step), "sentence": plain(sentence(cursor))}


def as_plain(x: Any) -> Any:
    """Convert named tuples to dicts, arrays to nested lists, and other values to JSON types."""
    if isinstance(x, Summary):
        return {"summary": {name: as_plain(value) for name, value in zip(x._fields, x, strict=True)}}
    if isinstance(x, np.ndarray):
        data = x.tolist()
        is_plain = x.dtype.kind in "biu" or (x.dtype.kind == "f" and bool(np.isfinite(x).all()))
        return {"shape": list(x.shape), "dtype": str(x.dtype), "data": data if is_plain else as_plain(data)}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return {name.rstrip("_"): as_plain(value) for name, value in zip(x._fields, x, strict=True)}
    if isinstance(x, Mapping):
        return {str(key): as_plain(value) for key, value in x.items()}
    if isinstance(x, list | tuple | Table):
        return [as_plain(value) for value in x]
    if isinstance(x, complex):
        return [as_plain(x.real), as_plain(x.imag)]
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    return x

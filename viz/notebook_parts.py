"""Pictures in a notebook of what is in a recording, and of tensors. A function that returns None leaves it to the text.

A pass or a node of a recording does not know the recording: it is looked for in the notebook's variables.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from microtape import Tensor
from microtape.basics.call_site import ipython_shell
from microtape.errors import InPlaceError
from microtape.recording.engines import snapshot
from microtape.recording.model.displayed import Displayed, recording_of
from microtape.recording.model.model import NodeRecord, Pass, Recording
from microtape.tape.node import Node
from viz.basics.errors import DrawError
from viz.drawing import Drawing, draw
from viz.notebook import bundle

MOST_NODES = 100  # of a tensor's graph: a value is looked at more often than its history


def show_pass(pass_: Pass) -> dict[str, str] | None:
    """A film of the pass."""

    def index(recording: Recording) -> int | None:
        return next((number for number, one in enumerate(recording.passes) if one.steps is pass_.steps), None)

    for recording in _recordings():
        if (number := index(recording)) is not None:
            return {**bundle(recording, number), "text/plain": repr(pass_)}
    return None


def show_record(node: NodeRecord) -> dict[str, str] | None:
    """The node and its neighbourhood, in the first pass that evaluates it."""
    for recording in _recordings():
        if node.id < len(recording.nodes) and recording.nodes[node.id] == node:
            return _neighbourhood(recording, node)
    return None


def _neighbourhood(recording: Recording, node: NodeRecord) -> dict[str, str] | None:
    passes = (number for number, one in enumerate(recording.passes) if node.id in one.nodes)
    which = next(passes, 0)
    return _picture(lambda: draw(recording, pass_index=which, around=node.id, radius=1), node)


def show_tensor(tensor: Tensor) -> dict[str, str] | None:
    """The value and, if it has a history, its graph."""
    with contextlib.suppress(InPlaceError):  # a view that another write has made invalid does not tell its history
        if tensor.grad_fn is not None:
            return _live(tensor)
    return None


def show_node(node: Node) -> dict[str, str] | None:
    """The graph that backward would visit from there."""
    return _live(node)


def _live(x: Tensor | Node) -> dict[str, str] | None:
    cell = _cell()
    if cell is None:
        return None
    graph = snapshot([x], cell)
    return _picture(lambda: draw(graph), x) if len(graph.nodes) <= MOST_NODES else None


def _picture(make: Callable[[], Drawing], of: object) -> dict[str, str] | None:
    try:
        return {"image/svg+xml": make().svg(), "text/plain": repr(of)}
    except DrawError:
        return None


def _recordings() -> Iterator[Recording]:
    """The recordings in the notebook's variables, the newest first."""
    for value in reversed(list(_variables().values())):
        if isinstance(value, Displayed):
            yield recording_of(value)


def _variables() -> dict[str, Any]:
    shell = ipython_shell()
    return {} if shell is None else shell.user_ns


def _cell() -> FrameType | None:
    """The frame of the cell that displays something: tensors have the names of its variables."""
    variables = _variables()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals is not variables:
        frame = frame.f_back
    return frame

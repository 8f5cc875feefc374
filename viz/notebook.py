"""Shows recordings, what is in them, and tensors in a notebook, as films and pictures. Importing `viz` installs this.

The engine knows nothing of notebooks. Notebooks ask an object's class for `_repr_mimebundle_`, so no notebook software
is needed here. A class whose method returns None is shown as text.

A pass or a node of a recording does not know the recording: it is looked for in the notebook's variables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from microtape import Tensor
from microtape.recording.engines import ProgramRecorder, snapshot
from microtape.recording.model.model import NodeRecord, Pass, Recording
from microtape.recording.writing.recorder import Recorder
from microtape.tape.node import Node
from viz.basics.errors import DrawError, GraphvizError
from viz.drawing import Drawing, draw
from viz.films.film import Film

MOST_STEPS = 400  # of a film: the notebook's file stores all of it
MOST_NODES = 100  # of a tensor's graph: a value is looked at more often than its history


def install() -> None:
    """Make recordings, what is in them, the `r` of `with microtape.record() as r`, and tensors display themselves."""
    Recording._repr_mimebundle_ = _mimebundle  # type: ignore[attr-defined]
    Recorder._repr_mimebundle_ = _recorder_mimebundle  # type: ignore[attr-defined]
    ProgramRecorder._repr_mimebundle_ = _recorder_mimebundle  # type: ignore[attr-defined]
    Pass._repr_mimebundle_ = _pass_mimebundle  # type: ignore[attr-defined]
    NodeRecord._repr_mimebundle_ = _record_mimebundle  # type: ignore[attr-defined]
    Tensor._repr_mimebundle_ = _tensor_mimebundle  # type: ignore[attr-defined]
    Node._repr_mimebundle_ = _node_mimebundle  # type: ignore[attr-defined]


def _mimebundle(recording: Recording, include: object = None, exclude: object = None) -> dict[str, str]:
    return bundle(recording)


def _recorder_mimebundle(
    recorder: Recorder | ProgramRecorder, include: object = None, exclude: object = None
) -> dict[str, str]:
    return bundle(recorder.recording)


def bundle(recording: Recording, pass_index: int | None = None, **film: Any) -> dict[str, str]:
    """A film of the recording; if that is too long, a film of one pass; if that is too long too, a picture.

    Args:
        recording: what to show.
        pass_index: the pass to show. None: all; where that is too much, the one that failed, or the first.
        film: further fields of the Film.
    """
    plain = repr(recording)
    one = _most_interesting(recording) if pass_index is None else pass_index
    for passes in dict.fromkeys((pass_index, one)):
        try:
            made = Film(recording, pass_index=passes, most_steps=MOST_STEPS, **film)
            return {**made._repr_mimebundle_(), "text/plain": plain}
        except GraphvizError as error:
            return {"text/plain": f"{plain}\n({error})"}
        except DrawError:
            continue  # too long, or nothing to play
    try:
        return {"image/svg+xml": draw(recording, pass_index=one).svg(), "text/plain": plain}
    except DrawError as error:
        return {"text/plain": f"{plain}\n({error})"}


def _most_interesting(recording: Recording) -> int:
    """The pass that failed, else the first."""
    return next((number for number, one in enumerate(recording.passes) if one.has_failed), 0)


def _pass_mimebundle(pass_: Pass, include: object = None, exclude: object = None) -> dict[str, str] | None:
    """A film of the pass."""

    def index(recording: Recording) -> int | None:
        return next((number for number, one in enumerate(recording.passes) if one.steps is pass_.steps), None)

    for recording in _recordings():
        if (number := index(recording)) is not None:
            return {**bundle(recording, number), "text/plain": repr(pass_)}
    return None


def _record_mimebundle(node: NodeRecord, include: object = None, exclude: object = None) -> dict[str, str] | None:
    """The node and its neighbourhood, in the first pass that evaluates it."""
    for recording in _recordings():
        if node.id < len(recording.nodes) and recording.nodes[node.id] == node:
            return _neighbourhood(recording, node)
    return None


def _neighbourhood(recording: Recording, node: NodeRecord) -> dict[str, str] | None:
    passes = (number for number, one in enumerate(recording.passes) if node.id in one.nodes)
    which = next(passes, 0)
    return _picture(lambda: draw(recording, pass_index=which, around=node.id, radius=1), node)


def _tensor_mimebundle(tensor: Tensor, include: object = None, exclude: object = None) -> dict[str, str] | None:
    """The value and, if it has a history, its graph."""
    return None if tensor.grad_fn is None else _live(tensor)


def _node_mimebundle(node: Node, include: object = None, exclude: object = None) -> dict[str, str] | None:
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
        if isinstance(value, Recording):
            yield value
        elif isinstance(value, Recorder | ProgramRecorder):
            yield value.recording


def _variables() -> dict[str, Any]:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return {} if shell is None else shell.user_ns


def _cell() -> FrameType | None:
    """The frame of the cell that displays something: tensors have the names of its variables."""
    variables = _variables()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals is not variables:
        frame = frame.f_back
    return frame

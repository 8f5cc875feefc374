"""Finds the calls that a node's insides consist of, and walks through their steps in the order of time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from microtape.recording.model.calls import CallRecord, CallStep, FunctionRecord
from microtape.recording.model.model import Recording
from viz.basics.characters import visible
from viz.basics.errors import DrawError
from viz.basics.options import NODE, as_whole_number
from viz.planning.display_names import NAME_WIDTH

MOST_NAMES = 8  # in an error message


@dataclass(frozen=True, eq=False, slots=True)
class InnerStep:
    """A step of one of the calls."""

    number: int  # counted over all calls
    call: CallRecord
    step: CallStep
    path: tuple[CallRecord, ...]  # the calls around it, from the outermost to its own
    left_out: int = 0  # how many steps that were not recorded come before it


@dataclass(frozen=True, eq=False, slots=True)
class Insides:
    """The calls that ran inside of a node, or all calls of one function."""

    recording: Recording
    pass_index: int
    node: int | None
    name: str  # for the heading, where there is no node
    calls: tuple[CallRecord, ...]  # the outermost
    steps: tuple[InnerStep, ...]

    @property
    def function(self) -> FunctionRecord | None:
        """The contract of the node's call, if the node is a custom Function's."""
        return function_of(self.recording, self.node)


def function_of(recording: Recording, node: int | None) -> FunctionRecord | None:
    """The contract of the Function's call that recorded this node."""
    return next((one for one in recording.functions if one.node == node), None)


def find_insides(recording: Recording, into: int | str, pass_index: int) -> Insides:
    """What ran inside of a node in the program and in that pass: its number, its name, its operation, or a function.

    Raises:
        DrawError: there is no such node, nothing of the user's ran inside of it, or the recording does not know.
    """
    during = {None, recording.passes[pass_index].index if recording.passes else None}
    here = [one for one in recording.calls if one.pass_ in during]
    node, name = None, ""
    if not recording.calls:
        raise DrawError(_nothing_recorded(recording))
    if isinstance(into, str) and not into.removeprefix("%").isdecimal():
        node = _named(recording, into, here)
        name = "" if node is not None else into
    else:
        node = as_whole_number("into", int(into.removeprefix("%")) if isinstance(into, str) else into, NODE)
        if not 0 <= node < len(recording.nodes):
            last = len(recording.nodes) - 1
            raise DrawError(f"there is no node %{node}: the recording has nodes %0 to %{last}; {_takes(recording)}")
    of = [one for one in here if (one.node == node if node is not None else name in _names(one))]
    if not of:
        raise DrawError(_nothing_inside(recording, node, name))
    chosen = {one.id for one in of}
    outermost = tuple(one for one in of if not chosen & set(_around(recording, one)))
    steps = [one for call in outermost for one in _walk(recording, call, ())]
    numbered = (InnerStep(number, *one) for number, one in enumerate(steps))
    return Insides(recording, pass_index, node, name, outermost, tuple(numbered))


def find_passes(recording: Recording, into: int | str, asked: int | Collection[int] | None) -> Sequence[int]:
    """The passes whose insides to show: those that were asked for, else those during which something ran in there."""
    if asked is not None:
        return list(asked) if isinstance(asked, Collection) else [asked]
    found = []
    for number in range(len(recording.passes)):
        with suppress(DrawError):
            insides = find_insides(recording, into, number)
            if any(one.pass_ is not None for one in insides.calls):
                found.append(number)
    return found or [0]


def _walk(
    recording: Recording, call: CallRecord, path: tuple[CallRecord, ...]
) -> Iterator[tuple[CallRecord, CallStep, tuple[CallRecord, ...], int]]:
    """The steps of a call, with those of the calls in it; a step that is such a call gives way to them."""
    path = (*path, call)
    for at, step in enumerate(call.steps):
        inner = recording.calls[step.inner] if step.kind == "call" and step.inner is not None else None
        if inner is not None and inner.outer == call.id and inner.id > call.id and inner.steps:
            yield from _walk(recording, inner, path)
        else:
            yield call, step, path, call.left_out if at == call.left_out_at else 0


def _around(recording: Recording, call: CallRecord) -> list[int]:
    """The calls during which this call ran."""
    found: list[int] = []
    while call.outer is not None and call.outer < call.id:
        call = recording.calls[call.outer]
        found.append(call.id)
    return found


def _named(recording: Recording, into: str, calls: Sequence[CallRecord]) -> int | None:
    """The last node of that name in which something ran; None if it is the name of a function that ran.

    Raises:
        DrawError: it is neither.
    """
    inside = {one.node for one in calls if one.node is not None}
    for names in (_variables, lambda recording, node: (recording.nodes[node].op,)):
        found = [node for node in sorted(inside) if into in names(recording, node)]
        if found:
            return found[-1]
    if any(into in _names(one) for one in calls):
        return None
    every = [node.id for node in recording.nodes if into in _variables(recording, node.id)]
    if every:
        raise DrawError(_nothing_inside(recording, every[-1], into))
    if any(into in _names(one) for one in recording.calls):
        raise DrawError(_nothing_inside(recording, None, into))
    raise DrawError(f"no node and no function of yours is called {visible(into, 40)!r}: {_takes(recording)}")


def _variables(recording: Recording, node_id: int) -> Collection[str]:
    node = recording.nodes[node_id]
    if node.variable is not None:
        return recording.tensors[node.variable].names
    return [name for ref in node.outputs if ref is not None for name in recording.tensors[ref.tensor].names]


def _names(call: CallRecord) -> tuple[str, str]:
    """`Clip.backward`, and the name without what is around the function."""
    return call.name, call.name.rpartition("<locals>.")[2]


def _nothing_recorded(recording: Recording) -> str:
    if recording.options.get("snapshot"):
        return (
            "the graph of a tensor does not tell what ran inside of a node: record the program, with microtape.record()"
        )
    if any(node.kind == "function" for node in recording.nodes):
        return (
            "this recording does not tell what ran inside of its Functions, as an older one: record the program again"
        )
    return "there is no inside to draw: no Function, hook or checkpoint of yours ran in this program"


def _nothing_inside(recording: Recording, node: int | None, name: str) -> str:
    what = f"%{node} {visible(recording.label(node), NAME_WIDTH)}" if node is not None else visible(name, NAME_WIDTH)
    what = f"%{node}" if node is not None and what.endswith(f"%{node}") else what
    passes = [one.pass_ for one in recording.calls if (one.node == node if node is not None else name in _names(one))]
    elsewhere = sorted({one + 1 for one in passes if one is not None})
    if elsewhere:
        where = f"in pass {elsewhere[0]}, which pass_index= chooses"
        return f"nothing of yours ran inside of {what} in this pass, but {where}"
    return f"nothing of yours ran inside of {what}: {_takes(recording)}"


def _takes(recording: Recording) -> str:
    """What `into` takes, as examples from the recording."""
    inside: dict[int, dict[str, None]] = {}
    for one in recording.calls:
        if one.node is not None:
            inside.setdefault(one.node, {})[visible(_names(one)[1].partition(".")[0], NAME_WIDTH)] = None
    labels = {node: visible(recording.label(node).partition(", ")[0], NAME_WIDTH) for node in sorted(inside)}
    found = [f'"{label}" ({", ".join(inside[node])})' for node, label in labels.items()]
    return f"into= takes {', '.join(found[:MOST_NAMES])}" if found else "no node has an inside"

"""A recording that grows with each pass: every addition holds what is new, in the numbers of the whole recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from microtape.recording.model.model import (
    AliasUseRecord,
    BorderRecord,
    CallRecord,
    CourseRecord,
    FiniteDifferences,
    FreedRecord,
    FunctionRecord,
    JacobianCheck,
    NodeRecord,
    Pass,
    Recording,
    ScopeRecord,
    TensorRecord,
    UpdateRecord,
    Value,
)


class GrowingRecording:
    """The records so far. Adding takes time in proportion to what is added."""

    def __init__(self) -> None:
        self._nodes: list[NodeRecord] = []
        self._tensors: list[TensorRecord] = []
        self._passes: list[Pass] = []
        self._scopes: list[ScopeRecord] = []
        self._title = ""
        self._sources: dict[str, str] = {}
        self._notes: tuple[str, ...] = ()
        self._options: dict[str, object] = {}
        self._borders: list[BorderRecord] = []
        self._checks: list[FiniteDifferences] = []
        self._jacobians: list[JacobianCheck] = []
        self._updates: dict[UpdateRecord, None] = {}  # two additions may know of the same one
        self._alias_uses: dict[AliasUseRecord, None] = {}
        self._functions: list[FunctionRecord] = []
        self._calls: list[CallRecord] = []
        self._courses: list[CourseRecord] = []
        self._freed: list[int] = []
        self._freed_by: dict[int, FreedRecord] = {}

    def add(self, more: Recording) -> None:
        """Add an addition: new records, and those of known tensors as they are now, with the values that are new."""
        known = len(self._tensors)
        self._nodes += more.nodes
        for one in more.tensors:
            if 0 <= one.id < known:
                self._tensors[one.id] = _merged(self._tensors[one.id], one)
            else:
                self._tensors.append(one._replace(values=dict(one.values)))
        self._passes += more.passes
        self._scopes += more.scopes
        self._title = more.title or self._title
        self._sources |= more.sources
        self._notes = more.notes or self._notes  # each addition has all notes so far
        self._options |= more.options
        self._borders += more.borders
        self._checks += more.checks
        self._jacobians += more.jacobians
        self._updates |= dict.fromkeys(more.updates)
        self._alias_uses |= dict.fromkeys(more.alias_uses)
        self._functions += more.functions
        self._calls += more.calls
        self._courses += more.courses
        self._freed += more.freed
        for freed in more.freed_by:
            self._freed_by.setdefault(freed.node, freed)

    def recording(self) -> Recording:
        """The whole recording."""
        return Recording(
            title=self._title, sources=self._sources, notes=self._notes, options=self._options,
            nodes=tuple(self._nodes), tensors=tuple(self._tensors), passes=_with_made(self._passes, self._nodes),
            scopes=tuple(self._scopes),
            borders=tuple(self._borders), checks=tuple(self._checks), updates=tuple(self._updates),
            freed=tuple(self._freed), freed_by=tuple(self._freed_by.values()), functions=tuple(self._functions),
            calls=tuple(self._calls), jacobians=tuple(self._jacobians), courses=tuple(self._courses),
            alias_uses=tuple(self._alias_uses),
        )  # fmt: skip


def _with_made(passes: Sequence[Pass], nodes: Sequence[NodeRecord]) -> tuple[Pass, ...]:
    """The passes, with the nodes that their steps have made. Some are known only when a later pass reaches them."""
    made: dict[int, dict[int, list[int]]] = {}  # pass -> node -> what it has made there
    for node in nodes:
        if node.made_by is not None and node.pass_ is not None:
            made.setdefault(node.pass_, {}).setdefault(node.made_by, []).append(node.id)
    return tuple([_with_made_in(one, made[one.index]) if one.index in made else one for one in passes])


def _with_made_in(pass_: Pass, made: Mapping[int, Sequence[int]]) -> Pass:
    steps = [step._replace(made=tuple(made.get(step.node, ()))) for step in pass_.steps]
    return pass_._replace(steps=tuple(steps))


def _merged(before: TensorRecord, now: TensorRecord) -> TensorRecord:
    """A tensor of which an addition knows more: its names and values, and all else as it is now.

    NB: a leaf has a value for each pass, so they are added to those before in place.
    """
    values = cast("dict[int, Value]", before.values)
    for version, value in now.values.items():
        values.setdefault(version, value)
    return now._replace(
        names=tuple(dict.fromkeys((*before.names, *now.names))),
        node=now.node if now.node is not None else before.node,
        base=before.base if before.base is not None else now.base,
        values=values,
    )

"""Graphs that grow from pass to pass, because something carries the old graph along."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np

from microtape.recording.findings.failing.carried import detached
from microtape.recording.findings.failing.order import recorded_between
from microtape.recording.findings.finding import Finding, Severity
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, count, headline
from microtape.recording.model.model import Pass

_FEWEST = 5  # passes whose graphs hang together, where no pass goes through them: fewer may be the steps of one update


def growing_graphs(program: Program) -> Iterator[Finding]:
    """A finding if the graph of one pass hangs on the graphs of earlier ones, and longer each time."""
    retained = _evaluated_again(program)
    if retained is not None:
        yield retained
        return
    kept = _kept(program)
    if kept is not None:
        yield kept


def _evaluated_again(program: Program) -> Finding | None:
    """A pass that goes through operations which one from its line has gone through, and through new ones built on them.

    Passes from two lines may be those of two losses that share a forward.
    """
    last: dict[object, Pass] = {}  # by line
    for after, new in enumerate(program.recording.passes):
        old, last[new.place] = last.get(new.place), new
        if old is None or not old.retain_graph or not new.is_complete or old.kind != "backward":
            continue
        again = [node for node in set(old.nodes) & set(new.nodes) if program.node(node).variable is None]
        ways = _carried_on(program, old, new) if again else []
        if ways:
            return _finding(program, after, ways, (
                f"{program.pass_name(after).capitalize()} evaluates {count(len(again), 'operation')} of "
                f"pass {old.index + 1} again, and {count(len(new.nodes) - len(again), 'node')} that are new.",
                f"retain_graph=True at {at(old.place)} keeps them: each pass takes longer and adds old gradients anew.",
            ), old)  # fmt: skip
    return None


def crossings(program: Program, old: Pass, new: Pass) -> Iterator[tuple[int, int]]:
    """Operations of the new pass that were recorded after the old one, each with a result of the old one that it uses.

    That may be a view of such a result, which the old pass did not need: the state that an RNN hands on.
    """
    hanging = {one for one in old.nodes if program.node(one).variable is None}
    for number in new.nodes:
        node = program.node(number)
        used = [edge.node for edge in node.edges if edge.node is not None and edge.node in hanging]
        if not used or node.pass_ is not None:
            continue
        if recorded_between(program, number, old, new):
            yield from ((number, one) for one in dict.fromkeys(used))
        else:
            hanging.add(number)


def _carried_on(program: Program, old: Pass, new: Pass) -> list[tuple[int, int]]:
    """The crossings to results made of a leaf that what came after the old pass uses, too, as an RNN's next step does.

    Else several passes go on from one forward: the rows of a Jacobian, or the heads of several tasks.
    """
    ways = list(crossings(program, old, new))
    later = [number for number in new.nodes if recorded_between(program, number, old, new)] if ways else []
    used = {edge.node for number in later for edge in program.node(number).edges if edge.node is not None}
    leaves = {one for one in used if program.node(one).variable is not None}
    is_made_of_them = {one: not leaves.isdisjoint(_behind(program, one)) for one in {result for _, result in ways}}
    return [way for way in ways if is_made_of_them[way[1]]]


def _behind(program: Program, node: int) -> set[int]:
    """All nodes to which gradients go from a node."""
    found, waiting = {node}, [node]
    while waiting:
        receivers = {edge.node for edge in program.node(waiting.pop()).edges if edge.node is not None} - found
        found |= receivers
        waiting += receivers
    return found


def _starts(program: Program) -> list[int]:
    """Where on the tape each pass began after which leaves were updated; each one of `backward`, if none was.

    The passes of one update may be steps towards it, as in meta-learning, whose graphs are freed together.
    """
    passes = program.recording.passes
    updates = sorted({one.passes for one in program.recording.updates})
    if not updates:
        return [one.tape for one in passes if one.kind == "backward"]
    before = [bisect_right(updates, one.index) for one in passes]
    return [one.tape for one, i, j in zip(passes, before, before[1:], strict=False) if i < j]


def _kept(program: Program) -> Finding | None:
    """Operations of many passes that hang together, and that no pass goes through as a whole."""
    passes, nodes = program.recording.passes, program.recording.nodes
    if len(passes) < _FEWEST:
        return None
    inner = ~program.is_leaf[program.uses.node]
    users, used = program.uses.user[inner], program.uses.node[inner]
    starts = _starts(program)
    crosses = np.searchsorted(starts, used, "right") < np.searchsorted(starts, users, "right")
    if np.count_nonzero(crosses) < _FEWEST:
        return None
    depth = [0] * len(nodes)  # how many passes lie between a node and the oldest that it hangs on
    deepest, way = 0, (0, 0)
    for user, node, further in zip(users.tolist(), used.tolist(), crosses.tolist(), strict=True):
        if depth[node] + further > depth[user]:
            depth[user] = depth[node] + further
            if further and depth[user] > deepest:
                deepest, way = depth[user], (user, node)
    last = passes[-1]
    if deepest < _FEWEST or way[0] in last.nodes:
        return None
    return _finding(program, program.pass_after(way[0]), [way], (
        f"What {at(nodes[way[0]].place)} computes hangs on the graphs of {deepest:,} passes, and no backward "
        "goes through it: none of them can be freed.",
        "Memory grows with every pass.",
    ), None)  # fmt: skip


def _finding(
    program: Program, position: int | None, ways: Sequence[tuple[int, int]], lines: tuple[str, ...],
    retained: Pass | None,
) -> Finding:  # fmt: skip
    user, used = map(program.node, ways[0])
    name = program.name(used.id)
    severity: Severity = "warning" if program.updated else "notice"
    text = headline(
        f"The graph grows from pass to pass: {at(user.place)} uses {name} of the pass before",
        f"The graph grows from pass to pass, through {at(user.place)}",
    )
    others = (("retained", retained.place),) if retained is not None and retained.place is not None else ()
    remedy = f"Cut the old graph off: {detached(program, [old for _, old in ways])}."
    return Finding(
        "growing graph", severity, text, lines, remedy, user.place, position, None, user.id, program.tensor_of(user),
        others,
    )  # fmt: skip

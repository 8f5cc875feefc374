"""A backward pass that an engine of the user's own tells step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from microtape.recording.model.model import (
    BackwardStep,
    Delivery,
    EdgeRecord,
    NodeRecord,
    Pass,
    Place,
    TensorRef,
    Value,
)


class _Kept(NamedTuple):
    """A leaf whose `.grad` has changed."""

    node: int
    gradient: Value | None
    before: Value | None
    after: Value


class WrittenPass:
    """A backward pass that has begun, as its engine tells it; `RecordingWriter` has the calls."""

    def __init__(
        self,
        index: int,
        place: Place | None,
        root: int,
        ref: TensorRef,
        seed: Value,
        nodes: Sequence[NodeRecord],
        grads: dict[int, Value],
    ) -> None:
        self.index, self.place, self.root, self.ref, self.seed, self.grads = index, place, root, ref, seed, grads
        self.tape = nodes
        self.length = len(nodes)
        self.dependencies = _dependencies(nodes, root)
        self.left = Counter(self.dependencies)
        self.sums: dict[int, Value] = {root: seed}
        self.steps: list[BackwardStep] = []
        self.node: int | None = None
        self.gradient: Value | None = None
        self.deliveries: dict[int, Delivery] = {}  # by edge
        self.kept: list[_Kept] = []  # while the node runs

    def start(self, node: int, gradient: Value) -> None:
        """A row runs, and takes this gradient."""
        self.stop()
        self.node, self.gradient = node, gradient

    def deliver(self, node: int, term: Value, total: Value) -> None:
        """Raises LookupError if no edge of the running node is left that leads there."""
        edges = self.tape[self.node].edges if self.node is not None else ()
        output = next((i for i, one in enumerate(edges) if one.node == node and i not in self.deliveries), None)
        if output is None:
            raise LookupError(node)
        self.left[node] = max(self.left[node] - 1, 0)
        before = self.sums.get(node)
        self.sums[node] = total
        self.deliveries[output] = Delivery(output, node, 0, term, before, total, self.left[node])

    def keep(self, node: int, before: Value | None, after: Value) -> None:
        """A leaf's own step. It comes after that of the running node, which may have more to deliver."""
        if self.node == node:
            self.node = None
        self.kept.append(_Kept(node, self.sums.get(node), before, after))
        if self.node is None:
            self.stop()

    def stop(self) -> None:
        """The running node has sent all that it sends."""
        if self.node is not None:
            edges = self.tape[self.node].edges
            sent = tuple(self.deliveries[i].term if i in self.deliveries else None for i in range(len(edges)))
            self._append(self.node, self.gradient, sent=sent, deliveries=tuple(self.deliveries.values()))
        for node, gradient, before, after in self.kept:
            self._append(node, gradient, before=before, after=after)
        self.node, self.deliveries, self.kept = None, {}, []

    def _append(
        self,
        node: int,
        gradient: Value | None,
        *,
        sent: tuple[Value | None, ...] = (),
        deliveries: tuple[Delivery, ...] = (),
        before: Value | None = None,
        after: Value | None = None,
    ) -> None:
        self.steps.append(
            BackwardStep(
                index=len(self.steps),
                node=node,
                grad_outputs=(gradient,),
                saved=(),
                grad_inputs=sent,
                deliveries=deliveries,
                grad_before=before,
                grad_after=after,
                freed=False,
                hooks=(),
                made=(),
                error=None,
            )
        )

    def finish(self) -> Pass:
        """The pass, when it is over."""
        self.stop()
        return Pass(
            index=self.index,
            kind="backward",
            place=self.place,
            roots=(EdgeRecord(self.root, 0),),
            root_tensors=(self.ref,),
            seeds=(self.seed,),
            retain_graph=True,
            create_graph=False,
            captures=(),
            tape=self.length,
            nodes=tuple(sorted(self.dependencies)),
            dependencies=self.dependencies,
            ready=(self.root,),
            grads=self.grads,
            steps=tuple(self.steps),
            error=None,
        )


def _dependencies(nodes: Sequence[NodeRecord], root: int) -> dict[int, int]:
    """For each node behind the root, how many gradients it waits for. The root waits for none."""
    counted = {root: 0}
    waiting = [root]
    while waiting:
        for node, _ in nodes[waiting.pop()].edges:
            if node is not None:
                if node not in counted:
                    counted[node] = 0
                    waiting.append(node)
                counted[node] += 1
    return counted

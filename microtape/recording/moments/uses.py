"""Which node uses which value: a table with one line per use, for the lanes and for the users of a node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from microtape.recording.model.model import NodeRecord
from microtape.recording.tables.columns import NONE
from microtape.recording.tables.fields import are, inside, integers, picked
from microtape.recording.tables.ids import between, small

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Uses:
    """The columns of the table, in tape order of the users. It does not depend on how the tape is listed in rows."""

    nodes: Sequence[NodeRecord] = field(repr=False)
    user: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]  # the node that computes the value
    output: npt.NDArray[np.int64]  # which of its outputs the value is

    @classmethod
    def of(cls, nodes: Sequence[NodeRecord], tape: Sequence[int]) -> Uses:
        """The uses by the nodes with these ids, in tape order."""
        sizes, edges = inside(picked(nodes, tape), "edges")
        node = integers(edges, "node")
        leads = node != NONE
        user = np.repeat(small(np.array(tape, np.int64)), sizes)[leads]
        return cls(nodes, user, small(node[leads]), small(integers(edges, "input_nr")[leads]))

    def with_ends(self, ends: Sequence[Iterable[tuple[int, int]]]) -> Uses:
        """With paths that end beside the tape, each given by the nodes and outputs that it comes from.

        Its end counts as a user, numbered after all nodes.
        """
        found = [(user, value) for user, values in enumerate(ends, len(self.nodes)) for value in values]
        users = np.array([user for user, _ in found], np.int64)
        values = np.array([value for _, value in found], np.int64).reshape(-1, 2)
        return Uses(
            self.nodes,
            small(np.append(self.user, users)),
            small(np.append(self.node, values[:, 0])),
            small(np.append(self.output, values[:, 1])),
        )

    def users_of(self, node: int) -> tuple[int, ...]:
        """The nodes that use a value of this node, in tape order."""
        return tuple(dict.fromkeys(self.of_node(node)))

    def of_node(self, node: int, since: int = 0) -> list[int]:
        """The same, a node as often as it uses one; only those from one node on."""
        users = self.user[self._by_node[between(self._sorted_nodes, node, node + 1)]]
        found: list[int] = (users[between(users, since, len(self.nodes)).start :] if since else users).tolist()
        return found

    @cached_property
    def of_leaf(self) -> npt.NDArray[np.bool_]:
        """Whether each value is a leaf."""
        return are(picked(self.nodes, self.node), "kind", "accumulate")

    @cached_property
    def _by_node(self) -> npt.NDArray[np.int64]:
        return small(np.argsort(self.node, kind="stable"))

    @cached_property
    def _sorted_nodes(self) -> npt.NDArray[np.int64]:
        return self.node[self._by_node]

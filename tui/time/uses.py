"""Which node uses which value: a table with one line per use, for the lanes and for the users of a node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from microtape.recording.model.model import NodeRecord

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Uses:
    """The columns of the table, in tape order of the users. It does not depend on how the tape is listed in rows."""

    user: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]  # the node that computes the value
    output: npt.NDArray[np.int64]  # which of its outputs the value is
    of_leaf: npt.NDArray[np.bool_]  # whether the value is a leaf

    @classmethod
    def of(cls, nodes: Sequence[NodeRecord], tape: Sequence[int]) -> Uses:
        """The uses by the nodes with these ids, in tape order."""
        edges = [nodes[user].edges for user in tape]
        found = list(chain.from_iterable(edges))
        users = np.repeat(np.array(tape, np.int64), np.array(list(map(len, edges)), np.int64))
        leads = np.array([one.node is not None for one in found], bool)
        found = [one for one in found if one.node is not None]
        return cls(users[leads], *_values(nodes, found))

    def with_ends(self, nodes: Sequence[NodeRecord], ends: Sequence[Iterable[tuple[int, int]]]) -> Uses:
        """With paths that end beside the tape, each given by the nodes and outputs that it comes from.

        Its end counts as a user, numbered after all nodes.
        """
        found = [(user, value) for user, values in enumerate(ends, len(nodes)) for value in values]
        node, output, of_leaf = _values(nodes, [value for _, value in found])
        return Uses(
            np.append(self.user, np.array([user for user, _ in found], np.int64)),
            np.append(self.node, node),
            np.append(self.output, output),
            np.append(self.of_leaf, of_leaf),
        )

    def users_of(self, node: int) -> tuple[int, ...]:
        """The nodes that use a value of this node, in tape order."""
        first, stop = np.searchsorted(self._sorted_nodes, (node, node + 1))
        return tuple(dict.fromkeys(self.user[self._by_node[first:stop]].tolist()))

    @cached_property
    def _by_node(self) -> npt.NDArray[np.int64]:
        return np.argsort(self.node, kind="stable")

    @cached_property
    def _sorted_nodes(self) -> npt.NDArray[np.int64]:
        return self.node[self._by_node]


def _values(
    nodes: Sequence[NodeRecord], values: Sequence[tuple[int | None, int]]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The nodes and outputs of these values, and which of the values are leaves."""
    node = [node for node, _ in values]
    of_leaf = [nodes[one].kind == "accumulate" for one in node if one is not None]
    return np.array(node, np.int64), np.array([output for _, output in values], np.int64), np.array(of_leaf, bool)

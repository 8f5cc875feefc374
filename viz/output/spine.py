"""Which arrows Graphviz should draw straight down: those along the longest ways through the graph.

To `dot`, a column of boxes and a staircase are equally good, because the arrows of a staircase are together as long as
one arrow that goes aside. With boxes of open folds around it, a graph often became a staircase with two empty corners.
"""

from __future__ import annotations

from collections import Counter

from viz.basics.graph import VisualGraph

ON_THE_WAY = ("operation", "fold", "seed")


def spine(graph: VisualGraph) -> frozenset[int]:
    """The numbers of the arrows from a box that is used once to the box for which it is the longest way."""
    by_id = {box.id: box for box in graph.boxes if box.kind in ON_THE_WAY}
    ways = [
        (number, arrow)
        for number, arrow in enumerate(graph.arrows)
        if not arrow.aside and arrow.tail in by_id and arrow.head in by_id and arrow.tail != arrow.head
    ]
    uses = Counter(arrow.tail for _, arrow in ways)
    depth = dict.fromkeys(by_id, 0)
    longest: dict[str, list[int]] = {}
    for number, arrow in sorted(ways, key=lambda way: by_id[way[1].head].rank):
        here = depth[arrow.tail] + 1
        if here > depth[arrow.head]:
            depth[arrow.head], longest[arrow.head] = here, []
        if here == depth[arrow.head]:
            longest[arrow.head].append(number)
    alone = [numbers[0] for numbers in longest.values() if len(numbers) == 1]  # of two, neither is the main way
    return frozenset(number for number in alone if uses[graph.arrows[number].tail] == 1)

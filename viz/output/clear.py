"""Keeps arrows away from the names of frames: those are moved to the other corner if fewer arrows run there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from viz.basics.arrangement import Arrangement
from viz.basics.graph import VisualGraph
from viz.output.measure import measure


def clear_names(
    graph: VisualGraph, arrangement: Arrangement, drawn: Callable[[Arrangement], str]
) -> tuple[Arrangement, str]:
    """The arrangement in which fewer arrows run through text, and the SVG that `drawn` makes of it."""
    svg = drawn(arrangement)
    names = any(not cluster.is_column for box in graph.boxes for cluster in box.clusters)
    if not names or not (through := measure(svg).through):
        return arrangement, svg
    other = replace(arrangement, names="right")
    moved = drawn(other)
    return (other, moved) if measure(moved).through < through else (arrangement, svg)

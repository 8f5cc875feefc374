"""Arrows do not run through the names of frames."""

from __future__ import annotations

import pytest

import viz
from tests.support.rendering import needs_graphviz
from tests.viz.gallery.kinds import KINDS, Kind
from viz.basics.arrangement import AS_USUAL, Arrangement
from viz.output.clear import clear_names
from viz.output.measure import measure

SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">
<g class="graph" transform="scale(1 1) translate(4 96)">
<g class="cluster"><text x="{x}" y="-80" font-size="10">block</text></g>
<g class="edge"><path d="M20,-90C20,-80 20,-70 20,-60"/></g>
</g></svg>"""


def _drawn(left: int, right: int) -> tuple[list[str], str]:
    """Which arrangements are drawn if the name is at x=`left` and would be at x=`right`, and which is taken."""
    asked = []

    def drawn(arrangement: Arrangement) -> str:
        asked.append(arrangement.names)
        return SVG.format(x=left if arrangement.names == "left" else right)

    (kind,) = [kind for kind in KINDS if kind.name == "deep_relu"]  # it has a frame
    chosen, _ = clear_names(viz.draw(kind.recording()).graph, AS_USUAL, drawn)
    return asked, chosen.names


def test_a_name_that_an_arrow_runs_through_goes_to_the_other_corner() -> None:
    assert measure(SVG.format(x=10)).through == 1
    assert measure(SVG.format(x=60)).through == 0
    assert _drawn(10, 60) == (["left", "right"], "right")


def test_a_name_that_is_clear_stays_where_it_is() -> None:
    assert _drawn(60, 10) == (["left"], "left")
    assert _drawn(10, 12) == (["left", "right"], "left")


FROM_INSIDE = "inside"  # the picture in which an arrow begins at a cell that is above a line of its own box


@needs_graphviz
@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name != FROM_INSIDE], ids=lambda kind: kind.name)
def test_no_arrow_runs_through_text(kind: Kind) -> None:
    found = measure(viz.draw(kind.recording(), **kind.options).svg())
    assert found.through == 0

"""How a picture is divided into pages."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.fitting.sizes import Size
from viz.fitting.windows import OVERLAP, windows
from viz.output.measure import Measures, Rectangle

ROOM = Size(500, 700)


def picture(width: float, height: float, boxes: list[Rectangle]) -> Measures:
    return Measures(width, height, 10, 0, {f"n{number}": box for number, box in enumerate(boxes)})


def column(count: int, *, apart: float = 30, height: float = 80) -> list[Rectangle]:
    """Boxes below each other."""
    return [Rectangle(20, k * (height + apart), 320, k * (height + apart) + height) for k in range(count)]


def test_what_fits_is_one_window() -> None:
    assert windows(picture(400, 600, column(4)), 1, ROOM) == [Rectangle(0, 0, 400, 600)]


def test_windows_end_between_boxes_and_overlap() -> None:
    boxes = column(20)
    found = windows(picture(400, 2200, boxes), 1, ROOM)
    assert len(found) == 4
    for one, following in pairwise(found):
        assert one.bottom - following.top >= OVERLAP
        assert not any(box.top < one.bottom < box.bottom for box in boxes)


def test_a_scale_enlarges_the_picture() -> None:
    doubled = [Rectangle(*(2 * side for side in box)) for box in column(4)]
    assert windows(picture(400, 600, column(4)), 2, ROOM) == windows(picture(800, 1200, doubled), 1, ROOM)


@given(
    st.lists(
        st.builds(
            lambda x, y, width, height: Rectangle(x, y, x + width, y + height),
            st.floats(0, 1500),
            st.floats(0, 3000),
            st.floats(10, 200),
            st.floats(10, 200),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_every_box_is_whole_on_a_page(boxes: list[Rectangle]) -> None:
    found = windows(picture(1700, 3200, boxes), 1, ROOM)
    for window in found:
        assert window.right - window.left <= ROOM.width + 1e-6
        assert window.bottom - window.top <= ROOM.height + 1e-6
    for box in boxes:
        assert any(
            one.left <= box.left and box.right <= one.right and one.top <= box.top and box.bottom <= one.bottom
            for one in found
        )
    assert max(one.bottom for one in found) == pytest.approx(3200)

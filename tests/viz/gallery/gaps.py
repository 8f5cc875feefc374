"""What is measured of the gallery's pictures beyond their text: boxes outside of the picture, and empty areas."""

from __future__ import annotations

from viz.output.measure import Measures, Rectangle

CELLS = 40  # into which the larger side of a picture is divided to look for empty areas


def outside(found: Measures) -> int:
    """How many boxes are not wholly in the picture."""
    canvas = Rectangle(-1, -1, found.width + 1, found.height + 1)
    return sum(not (canvas.contains(*one[:2]) and canvas.contains(*one[2:])) for one in found.boxes.values())


def largest_gap(found: Measures) -> float:
    """The largest rectangle without a box, as a part of the area around all boxes."""
    boxes = found.boxes.values()
    left, top = min(one.left for one in boxes), min(one.top for one in boxes)
    right, bottom = max(one.right for one in boxes), max(one.bottom for one in boxes)
    side = max(right - left, bottom - top) / CELLS
    columns, rows = int((right - left) / side) + 1, int((bottom - top) / side) + 1
    filled = {
        (column, row)
        for one in boxes
        for column in range(int((one.left - left) / side), int((one.right - left) / side) + 1)
        for row in range(int((one.top - top) / side), int((one.bottom - top) / side) + 1)
    }
    most = 0
    for first in range(columns):
        for last in range(first, columns):
            run = 0  # of empty rows between these columns
            for row in range(rows):
                run = 0 if any((column, row) in filled for column in range(first, last + 1)) else run + 1
                most = max(most, run * (last - first + 1))
    return most / (columns * rows)

"""The table of courses: a row for each parameter, the worst first, on any width."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.recording.model.model import CourseRecord, ParameterRecord, Statistics
from tests.support.recordings import handmade
from tests.support.recordings.random_recordings import PARAMETERS
from tui.shell.spans import plain
from tui.words.courses import course_lines, courses

FINE = Statistics(1.0, -1.0, 1.0, 0.0, 0.5, 0, 0, 0)
GONE = FINE._replace(norm=None, nans=2)


def parameter(name, weight=FINE, gradient=FINE, change=1e-3):
    return ParameterRecord(name, (4,), weight, gradient, change)


def recording(*passes):
    found = [CourseRecord(10 * k + 9, np.array(1.0 / (k + 1)), tuple(one)) for k, one in enumerate(passes)]
    return dataclasses.replace(handmade.twice(), courses=tuple(found))


def test_the_worst_parameter_comes_first():
    rows = courses(recording([
        parameter("usual"), parameter("slow", change=1e-7), parameter("quick", change=0.05),
        parameter("wild", change=0.5), parameter("none", gradient=None), parameter("nan", gradient=GONE),
        parameter("zero", gradient=FINE._replace(norm=0.0)), parameter("still", change=None),
        parameter("lost", weight=FINE._replace(norm=None, infs=1)),
    ]))  # fmt: skip
    assert [one.name for one in rows][:2] == ["lost", "nan"]
    assert {one.name for one in rows[2:6]} == {"none", "zero", "still", "wild"}
    assert [one.name for one in rows[6:]] == ["slow", "quick", "usual"]
    assert [one.trouble for one in rows if one.trouble] == [
        "infinity in its value", "NaN in its gradient", *[one.trouble for one in rows[2:6]],
    ]  # fmt: skip
    assert {one.trouble for one in rows[2:6]} == {
        "no gradient", "gradient is zero", "not updated after it", "large updates",
    }  # fmt: skip


def test_a_parameter_that_takes_no_part_in_a_pass_is_missing_there():
    (only,) = courses(recording([], [parameter("late", gradient=GONE)], [parameter("late")]))
    assert only.weights == [None, 1.0, 1.0]
    assert math.isnan(only.gradients[1])
    assert only.trouble == ""


def test_the_lines():
    lines = [plain(one) for one in course_lines(recording([parameter("w")], [parameter("w", change=0.5)]), width=80)]
    assert lines == [
        "2 passes, 10 to 20   update/weight is usually near 0.001",
        "loss  █▁ 0.5",
        "name  |w|             |g|             update/weight",
        "w     ▄▄     1        ▄▄     1        ▁█     0.5      large updates",
    ]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@given(st.lists(st.lists(PARAMETERS, max_size=4), min_size=1, max_size=60))
def test_no_row_is_wider_than_the_screen(width, passes):
    found = recording(*passes)
    *_, titles = [plain(one) for one in course_lines(found, width=width)][:3]
    assert titles.split()[0] == "name"
    assert all(len(plain(one)) <= width for one in course_lines(found, width=width))
    assert len(courses(found)) == len({one.name for each in passes for one in each})

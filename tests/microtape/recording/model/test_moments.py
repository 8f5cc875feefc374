"""A pass or a step that a recording does not have is named, with how many there are."""

from __future__ import annotations

import pytest

from microtape.recording import record
from microtape.recording.moments.moment import PassTimeline
from tests.support.recordings.live import leaf


def test_a_pass_that_is_not_there_is_named() -> None:
    moments = PassTimeline(record(lambda: (leaf(1.0) * 2).backward()), 3)
    with pytest.raises(IndexError, match="there is no pass 3: the recording has 1"):
        _ = moments.pass_


def test_a_step_that_is_not_there_is_named() -> None:
    moments = PassTimeline(record(lambda: (leaf(1.0) * 2).backward()))
    assert moments.at(2).steps_done == 2
    with pytest.raises(IndexError, match="there is no step 3: the pass has 2"):
        moments.at(3)

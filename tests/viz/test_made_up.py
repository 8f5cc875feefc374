"""Recordings that no program made, as a hostile `.tape` file may hold them: drawn, or refused in one line."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from microtape.recording.file.checks import check
from microtape.recording.model.model import Recording
from tests.support.made_up import recordings
from viz.basics.errors import DrawError
from viz.basics.options import DETAILS
from viz.drawing import draw


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(recordings())
def test_whatever_a_file_may_hold_is_drawn_or_refused(recording: Recording) -> None:
    check(recording)
    for pass_index in range(max(len(recording.passes), 1)):
        try:
            drawing = draw(recording, pass_index=pass_index, show=DETAILS)
        except DrawError:
            continue
        assert drawing.dot.startswith("digraph")
        assert drawing.text(ascii=True).isascii()

"""Recordings that no program made, as in a hostile `.tape` file, are drawn or refused with one line."""

from __future__ import annotations

from hypothesis import given

from microtape.recording.file.integrity import check_integrity
from microtape.recording.model.model import Recording
from tests.support.recordings.random_recordings import recordings
from viz.basics.errors import DrawError
from viz.basics.options import DETAILS
from viz.drawing import draw


@given(recordings())
def test_any_content_of_a_file_is_drawn_or_refused(recording: Recording) -> None:
    check_integrity(recording)
    for pass_index in range(max(len(recording.passes), 1)):
        try:
            drawing = draw(recording, pass_index=pass_index, show=DETAILS)
        except DrawError:
            continue
        assert drawing.dot.startswith("digraph")
        assert drawing.text(ascii=True).isascii()

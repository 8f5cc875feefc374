"""Findings in recordings that no program made, as in a hostile `.tape` file."""

from __future__ import annotations

from hypothesis import given

from microtape.recording.file.integrity import check_integrity
from microtape.recording.findings.find import findings
from microtape.recording.findings.finding import MOST_IN_A_HEADLINE
from microtape.recording.model.model import Recording
from tests.support.random_recordings import recordings


@given(recordings())
def test_any_content_of_a_file_has_findings_or_none(recording: Recording) -> None:
    check_integrity(recording)
    for finding in findings(recording):
        assert finding.headline
        assert len(finding.headline) <= MOST_IN_A_HEADLINE

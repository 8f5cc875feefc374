"""Finds what is wrong in a recording. The findings are computed once for a recording, when they are first asked for."""

from __future__ import annotations

from microtape.recording.findings.finding import Finding
from microtape.recording.model.model import Recording


def findings(recording: Recording) -> tuple[Finding, ...]:
    """The findings of a recording, those first that explain the others: errors, then warnings, then notices."""
    return ()

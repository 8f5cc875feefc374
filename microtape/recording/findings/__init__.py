"""Findings: what is wrong in a recorded program, where, and why. Of its neighbours, it uses `writing.faults` only."""

from typing import TYPE_CHECKING

from microtape.basics.later import imported_later

if TYPE_CHECKING:
    from microtape.recording.findings.find import findings, known_findings
    from microtape.recording.findings.finding import Finding, FindingKind, Severity

__all__ = ["Finding", "FindingKind", "Severity", "findings", "known_findings"]

# Who writes a recording needs the findings of bad numbers alone.
__getattr__, __dir__ = imported_later(
    __name__,
    {
        **dict.fromkeys(("findings", "known_findings"), "find"),
        **dict.fromkeys(("Finding", "FindingKind", "Severity"), "finding"),
    },
)

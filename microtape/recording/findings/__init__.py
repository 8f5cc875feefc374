"""Findings: what is wrong in a recorded program, where, and why. May import `model` only."""

from microtape.recording.findings.find import findings, known_findings
from microtape.recording.findings.finding import Finding, FindingKind, Severity

__all__ = ["Finding", "FindingKind", "Severity", "findings", "known_findings"]

"""What the program did before a recording began is not in it: a finding says so, and blames no line that it shows."""

from __future__ import annotations

import contextlib

import microtape as mt
from microtape.errors import AutogradError
from microtape.recording.findings import Finding, findings
from microtape.recording.model.displayed import Displayed, recording_of


def told(recorder: Displayed) -> list[Finding]:
    return [one for one in findings(recording_of(recorder)) if one.severity == "error"]


def test_nan_whose_operands_are_unknown_begins_there_or_before() -> None:
    x = mt.tensor([1.0, -2.0], requires_grad=True)
    loss = (x.log() + 1).sum()
    with mt.record() as recorder:
        loss.backward()
    (finding,) = told(recorder)
    assert finding.headline.startswith("NaN begins at or before sum, test_before_the_recording.py:")
    assert finding.remedy.startswith("Record the lines that compute it, too")


def test_nan_of_operands_that_the_graph_still_holds_is_explained() -> None:
    x = mt.tensor([1.0, -2.0], requires_grad=True)
    root = x.sqrt()
    loss = (root * x).sum()
    with mt.record() as recorder:
        loss.backward()
    assert told(recorder)[0].headline.endswith(": √(-2) = nan")


def test_a_graph_that_was_freed_before_is_not_said_to_be_freed_by_the_line_that_fails() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    loss = x.exp().sum()
    loss.backward()
    with mt.record() as recorder, contextlib.suppress(AutogradError):
        loss.backward()
    (finding,) = told(recorder)
    assert finding.headline == "A backward before this recording freed a part of the graph of loss: x.exp()"
    assert finding.remedy.startswith("Compute the loss anew before each backward")


def test_the_error_of_a_function_without_lines_is_at_the_call() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    recording = mt.record((x * 2).backward)
    (finding,) = findings(recording)
    assert finding.place is not None
    assert finding.place.file.endswith("test_before_the_recording.py")

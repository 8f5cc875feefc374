"""What may happen with a damaged recording: it is refused in one line, or every view shows it."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
from collections.abc import Sequence

from microtape.basics.ranks import MOST
from microtape.errors import RecordingError
from microtape.recording.comparing import compare
from microtape.recording.file.tape_file import load
from microtape.recording.findings import Finding, findings
from microtape.recording.model.model import Recording
from microtape.recording.ranks import Ranks
from tests.support.recordings.long_recordings import all_long
from tui.beside.rank_diagnosis import RankDiagnosis
from tui.shell.printing import safe
from tui.shell.spans import line, plain
from tui.time.cursor import StepCursor
from tui.words.comparison import names_of
from tui.words.comparison_report import Report
from tui.words.diagnosis import Diagnosis
from tui.words.passes import pass_lines, passes_of
from tui.words.trace import trace
from tui.words.trace_json import as_json
from tui.words.why import subject, why
from viz import DrawError, draw
from viz.basics.options import DETAILS

LONGEST = 400  # characters of a refusal
MOST_ASKED = 5  # gradients of which the reasons are asked


def judge(data: bytes) -> str | None:
    """Why the file is refused, or None if it is opened; then every view of it has been made.

    It is read twice, the second time into columns, as a long recording is: both are refused, or both are opened and
    hold the same.

    Raises:
        AssertionError: the refusal is not one short line, or the two readings differ.
        Exception: whatever a view raises: a fault of ours.
    """
    recording, message = _opened(data)
    with all_long():
        long, long_message = _opened(data)
    assert (message is None) == (long_message is None), f"{message!r}, but as a long recording: {long_message!r}"
    if recording is not None and long is not None:
        assert look_at(recording) == look_at(long), "as a long recording, it is told otherwise"
    return message


def _opened(data: bytes) -> tuple[Recording | None, str | None]:
    """The recording, or why it is refused."""
    try:
        return load(io.BytesIO(data)), None
    except RecordingError as refused:
        message = str(refused)
        assert message.isprintable(), f"a refusal of several lines: {message[:LONGEST]!r}"
        assert len(message) <= LONGEST, f"a refusal of {len(message)} characters"
        return None, message


def look_at(recording: Recording) -> tuple[Sequence[Finding], list[str]]:
    """Summarise the recording, print it, compare it with itself, draw it. Returns what was found and told."""
    assert len(repr(recording)) < 1_000
    found = findings(recording)
    summary = Diagnosis(recording, found, "run.tape", ())
    json.dumps(summary.as_json(), allow_nan=False)
    shown = [plain(one) for one in pass_lines(passes_of(recording))]
    shown += trace(recording, into=True)
    json.dumps(as_json(recording, list(range(len(recording.passes))), into=True), allow_nan=False)
    other = dataclasses.replace(recording, options={**recording.options, "rank": MOST - 1})
    with contextlib.suppress(RecordingError):  # this is of the same rank
        ranks = RankDiagnosis.of(Ranks([recording, other]), ("run.rank0.tape", "run.rank1.tape"))
        shown += [plain(line(text)) for text in ranks.report(80)]
    report = Report(compare(recording, recording), names_of("a.tape", "b.tape"), False)
    json.dumps(report.as_json(), allow_nan=False)
    shown += [safe(one) for one in shown]
    for index in range(max(len(recording.passes), 1)):
        end = StepCursor.open(recording, index).end()
        for node in end.timeline.rows[-MOST_ASKED:]:
            why(end, subject(end, node), MOST_ASKED)
        try:
            picture = draw(recording, None, index, show=DETAILS)
            shown += [picture.text(), picture.dot]
        except DrawError:  # no nodes, or too many
            pass
    for one in shown:
        one.encode("utf-8", "backslashreplace")
    return found, shown

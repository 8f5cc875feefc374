"""The findings of a recording as a report of at most a screen, and as JSON."""

from __future__ import annotations

import dataclasses
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from lessons.model.findings import lesson_on
from microtape.recording.findings import Finding
from microtape.recording.model.model import Place, Recording
from microtape.recording.model.source import expression
from tui.words.findings import lesson_line, sign

A_PAGE = 60  # lines, where there is no screen
IN_FULL = 3  # findings that are told with their explanation
IN_A_LINE = 8  # further findings
_MOST_BEFORE = 4  # passes before one with a finding, for a command that shows them all


@dataclasses.dataclass(frozen=True, slots=True)
class Diagnosis:
    """The findings of a recording, and the file that they are about."""

    recording: Recording
    found: Sequence[Finding]
    file: str  # as the user named it
    script_args: Sequence[str] = ()
    is_module: bool = False  # the file is the name of a module, for which the command needs -m
    is_complete: bool = False  # the script ran to its end, after the last pass

    @property
    def is_serious(self) -> bool:
        """Whether there is a finding that the program's author cannot have wanted."""
        return any(one.severity != "notice" for one in self.found)

    def recording_of(self, finding: Finding) -> Recording:
        """The recording that the numbers of a finding are about."""
        return self.recording

    def whose(self, finding: Finding) -> str:
        """Words before its headline."""
        return ""

    def command(self, finding: Finding) -> str:
        """The command that opens the stepper where the finding can be seen; `!` leads to it."""
        words = ["microtape", "step", *(["-m"] if self.is_module else []), self.file]
        if not self.file.endswith(".tape"):
            words += self._passes(finding)
            words += ["--check"] if finding.kind == "wrong derivative" else []
            words += ["--", *self.script_args] if self.script_args else []
        return shlex.join(words)

    def to_type(self, finding: Finding) -> str:
        """The command as the report shows it."""
        return f"$ {self.command(finding)}"

    def _passes(self, finding: Finding) -> list[str]:
        """`--pass 1-4`, the passes in which it was found: what shows it may come after its own. None for the first.

        If some were forgotten, these are the pass of the finding and those since the last one from its line.
        """
        passes = self.recording.passes
        if finding.pass_ is None or not passes[finding.pass_].index:
            return []
        first, last = passes[0].index + 1, passes[-1].index + 1
        if last - first >= len(passes):
            found, earlier = passes[finding.pass_], list(passes[: finding.pass_])
            before = [one for one in earlier if one.place == found.place] or earlier or [found]
            first, last = before[-1].index + 1, found.index + 1
            first = first if last <= first + _MOST_BEFORE else last
        elif self.is_complete:
            return ["--pass", "all"]
        return ["--pass", f"{first}-{last}" if first < last else str(last)]

    def report(self, width: int, height: int = A_PAGE, *, ascii: bool = False) -> list[str]:
        """The first findings in full and further ones in a line each, in at most `height` lines if that can be."""
        for in_full in range(IN_FULL, 0, -1):
            lines = list(self._report(in_full, width, ascii))
            if len(lines) <= height:
                break
        return lines

    def _report(self, most: int, width: int, ascii: bool) -> Iterator[str]:
        serious = [one for one in self.found if one.severity != "notice"] or list(self.found)
        in_full = serious[:most]
        for number, one in enumerate(in_full):
            if number:
                yield ""
            yield from self._in_full(one, width, ascii)
        rest = [one for one in self.found if one not in in_full]
        if rest:
            yield ""
        for one in rest[:IN_A_LINE]:
            yield from self._headline(one, width, ascii)
        if len(rest) > IN_A_LINE:
            yield f"  and {len(rest) - IN_A_LINE} more; --json lists all"

    def _in_full(self, finding: Finding, width: int, ascii: bool) -> Iterator[str]:
        yield from self._headline(finding, width, ascii)
        if finding.place is not None and (source := expression(self.recording_of(finding), finding.place)):
            yield f"    {_at(finding.place)}:  {textwrap.shorten(source, width - 24, placeholder=' ...')}"
        for sentence in (*finding.explanation, f"Remedy: {finding.remedy}"):
            yield from _wrapped(sentence, width, "    ")
        if lesson := lesson_line(self.recording_of(finding), finding):
            yield f"    {lesson}"
        yield f"    {self.to_type(finding)}"

    def _headline(self, finding: Finding, width: int, ascii: bool) -> Iterator[str]:
        where = _at(finding.place)
        told = finding.headline if not where or where in finding.headline else f"{where}: {finding.headline}"
        yield from _wrapped(f"{sign(finding, ascii=ascii)} {self.whose(finding)}{told}", width, "", "  ")

    def as_json(self) -> dict[str, Any]:
        """The findings as JSON."""
        return {"findings": [self._as_json(one) for one in self.found]}

    def _as_json(self, finding: Finding) -> dict[str, Any]:
        recording = self.recording_of(finding)
        pass_ = recording.passes[finding.pass_].index + 1 if finding.pass_ is not None else None
        return {
            "kind": finding.kind,
            "severity": finding.severity,
            "headline": finding.headline,
            "explanation": list(finding.explanation),
            "remedy": finding.remedy,
            "lesson": lesson.name if (lesson := lesson_on(finding.kind)) is not None else None,
            "place": _place(recording, finding.place),
            "pass": pass_,
            "step": finding.step + 1 if finding.step is not None else None,
            "node": finding.node,
            "tensor": recording.tensors[finding.tensor].name or None if finding.tensor is not None else None,
            "others": [{"role": role, **(_place(recording, place) or {})} for role, place in finding.others],
            "spread": list(finding.spread),
            "command": self.command(finding),
            **({"ranks": list(finding.ranks)} if finding.ranks else {}),
        }


def _place(recording: Recording, place: Place | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {
        "file": place.file, "line": place.line, "end_line": place.end_line, "column": place.column,
        "end_column": place.end_column, "function": place.function, "text": expression(recording, place),
    }  # fmt: skip


def _at(place: Place | None) -> str:
    return place.at_name if place is not None else ""


def _wrapped(text: str, width: int, indent: str, following: str | None = None) -> Iterator[str]:
    following = indent if following is None else following
    yield from textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=following, break_on_hyphens=False)

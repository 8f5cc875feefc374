"""A verdict in words, for the command line and for the full screen."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from lessons.checking.error_remarks import remark_on_difference, remark_on_error
from lessons.checking.observe import Raised
from lessons.checking.plain_data import words
from lessons.checking.verdict import Result, Verdict

Role: TypeAlias = Literal["good", "bad", "strong", "dim", ""]


class Said(NamedTuple):
    """A line of a report, and how to show it."""

    text: str
    role: Role = ""


MOST_OUTPUT, WIDEST_OUTPUT = 5, 100  # lines of the learner's output that are shown, and characters of each
SHORT = 60  # characters up to which the expected value is shown below an exception
LONGEST = 300  # characters of one value
GONE = "your file does not define"  # how `observe_child` begins the message about a missing name


def report(verdict: Verdict, *, ascii: bool = False, result_first: bool = False) -> list[Said]:
    """What the learner's code did, what was expected and, if the mistake is known, its diagnosis.

    With `result_first`, it begins with what matters: that the exercise is solved, or the first check that fails.
    """
    return list(_lines(verdict, ("ok", "x ") if ascii else ("✓", "✗"), result_first))


def headline(verdict: Verdict, *, ascii: bool = False) -> Said:
    """The verdict in a line: solved, or the first check that fails and how it fails."""
    first, *others = report(verdict, ascii=ascii, result_first=True)
    if verdict.passed or verdict.untouched:
        return first
    details = [" ".join(said.text.split()) for said in itertools.takewhile(lambda said: said.role == "", others)]
    return Said(f"{first.text.rstrip('.')}: {', '.join(detail for detail in details if detail)}", first.role)


def _lines(verdict: Verdict, marks: tuple[str, str], result_first: bool) -> Iterator[Said]:
    if verdict.untouched:
        yield Said("You have not changed the file yet. Its comments say what to do.", "strong")
        return
    if verdict.broken is not None:
        yield Said(f"{marks[1]} Your file cannot be run.", "bad")
        yield Said(f"    {raised_line(verdict.broken)}")
        if remark := remark_on_error(verdict.broken):
            yield Said(f"    {remark}", "strong")
    elif verdict.ended != "finished" and verdict.during is None:
        yield Said(f"{marks[1]} Your file cannot be run.", "bad")
        yield Said(f"    {_ended(verdict)}")
    else:
        first = next((result for result in verdict.results if not result.passed), None)
        if verdict.passed and result_first:
            yield Said(f"{marks[0]} Solved.", "good")
        if result_first and first is not None:
            yield from _first_failure(verdict, first, marks)
        if result_first:
            yield Said("")
        for result in verdict.results:
            if result is not first:
                yield from _result(verdict, result, marks, in_full=False)
            elif not result_first:
                yield from _first_failure(verdict, first, marks)
        if verdict.passed and not result_first:
            yield Said("")
            yield Said("Solved.", "good")
    yield from _printed(verdict.output)


def _first_failure(verdict: Verdict, first: Result, marks: tuple[str, str]) -> Iterator[Said]:
    """The first check that fails, in full, with a remark that explains it."""
    yield from _result(verdict, first, marks, in_full=True)
    if remark := _remark(verdict, first):
        yield Said(f"    {remark}", "strong")


def _result(verdict: Verdict, result: Result, marks: tuple[str, str], *, in_full: bool) -> Iterator[Said]:
    """The lines of one check. Only the first failing check is reported in full: one thing at a time."""
    if result.passed:
        yield Said(f"{marks[0]} {result.check.title}", "good")
        return
    if result.did is None and verdict.during != result.check:
        yield Said(f"   {result.check.title}: not reached", "dim")
        return
    if not in_full and result.is_unwritten:
        yield Said(f"   {result.check.title}: not written yet", "dim")
        return
    yield Said(f"{marks[1]} {result.check.title}", "bad")
    if not in_full:
        return
    if result.difference is not None:
        where = f"{result.difference.path}: " if result.difference.path else ""
        yield Said(f"    {where}your code gave  {short(result.difference.did)}")
        yield Said(f"    {' ' * len(where)}expected        {short(result.difference.expected)}")
        return
    if result.did is not None and result.did.raised is not None:
        yield Said(f"    {_when(result.did.raised)}{raised_line(result.did.raised)}")
    else:
        yield Said(f"    {_ended(verdict)}")
    expected = words(result.expected.value)
    if len(expected) <= SHORT:
        yield Said(f"    expected  {expected}")


def _remark(verdict: Verdict, result: Result) -> str:
    """The diagnosis if the mistake is known, else the remark on the error or on the difference."""
    if verdict.wrong_answer is not None:
        return verdict.wrong_answer.diagnosis
    if result.difference is not None:
        return remark_on_difference(result.difference)
    return remark_on_error(result.did.raised) if result.did is not None and result.did.raised is not None else ""


def _when(raised: Raised) -> str:
    """When an exception came that passed through no line of the file."""
    if raised.line is not None or raised.message.startswith(GONE):
        return ""
    if raised.in_backward:
        return "when the check called backward: "
    return "your code ran to its end, and then the check failed: "  # on what the code returned


def raised_line(raised: Raised) -> str:
    """An exception in a line: `line 3: NameError: name 'z' is not defined   (return z)`."""
    at = f"line {raised.line}: " if raised.line is not None else ""
    code = f"   ({raised.code})" if raised.code else ""
    first = raised.summary
    if raised.is_unwritten:
        return f"{at}this part is not written yet"
    if raised.type == "SystemExit":
        return f"{at}your code asked Python to exit{code}"
    if raised.type == "EOFError":
        return f"{at}your code waits for keyboard input, which an exercise does not get{code}"
    if raised.type == "MemoryError":
        return f"{at}your code asked for more memory than an exercise may have{code}"
    if raised.type == "AttributeError" and first.startswith(GONE):
        return f"{first}; the original file defined it, and a reset restores that file"
    return f"{at}{raised.type}: {first}{code}" if first else f"{at}{raised.type}{code}"


def _ended(verdict: Verdict) -> str:
    if verdict.ended == "time":
        why = "a loop that never ends, or work that doubles with each step"
        return f"your code did not finish in time; is there {why}?"
    if verdict.status is None:
        return "your code closed what the check reads its results from, so nothing more could be checked"
    if verdict.status < 0:
        return f"your code crashed its process ({signal.Signals(-verdict.status).name})"
    return f"your code ended its process (status {verdict.status}), so nothing more could be checked"


def _printed(output: str) -> Iterator[Said]:
    lines = output.splitlines()
    if not lines:
        return
    yield Said("")
    yield Said("Your file printed:", "dim")
    for line in lines[:MOST_OUTPUT]:
        yield Said(f"    {short(line.expandtabs(), WIDEST_OUTPUT)}", "dim")
    if len(lines) > MOST_OUTPUT:
        yield Said(f"    and {len(lines) - MOST_OUTPUT:,} more lines", "dim")


def short(text: str, longest: int = LONGEST) -> str:
    """The text without control characters, which a terminal would obey, and limited in length."""
    shown = "".join(character if character.isprintable() else "�" for character in text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"

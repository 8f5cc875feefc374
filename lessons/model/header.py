"""The header of a lesson: TOML between two lines of +++, before the text.

title = "Fan-out: why gradients add"
summary = "A number that is used twice gets the sum of two gradients."
needs = ["chain_rule"]               names of the earlier lessons that this one builds on; optional
continues = "chain_rule"             the earlier lesson whose file the learner goes on with; optional
introduces = ["backward", "leaf"]    words that no earlier lesson uses; optional
explains = ["a second time"]         pieces of the error messages that it explains, for `learn about`; optional
findings = ["overwritten"]           kinds of findings that it is about, which `diagnose` then says; optional
pytorch = { "torch.no_grad" = "Autograd mechanics" }   PyTorch's names for it, each with the page of PyTorch's
                                     documentation that explains it; optional
passes = "all"                       the passes of the program to record: "2", "1-3" or "all"; optional

[[predict]]                          a question before a step of the program; any number of these
pass = 2                             counted among the recorded passes; default 1
after = 1                            the number of steps shown before the question
ask = "What will `w.grad` be now?"
answer = "grad w"                    what to read from the recording: see `lessons.model.predictions`
because = "4 was there, and 6 is added."
hint = "`w.grad` is not empty."      shown after a wrong guess, before the second one; optional
wrong = { 6 = "6 is what arrives." } plausible wrong answers, each with the hint that is shown after it; optional
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from lessons.model.fault_names import FAULTS
from lessons.model.lesson import Prediction, WrongEngine
from microtape.errors import RecordingError
from microtape.recording.choosing.passes import parse_passes

KNOWN = (
    "title", "summary", "needs", "continues", "introduces", "explains", "findings", "pytorch", "passes", "predict",
    "wrong_engine",
)  # fmt: skip
ANSWER = re.compile(r"next|changes|succeeds|(gradient|shape|grad) \S+|inside \S+ (return [1-9]|\S+)")
ANSWERS = '"next", "changes", "succeeds", "gradient NAME", "shape NAME", "grad NAME" or "inside FUNCTION NAME"'


class LessonError(ValueError):
    """A lesson is incomplete or cannot be read. The message names the file and says what to do."""


class Header(NamedTuple):
    """The contents of a header."""

    title: str
    summary: str
    needs: tuple[str, ...]
    continues: str
    introduces: tuple[str, ...]
    explains: tuple[str, ...]
    findings: tuple[str, ...]
    pytorch: tuple[tuple[str, str], ...]
    passes: str | None
    predictions: tuple[Prediction, ...]
    wrong_engine: WrongEngine | None


def read_header(path: Path, text: str) -> tuple[Header, str]:
    """The header and the text below it. Raises LessonError, one line with the path, if it is invalid."""
    table, prose = _split(path, text)
    if unknown := sorted(table.keys() - set(KNOWN)):
        raise LessonError(f"{path}: unknown in the header: {', '.join(unknown)} (known: {', '.join(KNOWN)})")
    header = Header(
        title=_text(path, table, "title"),
        summary=_text(path, table, "summary"),
        needs=_words(path, table, "needs"),
        continues=_text(path, table, "continues") if "continues" in table else "",
        introduces=_words(path, table, "introduces"),
        explains=_words(path, table, "explains"),
        findings=_words(path, table, "findings"),
        pytorch=_pages(path, table),
        passes=_passes(path, table.get("passes")),
        predictions=tuple(read_prediction(path, one) for one in _tables(path, table, "predict")),
        wrong_engine=_wrong_engine(path, table),
    )
    return header, prose


def _split(path: Path, text: str) -> tuple[dict[str, Any], str]:
    parts = re.split(r"^\+\+\+[ \t]*$", text, maxsplit=2, flags=re.MULTILINE)
    if len(parts) != 3 or parts[0].strip():
        raise LessonError(f"{path}: begin with a header between two lines of +++")
    try:
        return tomllib.loads(parts[1]), parts[2].strip() + "\n"
    except tomllib.TOMLDecodeError as error:
        raise LessonError(f"{path}: the header is not TOML: {error}") from None


def _text(path: Path, table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise LessonError(f'{path}: the header needs {key} = "..."')
    return " ".join(value.split())


def _passes(path: Path, value: Any) -> str | None:
    if value is None:
        return None
    try:
        parse_passes(str(value))
    except RecordingError as error:
        raise LessonError(f"{path}: {error}") from None
    return str(value)


def _words(path: Path, header: dict[str, Any], key: str) -> tuple[str, ...]:
    words = header.get(key, [])
    if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
        raise LessonError(f'{path}: write {key} as a list of words: {key} = ["...", "..."]')
    return tuple(words)


def _pages(path: Path, header: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    pages = header.get("pytorch", {})
    if not isinstance(pages, dict) or not all(isinstance(page, str) and page.strip() for page in pages.values()):
        raise LessonError(f'{path}: write pytorch as a table of names and pages: pytorch = {{ "torch.NAME" = "PAGE" }}')
    return tuple(pages.items())


def _tables(path: Path, header: dict[str, Any], key: str) -> list[dict[str, Any]]:
    tables = header.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise LessonError(f"{path}: write each {key} as a table of its own under [[{key}]]")
    return tables


def read_prediction(path: Path, table: dict[str, Any]) -> Prediction:
    """The prediction in a table. Raises LessonError, one line with the path, if it is invalid."""
    after, number = table.get("after"), table.get("pass", 1)
    if type(after) is not int or after < 0:
        raise LessonError(f"{path}: a prediction needs after = a number of steps, 0 for before the first")
    if type(number) is not int or number < 1:
        raise LessonError(f"{path}: a prediction's pass is a number from 1, not {number!r}")
    answer = _text(path, table, "answer")
    if not ANSWER.fullmatch(answer):
        raise LessonError(f"{path}: a prediction's answer is {ANSWERS}, not {answer!r}")
    hint = _text(path, table, "hint") if "hint" in table else ""
    wrong = table.get("wrong", {})
    if not isinstance(wrong, dict) or not all(isinstance(one, str) and one.strip() for one in wrong.values()):
        raise LessonError(f'{path}: write wrong as a table of answers and hints: wrong = {{ "ANSWER" = "HINT" }}')
    return Prediction(
        number, after, _text(path, table, "ask"), answer, _text(path, table, "because"), hint,
        tuple((str(answer), text) for answer, text in wrong.items()),
    )  # fmt: skip


def _wrong_engine(path: Path, header: dict[str, Any]) -> WrongEngine | None:
    table = header.get("wrong_engine")
    if table is None:
        return None
    if not isinstance(table, dict):
        raise LessonError(f"{path}: write wrong_engine as a table under [wrong_engine]")
    fault = _text(path, table, "fault")
    if fault not in FAULTS:
        raise LessonError(f"{path}: a wrong engine's fault is one of {', '.join(FAULTS)}, not {fault!r}")
    program = path.parent / str(table.get("program", "program.py"))
    if not program.is_file():
        raise LessonError(f"{path.parent}: {program.name} is missing")
    passes = table.get("passes", header.get("passes") if "program" not in table else None)
    return WrongEngine(fault, program, _passes(path, passes), _text(path, table, "because"))

"""The lessons with torch in their first line: programs, solutions and code in the texts print the same."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from lessons import Lesson
from tests.support.course import COURSE

BLOCK = re.compile(r"^```python\n(.*?)^```(?:\s+```output\n(.*?)^```)?", re.MULTILINE | re.DOTALL)


def printed(source: str, module: str, namespace: dict[str, object]) -> str:
    """The output of the code when `mt` is that module."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = re.sub(r"\b(import|from) microtape\b(?!\.recording)", rf"\1 {module}", source)
        exec(compile(code, module, "exec"), namespace)
    return out.getvalue()


@pytest.mark.parametrize("file", ["program", "solution"])
@pytest.mark.parametrize("lesson", COURSE, ids=[lesson.name for lesson in COURSE])
def test_it_prints_the_same(lesson: Lesson, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the last solution saves a recording
    source = (lesson.program if file == "program" else lesson.exercise.solution).read_text()
    ours = printed(source, "microtape", {"__name__": "__main__"})
    assert ours == printed(source, "torch", {"__name__": "__main__"})
    assert ours


@pytest.mark.parametrize("lesson", COURSE, ids=[lesson.name for lesson in COURSE])
def test_what_the_text_says_holds_for_torch(lesson: Lesson) -> None:
    namespace: dict[str, object] = {}
    for code, output in BLOCK.findall(lesson.prose):
        found = printed(code, "torch", namespace).replace("torch.", "microtape.")
        assert found.split() == output.split()  # the shorter name may leave room for a word more in a line

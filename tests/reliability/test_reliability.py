"""RELIABILITY.md says what the checks have counted, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability.__main__ import FIGURES, PARTS
from tests.reliability.page import PAGE, SECTIONS, write_page
from tests.reliability.threads import lost_gradients


def test_the_page_is_written_from_the_figures_that_are_there(tmp_path: Path) -> None:
    write_page(FIGURES, tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


def test_every_check_has_a_section_and_nothing_has_failed() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert set(PARTS) == set(SECTIONS)
    assert text.count("\n## ") == len(PARTS)
    found = re.findall(r"\*\*(\S+) (?:runs?|faults?|gradients?|sessions?|tests?)\b", text)
    assert found == ["No"] * len(found)


def test_a_check_that_has_not_run_says_how_to_run_it(tmp_path: Path) -> None:
    write_page(tmp_path, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert text.count("Not run yet: `python -m tests.reliability ") == len(PARTS)


def test_a_gradient_that_is_lost_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lost_gradients(2, 3) == 0
    monkeypatch.setattr("tests.reliability.threads._in_threads", lambda count, work: None)
    assert lost_gradients(2, 3) == 2 * 3 * 4 * 50


@pytest.mark.slow
@pytest.mark.parametrize("part", ["threads", "serve"])
def test_a_small_share_of_a_check(part: str, tmp_path: Path) -> None:
    command = [*PARTS[part](0.04), "--figures", str(tmp_path / "figures.json")]
    ran = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (tmp_path / "figures.json").is_file()

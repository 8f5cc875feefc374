"""Letters that no font has are told, because Graphviz draws empty boxes and says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import microtape as mt
import viz
from tests.support.rendering import needs_graphviz
from tui.commands.cli import main
from viz.output.fonts import without_font

PROGRAM = """\
import microtape as mt
損失 = mt.tensor(2.0, requires_grad=True) * 3
損失.backward()
"""


@pytest.fixture
def no_fonts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose fontconfig finds no font for any letter."""
    program = tmp_path / "fc-list"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: str(program) if name == "fc-list" else None)


def test_only_letters_that_are_in_no_font_are_missing(no_fonts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert without_font("loss ∂z/∂x = 2 · x² ✓ Σ é ω ж") == ""
    assert without_font("損失 손실") == "失손"
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert without_font("損失") == ""


@needs_graphviz
def test_a_picture_with_letters_without_a_font_says_so(
    no_fonts: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loss.py").write_text(PROGRAM, encoding="utf-8")
    assert main(["draw", "loss.py", "-o", "loss.png"]) == 0
    assert "no font on this machine has 失 and letters like it" in capsys.readouterr().err
    assert main(["draw", "loss.py", "-o", "loss.svg"]) == 0
    assert "no font" not in capsys.readouterr().err
    drawing = viz.draw(mt.record((mt.ones(1, requires_grad=True) * 2).sum().backward), title="損失")
    with pytest.warns(UserWarning, match="save an .svg"):
        drawing.png()

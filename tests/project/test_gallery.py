"""The README's pictures: all there, all made by one command, the same each time."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import viz

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "docs" / "make_pictures.py"
MADE = runpy.run_path(str(SCRIPT))
MOVING = ROOT / "docs" / "pictures" / "stepping.gif"
SHOWN = re.findall(r"docs/pictures/(\w+)\.png", (ROOT / "README.md").read_text(encoding="utf-8"))


def test_the_readme_shows_what_the_command_makes() -> None:
    names = {one.name for one in MADE["GALLERY"]} | {"stepper", "step_into", "pytorch_nan", "film"}
    assert set(SHOWN) == names == {path.stem for path in (ROOT / "docs" / "pictures").glob("*.png")}


@pytest.mark.parametrize("name", ["border", "rnn"])
def test_a_picture_is_the_same_each_time(name: str) -> None:
    (picture,) = [one for one in MADE["GALLERY"] if one.name == name]
    first, second = (viz.draw(MADE["recorded"](picture.program), **picture.options).dot for _ in range(2))
    assert first == second


def test_the_moving_picture_is_the_first_one_of_the_readme_and_small() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"docs/pictures/[\w.]+", page)[0] == "docs/pictures/stepping.gif"
    assert "`python docs/make_pictures.py` makes these pictures" in page
    assert MOVING.stat().st_size < 1_000_000
    with Image.open(MOVING) as moving:
        assert getattr(moving, "n_frames", 1) == len(MADE["MOVES"]) + 1


@pytest.mark.slow
def test_the_moving_picture_shows_what_the_stepper_shows() -> None:
    outdated = "the stepper has changed: run `python docs/make_pictures.py stepping`"
    assert MADE["fingerprint"](MADE["moving_screens"]()).encode() in MOVING.read_bytes(), outdated


def test_an_unknown_picture_is_one_clear_line() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "nope"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.startswith("no picture is called 'nope': there are half_way, ")
    assert done.stderr.count("\n") == 1


def test_without_torch_its_screen_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(MADE["main"].__globals__, "find_spec", lambda name: None)
    monkeypatch.setitem(MADE["main"].__globals__, "browser", lambda: "chromium")
    assert MADE["main"](["pytorch_nan"]) == 0
    assert capsys.readouterr().out == "pytorch_nan: not made, because PyTorch is not installed\n"


def test_without_a_browser_the_screens_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert MADE["main"](["stepper"]) == 0
    assert capsys.readouterr().out.startswith(
        "stepper: not made, because none of these programs is installed: chromium"
    )

"""The names of source files in a recording: short, the same on every machine, and none of them a path of this one."""

from __future__ import annotations

from pathlib import Path

import pytest

import microtape as mt
from microtape.recording import record


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("work/train.py", "train.py"),
        ("work/models/tall.py", "models/tall.py"),
        ("elsewhere/tall.py", "tall.py"),
        ("work/.venv/lib/python3.11/site-packages/zoo/tall.py", "site-packages/zoo/tall.py"),
        ("lib/python3/dist-packages/zoo/tall.py", "dist-packages/zoo/tall.py"),
    ],
)
def test_files_are_named_from_the_folder_of_the_program_or_of_packages(
    path: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text("def program():\n    mt.ones(3, requires_grad=True).sum().backward()\n")
    (tmp_path / "work").mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / "work")
    scope = {"mt": mt}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    recording = record(scope["program"])  # type: ignore[arg-type]
    assert recording.passes[0].place is not None
    assert recording.passes[0].place.file == name
    assert name in recording.sources

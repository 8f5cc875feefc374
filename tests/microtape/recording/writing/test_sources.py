"""The names of source files in a recording: short, the same on every machine, and none of them a path of this one."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import microtape as mt
from microtape.recording import record


def test_a_file_that_is_loaded_again_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file, texts = (
        tmp_path / "loaded_again.py",
        ["def f(x):\n    return x.sum()\n", "\n\ndef f(x):\n    return x.exp().sum()\n"],
    )
    recorders = []
    for text in texts:
        file.write_text(text)
        module = (
            importlib.import_module("loaded_again") if not recorders else importlib.reload(sys.modules["loaded_again"])
        )
        with mt.record() as recorder:
            module.f(mt.ones(3, requires_grad=True)).backward()
        recorders.append(recorder)
        assert recorder.recording.sources["loaded_again.py"] == text
    monkeypatch.delitem(sys.modules, "loaded_again")
    assert [one.recording.sources["loaded_again.py"] for one in recorders] == texts


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

"""A journal has what the recording so far has, after each pass, and takes no more than each pass adds."""

from __future__ import annotations

import dataclasses
import itertools
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microtape as mt
from microtape.errors import RecordingError
from microtape.recording.choosing.journal import Journal
from microtape.recording.choosing.keeper import Keeper
from microtape.recording.choosing.until import Until
from microtape.recording.engines import ProgramRecorder
from microtape.recording.file.journal import START, parts_of
from microtape.recording.file.tape_file import load, save
from microtape.recording.model.model import Recording
from tests.microtape.recording.writing.test_segments import PROGRAMS, Program, training
from tests.support.recordings.random_recordings import plain


def journaled(program: Program, out: Path, after_pass: Callable[[ProgramRecorder, int], None], **keeps: Any) -> None:
    """Run a program with a journal."""
    journal = Journal(str(out), {"passes": "all"})

    def ended(index: int) -> None:
        if not keeper.ended(index):
            journal.note(keeper, recorder)
            after_pass(recorder, index)

    recorder = ProgramRecorder("journaled", after_pass=ended)
    keeper = Keeper(recorder, seals=True, **keeps)
    with recorder:
        keeper.begin()
        program()


def journal_of(out: Path) -> Path:
    return out.with_name(f"{out.name}.journal")


def without_what_only_the_end_knows(recording: Recording) -> Any:
    """Borders and updates that no later pass has seen yet."""
    return plain(dataclasses.replace(recording, borders=(), updates=(), freed_by=(), options={}))


@pytest.mark.parametrize("program", [one for one in PROGRAMS if one is not training])
def test_after_each_pass_it_has_the_recording_so_far(program: Program, tmp_path: Path) -> None:
    compared = []

    def compare(recorder: ProgramRecorder, index: int) -> None:
        so_far = load(journal_of(tmp_path / "run.tape"))
        save(recorder.recording, tmp_path / "whole")
        assert without_what_only_the_end_knows(so_far) == without_what_only_the_end_knows(load(tmp_path / "whole"))
        assert len(so_far.passes) == index + 1
        compared.append(so_far)

    journaled(program, tmp_path / "run.tape", compare)
    assert len(compared) >= 3
    assert compared[-1].options == {"passes": "all"}


def test_an_update_is_there_once_the_next_pass_has_ended(tmp_path: Path) -> None:
    counts: list[int] = []
    journaled(
        training,
        tmp_path / "run.tape",
        lambda recorder, index: counts.append(len(load(journal_of(tmp_path / "run.tape")).updates)),
    )
    assert counts == [0, 1, 2, 3]


def test_each_pass_takes_the_same_room(tmp_path: Path) -> None:
    data, sizes = mt.tensor(np.zeros(3000)), [0]

    def program() -> None:
        w = mt.tensor(np.ones(3), requires_grad=True)
        for _ in range(30):
            (data.sum() * w).sum().backward()
            with mt.no_grad():
                w -= w.grad

    path = journal_of(tmp_path / "run.tape")
    journaled(program, tmp_path / "run.tape", lambda recorder, index: sizes.append(path.stat().st_size))
    taken = [now - before for before, now in itertools.pairwise(sizes)]
    assert max(taken[2:]) < 1.1 * min(taken[2:]), "a journal that grows faster and faster would fill the disk"


def test_a_tensor_that_does_not_change_is_copied_once() -> None:
    data = mt.tensor(np.zeros(3000))
    recorder = ProgramRecorder(after_pass=lambda index: recorder.seal())
    with recorder:
        w = mt.tensor(1.0, requires_grad=True)
        for _ in range(3):
            (data * w).sum().backward()
    values = [
        value
        for segment in recorder.segments[:3]
        for tensor in segment.tape.tensors
        if tensor.tensor is data
        for value in tensor.values.values()
    ]
    assert len(values) == 3
    assert len({id(one) for one in values}) == 1


def test_of_a_search_it_has_the_last_pass(tmp_path: Path) -> None:
    indices = []
    path = journal_of(tmp_path / "run.tape")
    journaled(
        training,
        tmp_path / "run.tape",
        lambda recorder, index: indices.append([one.index for one in load(path).passes]),
        until=Until.read("nan"),
    )
    assert indices == [[0], [1], [2], [3]]


def test_beyond_the_budget_arrays_are_summaries(tmp_path: Path) -> None:
    x = mt.tensor(np.linspace(0.0, 1.0, 100), requires_grad=True)
    journal = Journal(str(tmp_path / "run.tape"), {}, total_budget=10_000)
    recorder = ProgramRecorder(after_pass=lambda index: (keeper.ended(index), journal.note(keeper, recorder)))  # type: ignore[arg-type,return-value]
    keeper = Keeper(recorder, seals=True)
    with recorder:
        for number in range(20):
            (x * float(number)).sum().backward()
    so_far = load(journal_of(tmp_path / "run.tape"))
    kinds = [type(value).__name__ for one in so_far.tensors for value in one.values.values() if value.shape == (100,)]
    assert kinds[0] == "ndarray"
    assert kinds[-1] == "Summary"


@pytest.mark.parametrize("cut", [1, 7, 500])
def test_a_part_that_is_cut_off_does_not_count(cut: int, tmp_path: Path) -> None:
    journaled(training, tmp_path / "run.tape", lambda recorder, index: None)
    path = journal_of(tmp_path / "run.tape")
    path.write_bytes(path.read_bytes()[:-cut])
    assert [one.index for one in load(path).passes] == [0, 1, 2]


@pytest.mark.parametrize("at", range(20, 3000, 400))
def test_an_altered_journal_is_read_up_to_there(at: int, tmp_path: Path) -> None:
    journaled(training, tmp_path / "run.tape", lambda recorder, index: None)
    path = journal_of(tmp_path / "run.tape")
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    assert len(load(path).passes) < 4


def test_it_stands_in_for_a_recording_that_was_never_written(tmp_path: Path) -> None:
    out = tmp_path / "run.tape"
    journaled(training, out, lambda recorder, index: None)
    assert len(load(out).passes) == len(mt.load(out).passes) == 4
    save(dataclasses.replace(load(out), passes=()), out)
    assert load(out).passes == ()


def test_a_journal_with_parts_in_the_wrong_order_is_damaged(tmp_path: Path) -> None:
    journaled(training, tmp_path / "run.tape", lambda recorder, index: None)
    path = journal_of(tmp_path / "run.tape")
    data = path.read_bytes()
    first, *others = parts_of(data)
    length = len(START) + 12 + len(first)
    path.write_bytes(START + data[length:] + data[len(START) : length])
    with pytest.raises(RecordingError, match="damaged recording"):
        load(path)
    assert others


def test_a_full_disk_ends_the_journal_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    passes = []
    journaled(training, tmp_path / "run.tape", lambda recorder, index: passes.append(index))
    assert passes == [0, 1, 2, 3]
    assert os.listdir(tmp_path) == []


LOOP = """\
    import os
    import microtape as mt

    w = mt.tensor([1.0, 2.0], requires_grad=True)
    with mt.record(save="run.tape"{options}):
        for number in range(6):
            (w * w).sum().backward()
            if number == 4:
                os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize(
    ("options", "indices"), [("", [0, 1, 2, 3, 4]), (", passes='3-9'", [2, 3, 4]), (", until='nan'", [4])]
)
def test_a_loop_that_is_killed_leaves_its_journal(options: str, indices: list[int], tmp_path: Path) -> None:
    root = str(Path(mt.__file__).parent.parent)
    script = tmp_path / "loop.py"
    script.write_text(textwrap.dedent(LOOP.format(options=options)))
    subprocess.run([sys.executable, script], cwd=tmp_path, env={**os.environ, "PYTHONPATH": root}, check=False)
    assert sorted(os.listdir(tmp_path)) == ["loop.py", "run.tape.journal"]
    assert [one.index for one in mt.load(tmp_path / "run.tape").passes] == indices


def test_a_loop_that_ends_leaves_no_journal(tmp_path: Path) -> None:
    with mt.record(save=tmp_path / "run.tape"):
        training()
    assert os.listdir(tmp_path) == ["run.tape"]
    assert len(load(tmp_path / "run.tape").passes) == 4

"""The other files that `microtape.load` reads: tensors in containers, and the journals of programs that were killed."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random

import pytest

import microtape as mt
from microtape.errors import RecordingError
from microtape.recording.file import objects
from microtape.recording.file.journal import START, _framed, journal_of, parts_of
from microtape.recording.file.tape_file import load
from tests.mutations.content import changed_arrays, changed_json, changed_zip, members_of, zipped
from tests.mutations.judge import LONGEST, look_at

COUNTS = [60, pytest.param(1_000, marks=pytest.mark.slow)]


def check_refusal(number: int, message: str) -> None:
    assert message.isprintable(), f"number {number}: {message[:LONGEST]!r}"
    assert len(message) <= LONGEST, f"number {number}: {message[:LONGEST]!r}"


@pytest.mark.parametrize("count", COUNTS)
def test_damaged_tensors_are_loaded_or_refused(count: int) -> None:
    saved = io.BytesIO()
    mt.save({"a": mt.ones(3), "b": [mt.zeros(2, 2), {"c": mt.tensor(1.5)}], "t": (1, "x", None, True, 2.5)}, saved)
    members, opened = members_of(saved.getvalue()), 0
    for number in range(count):
        random = Random(number)
        kind = random.randrange(10)
        if kind < 6:
            data = zipped(changed_json(members, random, objects.JSON))
        else:
            data = zipped(changed_arrays(members, random)) if kind < 8 else changed_zip(members, random)
        try:
            repr(mt.load(io.BytesIO(data)))
            opened += 1
        except RecordingError as refused:
            check_refusal(number, str(refused))
    assert 0 < opened < count


@pytest.mark.parametrize("count", COUNTS)
def test_damaged_journals_are_shown_or_refused(count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    path = str(tmp_path / "run.tape")
    with mt.record(save=path):
        for _ in range(3):
            (w * w).sum().backward()
        parts = list(parts_of(Path(journal_of(path)).read_bytes()))
    assert len(parts) == 3
    opened = 0
    for number in range(count):
        (tmp_path / "other.tape.journal").write_bytes(damaged_journal(parts, Random(number)))
        try:
            look_at(load(tmp_path / "other.tape.journal"))
            opened += 1
        except RecordingError as refused:
            check_refusal(number, str(refused))
    assert 0 < opened < count


def damaged_journal(parts: list[bytes], random: Random) -> bytes:
    """Parts that are changed, that are missing, that come twice or in another order; or other bytes."""
    changed = list(parts)
    for _ in range(random.choice((1, 1, 2))):
        at, other = random.randrange(len(changed)), random.randrange(len(changed))
        kind = random.randrange(8)
        if kind < 5:
            changed[at] = zipped(changed_json(members_of(random.choice(parts)), random))
        elif kind == 5:
            changed[at], changed[other] = changed[other], changed[at]
        elif kind == 6:
            changed.insert(at, changed[other])
        elif len(changed) > 1:
            del changed[at]
    data = bytearray(START + b"".join(map(_framed, changed)))
    if random.random() < 0.2:
        for _ in range(3):
            data[random.randrange(len(data))] = random.randrange(256)
    return bytes(data)

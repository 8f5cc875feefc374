"""Recordings of so many records that these are made from columns when they are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import microtape as mt
from microtape.errors import RecordingError
from microtape.recording.file import json_parts
from microtape.recording.file.json_records import Damaged
from microtape.recording.file.stored_arrays import StoredArrays
from microtape.recording.file.tape_file import load, save
from microtape.recording.findings import findings
from microtape.recording.model.model import NodeRecord, Recording
from microtape.recording.tables.columns import NONE, Numbers, Table
from tests.support.recordings import handmade
from tests.support.recordings.long_recordings import all_long
from tests.support.recordings.random_recordings import plain, recordings
from tui.words.trace import trace

SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture(name="all_long")
def recordings_are_long() -> Iterator[None]:
    """Every recording counts as long, and so does every list in its JSON."""
    with all_long():
        yield


def network() -> Recording:
    """A training pass with leaves, in-place writes and several outputs."""
    with mt.record() as recorded:
        w = mt.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
        x = (w * 2).relu_()
        low, high = x.split(1)
        (low.sum() * high.mean() + w.sum()).backward()
    return recorded.recording


@SAME_FOLDER
@given(recordings())
def test_what_was_saved_is_loaded(all_long: None, tmp_path: Path, recording: Recording) -> None:
    save(recording, tmp_path / "run.tape")
    assert plain(load(tmp_path / "run.tape")) == plain(recording)


@pytest.mark.parametrize("recording", [network(), handmade.diamond(), handmade.chain(300, width=7)])
def test_a_long_recording_is_told_and_judged_like_a_short_one(
    all_long: None, tmp_path: Path, recording: Recording
) -> None:
    save(recording, tmp_path / "run.tape")
    long = load(tmp_path / "run.tape")
    assert isinstance(long.nodes, Table)
    assert list(trace(long)) == list(trace(recording))
    assert findings(long) == findings(recording)


@SAME_FOLDER
@given(recordings())
def test_a_long_recording_is_saved_as_it_was(all_long: None, tmp_path: Path, recording: Recording) -> None:
    save(recording, tmp_path / "run.tape")
    save(load(tmp_path / "run.tape"), tmp_path / "again.tape")
    assert (tmp_path / "again.tape").read_bytes() == (tmp_path / "run.tape").read_bytes()


def test_a_table_is_used_like_a_tuple(all_long: None, tmp_path: Path) -> None:
    recording = network()
    save(recording, tmp_path / "run.tape")
    nodes = load(tmp_path / "run.tape").nodes
    assert nodes == recording.nodes
    assert nodes != recording.nodes[1:]
    assert nodes[-1] == recording.nodes[-1]
    assert tuple(nodes[1:3]) == recording.nodes[1:3]
    assert [one.id for one in reversed(nodes)] == [one.id for one in reversed(recording.nodes)]
    assert all(isinstance(one, NodeRecord) for one in nodes)
    with pytest.raises(IndexError):
        nodes[len(nodes)]


@pytest.mark.parametrize("top", [1, 2**7 - 1, 2**7, 2**15, 2**31, 2**62])
def test_integers_of_any_size_are_kept(top: int) -> None:
    numbers = [0, None, top, -top, 5]
    column = Numbers(np.array([NONE if one is None else one for one in numbers]))
    assert column.all() == numbers
    assert column.integers(np.array([1, 2])).tolist() == [NONE, top]


@pytest.fixture
def short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numpy reads lists of two integers or more."""
    monkeypatch.setattr(json_parts, "_INTEGERS", json_parts.integers(2))


def parsed(text: str) -> Any:
    """The part as `take_columns` returns it, with lists for arrays."""

    def listed(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: listed(one) for key, one in part.items()}
        if isinstance(part, np.ndarray):
            return [None if one == NONE else one for one in part.tolist()]
        return part

    parts = json_parts.Parts(b'{"a":%s,\n"b":1}\n' % text.encode())
    return listed(parts.take_columns("a"))


@pytest.mark.parametrize(
    "text",
    [
        '{"x":[1,2,3],"y":[null,-4],"z":[true,false],"t":["[1,2,3]"]}',
        '{"t":["a list in a text: [11,22,33]"],"x":[1,2]}',
        "[9007199254740993,9223372036854775806]",
        '{"x":[],"y":[1.5,2]}',
    ],
)
def test_numpy_reads_what_json_reads(short_lists: None, text: str) -> None:
    assert parsed(text) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        "[1,,2]",
        "[1,2,]",
        "[12null]",
        "[--1,2]",
        "[1-2,3]",
        "[99999999999999999999,1]",
        "[9223372036854775807,1]",
        "[-9223372036854775808,1]",
        "[-9223372036854775808,null]",
        "[NaN,1]",
        '{"x":[1,2],"y":NaN}',
    ],
)
def test_numpy_refuses_what_no_recording_holds(short_lists: None, text: str) -> None:
    with pytest.raises(Damaged):
        parsed(text)


def test_a_long_recording_is_checked(all_long: None, tmp_path: Path) -> None:
    recording = network()
    step = recording.passes[0].steps[1]._replace(node=1_000)
    damaged = recording.passes[0]._replace(steps=(recording.passes[0].steps[0], step))
    save(Recording("", recording.nodes, recording.tensors, (damaged,), {}), tmp_path / "run.tape")
    with pytest.raises(RecordingError, match="step 1 of pass 0 has a number out of range"):
        load(tmp_path / "run.tape")


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([[0], [0, 1]], "stored nowhere"),
        ([[0, 0, *[1] * 65], [0, 1]], "stored nowhere"),
        ([[1, 0, 2], [0, 1]], "outside of what is stored"),
        ([[0, 5, 2], [0, 1]], "outside of what is stored"),
        ([[0, 2**62, 2**61], [0, 1]], "outside of what is stored"),
        ([[0, 0, 2**62, 2**62], [0, 1]], "outside of what is stored"),
        ([[0, 0, 0, 2**62, 2**62], [0, 1]], "impossible shape"),
        ([[0, 0, 6], [0, 1]], "share what is stored"),
    ],
)
def test_the_arrays_of_a_long_recording_are_checked(rows: list[list[int]], why: str) -> None:
    sizes, numbers = np.array([len(row) for row in rows]), np.array([number for row in rows for number in row])
    with pytest.raises(Damaged, match=why):
        StoredArrays(sizes, numbers, [np.arange(6.0)])


def test_an_array_of_a_long_recording_is_one_object() -> None:
    arrays = StoredArrays(np.array([4, 2, 3]), np.array([0, 0, 1, 2, 0, 5, 0, 2, 0]), [np.arange(6.0)])
    first = arrays.pick(np.array([1, 0]))
    assert [one.tolist() for one in first] == [5.0, [[0.0, 1.0]]]
    assert arrays.all()[0] is first[1]
    assert arrays.all()[2].shape == (0,)

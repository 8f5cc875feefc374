"""Recordings as files: what is written comes back, small files stay small, damage is refused."""

from __future__ import annotations

import copy
import dataclasses
import io
import math
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import microtape as mt
from microtape.errors import RecordingError
from microtape.recording.engines import record
from microtape.recording.file.tape_file import load, save
from microtape.recording.findings import findings
from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import Recording, Summary
from microtape.recording.model.summary import summarize
from microtape.recording.moments.moment import PassTimeline
from tests.support.recordings.random_recordings import plain, recordings

SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def small_network(width: int = 4) -> Recording:
    x = mt.tensor(np.linspace(-1, 1, 3 * width).reshape(3, width).tolist())
    w = mt.tensor(np.eye(width).tolist(), requires_grad=True)
    loss = ((x @ w).tanh() ** 2).sum()
    recording = record(loss.backward)
    assert isinstance(recording, Recording)
    return recording


NETWORK = small_network()


def arrays_of(recording: Recording) -> list[np.ndarray | Summary]:
    return [value for tensor in recording.tensors for value in tensor.values.values()]


@SAME_FOLDER
@given(recordings())
def test_what_was_saved_is_loaded(tmp_path: Path, recording: Recording) -> None:
    save(recording, tmp_path / "run.tape")
    assert plain(load(tmp_path / "run.tape")) == plain(recording)


def test_a_real_recording_survives(tmp_path: Path) -> None:
    recording = small_network()
    save(recording, tmp_path / "run.tape")
    loaded = load(tmp_path / "run.tape")
    assert plain(loaded) == plain(recording)
    assert loaded.passes[0].steps[0].deliveries
    assert {type(value) for value in arrays_of(loaded)} == {np.ndarray}


def test_a_file_of_format_1_is_read_still() -> None:
    """Written by the first version: an overwritten tensor, a hook, a scope, two passes; borders were not recorded."""
    recording = load(Path(__file__).parent / "golden" / "version1.tape")
    assert [node.op for node in recording.nodes] == [
        "accumulate",
        "accumulate",
        "mul",
        "exp",
        "add",
        "sum",
        "mul",
        "sum",
    ]
    assert [one.error.type if one.error else None for one in recording.passes] == ["ModifiedInPlaceError", None]
    assert [scope.name for scope in recording.scopes] == ["layer"]
    assert {tensor.name: plain(tensor.grad) for tensor in recording.tensors if tensor.grad is not None} == {
        "x": plain(np.array([3.0, -1.0], np.float32)), "w": plain(np.array([1.0, 2.0], np.float32)),
    }  # fmt: skip
    assert recording.borders == ()


def test_a_file_of_format_2_is_read_still() -> None:
    """It had the ready queue after each step, which is worked out now."""
    recording = load(Path(__file__).parent / "golden" / "version2.tape")
    timeline = PassTimeline(recording)
    queues = [[recording.label(node) for node in timeline.ready(i)] for i in range(1, len(timeline.steps) + 1)]
    assert queues == [
        ["%7"],
        ["%6", "squares[2]"],
        ["squares[2]", "squares[1]", "squares[0]"],
        ["c", "squares[1]", "squares[0]"],
        ["squares[1]", "squares[0]"],
        ["b", "squares[0]"],
        ["squares[0]"],
        ["a"],
        [],
    ]
    assert [scope.name for scope in recording.scopes] == ["squares"]
    assert [border.op for border in recording.borders] == ["detach"]


def test_a_file_of_format_3_is_read_still() -> None:
    """It had neither the updates of leaves nor the passes that freed nodes."""
    recording = load(Path(__file__).parent / "golden" / "version3.tape")
    assert [one.error.type if one.error else None for one in recording.passes] == [None, "FreedGraphError"]
    assert [recording.nodes[node].op for node in recording.freed] == ["mul"]
    assert [border.op for border in recording.borders] == ["detach"]
    assert [recording.nodes[one.node].op for one in recording.checks if one.agrees][:2] == ["sum", "exp"]
    assert recording.updates == ()
    assert recording.freed_by == ()


def test_a_file_of_format_4_is_read_still() -> None:
    """It knew nothing of what happens inside of a Function."""
    recording = load(Path(__file__).parent / "golden" / "version4.tape")
    assert [node.op for node in recording.nodes if node.kind == "function"] == ["Clip"]
    assert [recording.tensors[one.tensor].name for one in recording.updates] == ["x"]
    assert (recording.functions, recording.calls) == ((), ())


def test_a_file_of_format_5_is_read_still() -> None:
    """It had no courses."""
    recording = load(Path(__file__).parent / "golden" / "version5.tape")
    assert [one.kind for one in recording.calls] == ["forward", "backward"] * 2
    assert [recording.nodes[one.node].op for one in recording.functions] == ["Clip", "Clip"]
    assert len(recording.jacobians) == 4
    assert recording.courses == ()


def test_a_file_of_format_7_is_read_still() -> None:
    """It had no uses of aliases."""
    recording = load(Path(__file__).parent / "golden" / "version7.tape")
    assert [one.kind for one in recording.borders] == ["not an argument", "no_grad"] * 2
    assert len(recording.updates) == 2
    assert recording.alias_uses == ()


def test_a_file_of_format_8_is_read_still() -> None:
    """It had neither the signs of infinities in summaries nor whether an update counted as a version."""
    recording = load(Path(__file__).parent / "golden" / "version8.tape")
    summaries = [one for one in arrays_of(recording) if isinstance(one, Summary) and one.infs]
    assert [(one.infs, one.negative_infs) for one in summaries] == [(6, None), (6, None)]
    assert [format_value(one, 20) for one in summaries] == ["all Inf", "all Inf"]
    assert [one.is_counted for one in recording.updates] == [None, None]


def test_a_number_that_comes_again_and_again_is_kept_once(tmp_path: Path) -> None:
    x = mt.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(400):  # Python keeps small numbers once anyway
        y = y * x
    save(record(y.backward), tmp_path / "run.tape")
    recording = load(tmp_path / "run.tape")
    ids = {node.id: id(node.id) for node in recording.nodes}
    assert all(id(step.node) == ids[step.node] for step in recording.passes[0].steps)


def test_loaded_arrays_are_read_only(tmp_path: Path) -> None:
    save(small_network(), tmp_path / "run.tape")
    for value in arrays_of(load(tmp_path / "run.tape")):
        assert isinstance(value, np.ndarray)
        assert not value.flags.writeable


def test_equal_recordings_give_equal_bytes(tmp_path: Path) -> None:
    recording = small_network()
    copies = [copy.deepcopy(recording) for _ in range(2)]
    save(copies[0], tmp_path / "one.tape")
    save(copies[1], tmp_path / "two.tape")
    save(load(tmp_path / "one.tape"), tmp_path / "three.tape")
    one, two, three = ((tmp_path / f"{name}.tape").read_bytes() for name in ("one", "two", "three"))
    assert one == two == three


def test_the_members_can_be_read_by_anyone(tmp_path: Path) -> None:
    save(small_network(), tmp_path / "run.tape")
    with zipfile.ZipFile(tmp_path / "run.tape") as archive:
        assert archive.namelist() == ["recording.json", "float32.npy"]
        packed = np.load(io.BytesIO(archive.read("float32.npy")), allow_pickle=False)
    assert packed.dtype == np.float32
    assert packed.ndim == 1


def test_an_array_is_stored_once(tmp_path: Path) -> None:
    recording = small_network(width=30)
    (tensor, *others) = recording.tensors
    again = tensor._replace(values=dict.fromkeys(range(50), tensor.values[0]))
    save(recording, tmp_path / "once.tape")
    save(dataclasses.replace(recording, tensors=(again, *others)), tmp_path / "fifty.tape")
    once, fifty = (os.path.getsize(tmp_path / f"{name}.tape") for name in ("once", "fifty"))
    assert fifty < once + 400


def test_an_array_over_the_element_budget_becomes_a_summary_and_the_file_says_so(tmp_path: Path) -> None:
    recording = small_network(width=70)  # weights of 4,900 elements
    save(recording, tmp_path / "run.tape")
    loaded = load(tmp_path / "run.tape")
    weights = next(tensor for tensor in loaded.tensors if tensor.shape == (70, 70))
    (about,) = weights.values.values()
    assert isinstance(about, Summary)
    assert (about.shape, about.max, about.zeros) == ((70, 70), 1.0, 4900 - 70)
    (note,) = loaded.notes
    assert "4,096 elements" in note
    assert "element_budget=4900 keeps all" in note
    save(recording, tmp_path / "run.tape", element_budget=4900)
    assert plain(load(tmp_path / "run.tape")) == plain(recording)


def infinite_in_forward() -> Recording:
    p = mt.rand(90, 90, generator=mt.Generator().manual_seed(1), requires_grad=True)
    with mt.no_grad():
        p[7, 3] = 0
    return record(((p * 2).log() * p).sum().backward)


def infinite_in_backward() -> Recording:
    x = mt.rand(90, 90, generator=mt.Generator().manual_seed(1), requires_grad=True)
    with mt.no_grad():
        x[7, 3] = 0
    return record((x * 2).sqrt().sum().backward)


def overflowing_row() -> Recording:
    scores = mt.rand(90, 90, generator=mt.Generator().manual_seed(1), requires_grad=True)
    masked = (scores * 2).masked_fill(mt.arange(90)[:, None] == 7, -math.inf)
    return record((masked.softmax(dim=-1) ** 2).sum().backward)


@pytest.mark.parametrize("program", [infinite_in_forward, infinite_in_backward, overflowing_row])
@pytest.mark.parametrize("total_budget", [300_000, 10_000_000])
def test_arrays_where_bad_numbers_begin_are_kept_so_that_findings_name_them(
    tmp_path: Path, program: Callable[[], Recording], total_budget: int
) -> None:
    recording = program()
    save(recording, tmp_path / "run.tape", total_budget=total_budget)
    loaded = load(tmp_path / "run.tape")
    (before,), (after,) = [[one for one in findings(each) if one.severity == "error"] for each in (recording, loaded)]
    assert (before.headline, before.explanation, before.remedy) == (after.headline, after.explanation, after.remedy)
    assert "[7, " in " ".join(after.explanation)
    kinds = [type(one) for one in arrays_of(loaded) if one.shape == (90, 90)]
    assert Summary in kinds  # what has nothing to do with it
    assert np.ndarray in kinds


def test_arrays_where_bad_numbers_begin_are_summaries_where_there_is_no_room(tmp_path: Path) -> None:
    save(infinite_in_forward(), tmp_path / "run.tape", total_budget=1_000)
    loaded = load(tmp_path / "run.tape")
    assert {type(one) for one in arrays_of(loaded) if one.shape == (90, 90)} == {Summary}
    assert findings(loaded)[0].headline.startswith("Infinity begins at log, ")


def test_over_the_total_budget_the_largest_arrays_go_first(tmp_path: Path) -> None:
    recording = small_network(width=40)  # weights of 1,600 elements, the rest has 120 and fewer
    save(recording, tmp_path / "run.tape", total_budget=15_000)
    loaded = load(tmp_path / "run.tape")
    kinds = {tensor.shape: type(value) for tensor in loaded.tensors for value in tensor.values.values()}
    assert kinds[(40, 40)] is Summary
    assert kinds[(3, 40)] is np.ndarray
    (note,) = loaded.notes
    assert "to stay within 15,000 bytes" in note


def test_small_arrays_are_kept_whatever_the_total_budget(tmp_path: Path) -> None:
    save(small_network(), tmp_path / "run.tape", total_budget=0)
    assert {type(value) for value in arrays_of(load(tmp_path / "run.tape"))} == {np.ndarray}


def test_summaries_are_not_summarised_again(tmp_path: Path) -> None:
    save(small_network(width=70), tmp_path / "run.tape")
    loaded = load(tmp_path / "run.tape")
    save(loaded, tmp_path / "again.tape")
    assert plain(load(tmp_path / "again.tape")) == plain(loaded)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "complex32", "bool", "uint16"])
def test_a_summary_of_any_dtype_of_pytorch_is_kept(tmp_path: Path, dtype: str) -> None:
    recording = small_network()
    (tensor, *others) = recording.tensors
    about = summarize(np.linspace(-1, 1, 9))._replace(dtype=dtype)
    save(dataclasses.replace(recording, tensors=(tensor._replace(values={0: about}), *others)), tmp_path / "run.tape")
    assert load(tmp_path / "run.tape").tensors[0].values[0] == about


def test_other_byte_orders_and_strides_are_only_a_way_of_storing(tmp_path: Path) -> None:
    recording = small_network()
    (tensor, *others) = recording.tensors
    odd = {0: np.arange(6, dtype=">f4").reshape(2, 3).T, 1: np.broadcast_to(np.float32(3), (4, 2))}
    save(dataclasses.replace(recording, tensors=(tensor._replace(values=odd), *others)), tmp_path / "run.tape")
    loaded = load(tmp_path / "run.tape").tensors[0].values
    for version, array in odd.items():
        np.testing.assert_array_equal(loaded[version], array)


def test_an_object_array_is_refused(tmp_path: Path) -> None:
    recording = small_network()
    tensor = recording.tensors[0]._replace(values={0: np.array([object()])})
    with pytest.raises(RecordingError, match="dtype object cannot be saved"):
        save(dataclasses.replace(recording, tensors=(tensor, *recording.tensors[1:])), tmp_path / "run.tape")
    assert os.listdir(tmp_path) == []


def test_options_are_plain(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="options"):
        save(dataclasses.replace(small_network(), options={"rate": float("nan")}), tmp_path / "run.tape")


# Files and folders


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "run.tape"
    save(small_network(), target)
    before = target.read_bytes()

    def fail(*paths: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(RecordingError, match=r"run\.tape: cannot be written: No space left on device"):
        save(small_network(5), target)
    assert target.read_bytes() == before
    assert os.listdir(tmp_path) == ["run.tape"]


def test_saving_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.tape").symlink_to(tmp_path / "real.tape")
    save(small_network(), tmp_path / "link.tape")
    assert (tmp_path / "link.tape").is_symlink()
    assert load(tmp_path / "real.tape").nodes


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_not_a_file_is_written_to_rather_than_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    save(NETWORK, tmp_path / "pipe")
    assert os.read(reader, 4) == b"PK\x03\x04"
    os.close(reader)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("none.tape", None, "cannot be read: No such file or directory"),
        ("empty.tape", b"", "empty: make one with `microtape record"),
        ("script.py", b"import microtape\n", "not a recording"),
        ("cut.tape", b"PK\x03\x04", "damaged recording"),
    ],
)
def test_what_is_not_a_recording(tmp_path: Path, name: str, content: bytes | None, complaint: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(RecordingError) as refused:
        load(tmp_path / name)
    assert str(refused.value).startswith(f"{tmp_path / name}: ")
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_is_not_a_recording(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="cannot be read: Is a directory"):
        load(tmp_path)
    with pytest.raises(RecordingError, match="cannot be written: Is a directory"):
        save(small_network(), tmp_path)
    with pytest.raises(RecordingError, match="cannot be written: No such file or directory"):
        save(small_network(), tmp_path / "nowhere" / "run.tape")


# Damage that happens


@SAME_FOLDER
@given(st.data())
def test_flipped_bytes_are_noticed_or_do_not_matter(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "run.tape"
    save(NETWORK, path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        loaded = load(path)
    except RecordingError:
        return
    assert plain(loaded) == plain(NETWORK)


@SAME_FOLDER
@given(st.floats(0, 1, exclude_max=True))
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, part: float) -> None:
    path = tmp_path / "run.tape"
    save(NETWORK, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(RecordingError):
        load(path)

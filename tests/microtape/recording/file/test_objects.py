"""Tensors and nested containers of them come back from a file as they went in; anything else gives one line."""

from __future__ import annotations

import contextlib
import io
import json
import math
import zipfile
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import microtape as mt
from microtape.errors import RecordingError
from tests.support.recordings.live import leaf

DTYPES = [mt.bool, mt.uint8, mt.int8, mt.int16, mt.int32, mt.int64, mt.float16, mt.float32, mt.float64, mt.complex64]
tensors = st.builds(
    lambda array, wants: mt.from_numpy(array).requires_grad_(wants and array.dtype.kind in "fc"),
    st.sampled_from([one.dtype for one in DTYPES]).flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0))),
    st.booleans(),
)
keys = st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.tuples(st.integers(), st.text()))
leaves = st.one_of(
    tensors, st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.text(), st.binary()
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(keys, inner),
        st.dictionaries(keys, inner).map(OrderedDict),
    ),
    max_leaves=8,
)


def saved(value):
    """The file that `save` writes."""
    buffer = io.BytesIO()
    mt.save(value, buffer)
    buffer.seek(0)
    return buffer


def same(a, b):
    """Whether two objects are equal, NaN included, and of the same types throughout."""
    if type(a) is not type(b):
        return False
    if isinstance(a, mt.Tensor):
        same_kind = a.dtype is b.dtype and a.requires_grad == b.requires_grad and a.shape == b.shape
        return same_kind and a.detach().numpy().tobytes() == b.detach().numpy().tobytes()
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return len(a) == len(b) and all(
            same(x, y) for pair in zip(a.items(), b.items(), strict=True) for x, y in zip(*pair, strict=True)
        )
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    return a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b))


@given(trees)
def test_what_is_saved_is_loaded(value):
    assert same(mt.load(saved(value)), value)


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0).reshape(2, 3),
        np.float32(1.5),
        {1, 2},
        frozenset({"a"}),
        mt.Size([2, 3]),
        mt.float32,
        mt.device("cpu"),
    ],
    ids=str,
)
def test_other_values_are_loaded_as_they_were(value):
    assert same(mt.load(saved(value)), value)


def test_a_tensor_that_occurs_twice_is_one_tensor_again():
    x = mt.ones(3)
    a, (b, c) = mt.load(saved([x, (x, mt.ones(3))]))
    assert a is b
    assert a is not c


def test_a_loaded_tensor_can_be_written_to_and_is_a_leaf():
    x = mt.load(saved(leaf([1.0, 2.0])))
    assert x.is_leaf
    x.detach().mul_(2)
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_a_transposed_tensor_keeps_its_elements():
    x = mt.arange(6).reshape(2, 3).t()
    assert mt.load(saved(x)).tolist() == x.tolist()


def test_the_state_of_the_random_numbers_can_be_saved():
    before = mt.get_rng_state()
    file, expected = saved({"rng": before}), mt.rand(5).tolist()
    mt.set_rng_state(mt.load(file)["rng"])
    assert mt.rand(5).tolist() == expected


def test_a_path_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "weights.pt"
    mt.save({"w": mt.ones(2)}, path)
    with pytest.raises(RecordingError):
        mt.save({"w": object()}, path)
    assert mt.load(str(path), map_location="cpu", weights_only=True)["w"].tolist() == [1.0, 1.0]
    assert [one.name for one in tmp_path.iterdir()] == ["weights.pt"]


class Model:
    def state_dict(self):
        return {}


CYCLE: list = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"f": print}, r"^the object\['f'\] is a builtin_function_or_method, which cannot be saved; tensors"),
        ([1, Model()], r"^the object\[1\] is a Model, which cannot be saved: save its state_dict\(\)$"),
        (leaf(1.0) * 2, r"^the object is a tensor with a history, which cannot be saved: save tensor\.detach\(\)$"),
        (np.array([object()]), r"^the object is an array of object, which cannot be saved$"),
        (CYCLE, r"more than 200 containers inside of each other$"),
        ({object(): 1}, r"^a key of the object is a object, which cannot be saved"),
    ],
    ids=["function", "module", "history", "objects", "cycle", "key"],
)
def test_what_cannot_be_saved_is_named(value, message):
    with pytest.raises(RecordingError, match=message):
        saved(value)


def test_a_file_of_pytorch_is_refused(tmp_path):
    path = tmp_path / "theirs.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("theirs/data.pkl", b"")
    with pytest.raises(RecordingError, match="a file of PyTorch's, which is a pickle"):
        mt.load(path)


def test_a_missing_file_and_another_device_give_one_line(tmp_path):
    with pytest.raises(RecordingError, match=r"missing\.pt: cannot be read: No such file or directory$"):
        mt.load(tmp_path / "missing.pt")
    with pytest.raises(RuntimeError, match="there is no device but the cpu here, got 'cuda'"):
        mt.load(saved(1), map_location="cuda")


@given(st.data())
def test_a_damaged_file_gives_one_line(data):
    content = bytearray(saved({"a": [mt.arange(5), leaf(1.0)], "b": (1, "text", math.inf)}).getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    loaded_or_refused(bytes(content))
    loaded_or_refused(bytes(content[:cut]))


TREES = st.recursive(
    st.one_of(st.none(), st.integers(-3, 3), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "tensor",
                    "parameter",
                    "array",
                    "scalar",
                    "dict",
                    "tuple",
                    "set",
                    "Size",
                    "dtype",
                    "device",
                    "bytes",
                    "complex",
                    "float",
                    "x",
                ]
            ),
            inner,
            max_size=2,
        ),
    ),
    max_leaves=6,
)


@given(TREES, TREES)
def test_a_file_with_any_other_json_gives_one_line(tree, arrays):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        content = {"format": "microtape object", "version": 1, "arrays": arrays, "object": tree}
        archive.writestr("object.json", json.dumps(content))
    loaded_or_refused(buffer.getvalue())


def loaded_or_refused(content):
    """Any other exception than a RecordingError of one line fails the test."""
    with contextlib.suppress(RecordingError):
        mt.load(io.BytesIO(content))
        return
    with pytest.raises(RecordingError, match=r"\A[^\n]*\Z"):
        mt.load(io.BytesIO(content))


def test_a_recording_saves_and_loads_itself(tmp_path):
    x = leaf(2.0)
    recording = mt.record((x * x).sum().backward)
    recording.save(tmp_path / "a.tape")
    assert type(recording).load(tmp_path / "a.tape") == recording
    assert mt.load(tmp_path / "a.tape") == recording
    assert mt.load(saved(recording)) == recording

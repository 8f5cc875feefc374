"""Every public operation refuses, as torch does, what is no tensor where a tensor belongs."""

from __future__ import annotations

import inspect
import itertools
import re

import pytest

import microtape
from microtape.tensors.methods import Methods

pytestmark = pytest.mark.parity

SPACES = {"": "", "linalg": "linalg", "functional": "nn.functional", "method": "Tensor"}
NOT_OPERATIONS = """enable_grad inference_mode load manual_seed no_grad record save scope seed set_anomaly_enabled
    set_default_dtype set_grad_enabled set_default_device set_default_tensor_type set_printoptions set_num_threads
    set_num_interop_threads use_deterministic_algorithms set_float32_matmul_precision set_rng_state"""
ONLY_OURS = {
    "tensordot": "looks at its tensors before its dims",
    "split": "torch's splits a string",
    "from_dlpack": "torch's error is about a capsule",
}
WRONG = {"None": None, "a str": "a", "a list": [1.0], "a tuple": (1.0, 2.0), "a dict": {}, "an object": object()}
TENSOR = "tensor"


def names():
    """(space, name) for each operation that torch has as well."""
    import torch

    for space, path in SPACES.items():
        found = [name for name in vars(Methods) if name[0] != "_"] if space == "method" else within(path).__all__
        for name in found:
            ours, theirs = getattr(within(path), name), getattr(within(path, torch), name, None)
            if (
                callable(theirs)
                and inspect.isfunction(ours)
                and name not in NOT_OPERATIONS.split()
                and name not in ONLY_OURS
            ):
                yield space, name


def within(path, library=microtape):
    """The namespace in a library."""
    for part in filter(None, path.split(".")):
        library = getattr(library, part)
    return library


def outcome(library, space, name, arguments):
    """What the call raises, or None; `TENSOR` stands for a matrix."""
    made = [library.tensor([[1.0, 2.0], [3.0, 4.0]]) if one is TENSOR else one for one in arguments]
    try:
        getattr(within(SPACES[space], library), name)(*made)
    except Exception as error:
        return error
    return None


def refuses_a_tensor(error):
    """Whether torch's error says that an argument should be a tensor."""
    said = re.search("must be Tensor, not|must be tuple of Tensors, not|expected Tensor as element", str(error))
    return isinstance(error, AttributeError) or (isinstance(error, TypeError) and said)


def differences(space, torch):
    """A text for each call that ends otherwise than torch's."""
    for _, name in (one for one in names() if one[0] == space):
        for count in (1, 2, 3):
            for places in itertools.product((True, False), repeat=count):
                if all(places) or (space == "method" and not places[0]):
                    continue
                for what, wrong in WRONG.items():
                    arguments = [TENSOR if place else wrong for place in places]
                    theirs, ours = (outcome(library, space, name, arguments) for library in (torch, microtape))
                    if isinstance(ours, AttributeError | KeyError | AssertionError):
                        yield f"{name}{places} with {what}: {ours!r}"
                    if refuses_a_tensor(theirs) and not isinstance(ours, TypeError):
                        yield f"{name}{places} with {what}: torch {theirs!r}, microtape {ours!r}"


@pytest.mark.parametrize("space", SPACES)
def test_an_operation_says_that_an_argument_is_no_tensor(space, torch):
    found = list(differences(space, torch))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "call",
    [
        lambda mt, x: mt.mm(x, "a"),
        lambda mt, x: x.mm("a"),
        lambda mt, x: x.dot(None),
        lambda mt, x: x.mm(3),
        lambda mt, x: x.view_as([1.0]),
        lambda mt, x: x.logical_and(other=()),
        lambda mt, x: mt.cat({}),
        lambda mt, x: mt.stack([x, None]),
        lambda mt, x: mt.sum(None),
        lambda mt, x: mt.addcmul(x, [1.0], x),
        lambda mt, x: mt.complex(x, None),
        lambda mt, x: mt.exp(None),
    ],
)
def test_the_words_are_those_of_torch(call, torch):
    said = []
    for library in (torch, microtape):
        with pytest.raises(TypeError) as caught:
            call(library, library.ones(2, 2))
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_the_position_of_an_argument_does_not_count_the_tensor_of_a_method():
    x = microtape.ones(2)
    with pytest.raises(TypeError, match=r"add\(\): argument 'other' \(position 1\) must be Tensor, not NoneType"):
        x.add(None)
    with pytest.raises(TypeError, match=r"add\(\): argument 'other' \(position 2\) must be Tensor, not NoneType"):
        microtape.add(x, None)

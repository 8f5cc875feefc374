"""torch's tensors and ours in the same memory."""

import numpy as np
import pytest

import microtape

pytestmark = pytest.mark.parity


def test_memory_is_shared_with_torch_both_ways(torch):
    ours = microtape.tensor([[1.0, 2.0], [3.0, 4.0]])
    theirs = torch.from_dlpack(ours.t())
    theirs[0, 1] = 9.0
    assert ours.tolist() == [[1.0, 2.0], [9.0, 4.0]]
    back = microtape.from_dlpack(theirs)
    back[0, 0] = 7.0
    assert theirs[0, 0].item() == ours[0, 0].item() == 7.0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "uint8", "bool", "complex64"])
def test_every_dtype_goes_there_and_back(torch, dtype):
    array = np.array([0, 1, 1], dtype)
    there = torch.from_dlpack(microtape.from_numpy(array))
    assert str(there.dtype) == f"torch.{dtype}"
    assert microtape.from_dlpack(there).numpy().dtype == dtype


def test_both_refuse_what_requires_grad_in_the_same_words(torch):
    def refusal(take, tensor):
        with pytest.raises(BufferError) as caught:
            take(tensor)
        return str(caught.value)

    ours = refusal(torch.from_dlpack, microtape.ones(1, requires_grad=True))
    assert ours == refusal(microtape.from_dlpack, torch.ones(1, requires_grad=True))

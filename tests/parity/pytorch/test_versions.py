"""The versions of a parameter of torch's: what the page of versions says of the updates between passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.shell.spans import plain
from tui.time.cursor import StepCursor
from tui.words.versions import uncounted, versions_told

COUNTED = {"SGD": 1, "AdamW": 2, "by hand": 1, "detached": 1}  # by how much a version rises
BEHIND = ("data", "numpy", "fused")  # fused optimisers write without counting
SAID = {
    "SGD": "sgd.step()",
    "AdamW": "adamw.step()",
    "by hand": "w -= 0.1 * w.grad",
    "detached": "w.detach().sub_(0.1)",
    "data": "w.data.sub_(0.1)",
    "fused": "fused.step()",
}


def recorded(updates):
    """A parameter after these updates, a pass before each."""
    import torch

    from microtape.recording.pytorch.recorder import TorchRecorder

    w = torch.nn.Parameter(torch.ones(3))
    sgd, adamw = torch.optim.SGD([w], lr=0.1), torch.optim.AdamW([w], lr=0.1)
    fused = torch.optim.SGD([w], lr=0.1, fused=True)
    recorder = TorchRecorder()
    with recorder:
        for update in updates:
            sgd.zero_grad()
            (w * 2).sum().backward()
            recorder.begin_segment()
            if update == "SGD":
                sgd.step()
            elif update == "AdamW":
                adamw.step()
            elif update == "fused":
                fused.step()
            elif update == "by hand":
                with torch.no_grad():
                    w -= 0.1 * w.grad
            elif update == "detached":
                w.detach().sub_(0.1)
            elif update == "data":
                w.data.sub_(0.1)
            else:
                w.detach().numpy()[0] += 0.1
        (w * 2).sum().backward()
    return recorder.recording, w


@given(st.lists(st.sampled_from([*COUNTED, *BEHIND]), min_size=1, max_size=5))
@pytest.mark.filterwarnings("ignore")
def test_an_update_goes_behind_the_versions_only_if_torch_counts_none(updates):
    recording, w = recorded(updates)
    assert w._version == sum(COUNTED.get(one, 0) for one in updates)
    tensor, cursor = next(one.id for one in recording.tensors if one.name == "w"), StepCursor.open(recording).end()
    warned = [plain(one) for one in uncounted(cursor, tensor)]
    behind = sum(one in BEHIND for one in updates)
    often = f"{behind} times" if behind > 1 else "once"
    assert [one.partition(",")[0] for one in warned] == [f"w was written to {often}"] * (behind > 0)
    made = [plain(one.lines[0])[5:] for one in versions_told(cursor, tensor, 90)]
    assert made[0].startswith("as the program made it")
    if behind:  # a write that no version counts may have no row of its own, or stand in the way of another's
        return
    for said, update in zip(made[1:], updates, strict=True):
        assert said.startswith(SAID[update])
        assert "no version counts it" not in said
        assert ("2 writes" in said) == (update == "AdamW")


@pytest.mark.parametrize("update", ["data", "fused"])
def test_a_write_that_no_version_counts_has_a_row_that_says_so(update):
    recording, _ = recorded(["SGD", update])
    tensor, cursor = next(one.id for one in recording.tensors if one.name == "w"), StepCursor.open(recording).end()
    *_, last = [plain(one.lines[0])[5:] for one in versions_told(cursor, tensor, 90)]
    assert last.startswith(SAID[update])
    assert "no version counts it" in last


def test_a_parameter_begins_with_the_version_that_was_first_used(torch):
    from microtape.recording.pytorch.recorder import TorchRecorder

    layer = torch.nn.Linear(3, 2)  # which writes its own initial values
    with TorchRecorder() as recorder:
        layer(torch.ones(4, 3)).sum().backward()
    recording = recorder.recording
    bias = next(one.id for one in recording.tensors if one.name == "layer.bias")
    (version,) = versions_told(StepCursor.open(recording).end(), bias, 90)
    assert plain(version.lines[0]).startswith("v1   as the program first used it, after 1 write  ")

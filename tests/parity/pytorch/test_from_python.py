"""`viz.draw`, `tui.step` and `microtape.record` on tensors of torch."""

from __future__ import annotations

from pathlib import Path

import pytest

import microtape
import tui
import viz


def test_the_graph_of_a_loss_is_drawn_with_the_callers_names() -> None:
    import torch

    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    hidden = weight.exp()
    loss = hidden.sum()
    for drawn in (loss, [loss, hidden], loss.grad_fn, [loss.grad_fn, hidden.grad_fn]):
        dot = viz.draw(drawn).dot
        assert "weight" in dot
        assert "hidden" in dot


def test_a_view_that_another_write_has_made_invalid_hides_no_graph() -> None:
    import torch

    weight = torch.ones(2, 3, requires_grad=True)
    whole = weight * 2
    row, _ = whole.unbind(0)
    with torch.no_grad():
        whole.zero_()
    loss = weight.exp().sum()
    with pytest.raises(RuntimeError, match="modified inplace"):
        row.grad_fn  # noqa: B018
    for drawn in (loss, loss.grad_fn):
        assert "weight" in viz.draw(drawn).dot


def test_a_backward_is_called_recorded_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = (weight * weight).sum()
    tui.step([loss, weight.sum()])
    assert weight.grad is not None
    assert weight.grad.tolist() == [3.0, 5.0]
    out = capsys.readouterr().out
    assert "·  tui.step([loss, weight.sum()])  ·" in out
    assert ".grad  [3, 5]  complete" in out


def test_what_was_computed_before_has_the_names_and_values_of_variables(capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    weight = torch.tensor([-4.0, 9.0], requires_grad=True)
    half = weight / 2
    root = half.sqrt()
    tui.step((root * weight).sum())
    out = capsys.readouterr().out
    assert "NaN begins at root: √(-2) = nan" in out
    assert "root = √half" in out
    assert "half = weight / constant" in out


def test_a_recorder_that_is_entered_again_goes_on() -> None:
    import torch

    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    with microtape.record() as recorder:
        (weight * 2).sum().backward()
    weight.sum().backward()
    with recorder:
        (weight * 3).sum().backward()
    assert [one.index for one in recorder.recording.passes] == [0, 1]
    assert weight.grad is not None
    assert weight.grad.tolist() == [6.0, 6.0]


def test_a_pass_that_cannot_begin_is_told_where_it_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    tui.step(weight * 2)
    assert "RuntimeError at test_from_python.py:" in capsys.readouterr().out


def test_a_node_can_be_stepped_through(capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 5):
        pytest.skip("a pass begins at a node since torch 2.5")
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    tui.step(weight.sum().grad_fn)
    assert ".grad  [1, 1]  complete" in capsys.readouterr().out
    with pytest.raises(TypeError, match=r"or a Tensor, a grad_fn or a list of them, not torch.dtype"):
        tui.step(weight.dtype)


def test_the_same_program_is_recorded_drawn_and_saved(tmp_path: Path) -> None:
    import torch

    with microtape.record() as r:
        weight = torch.tensor([1.0, 2.0], requires_grad=True)
        (weight * weight).sum().backward()
    microtape.save(r.recording, f"{tmp_path}/run.tape")
    assert [one.name for one in microtape.load(f"{tmp_path}/run.tape").nodes] == [
        "AccumulateGrad",
        "MulBackward0",
        "SumBackward0",
    ]
    assert viz.draw(r).dot == viz.draw(f"{tmp_path}/run.tape").dot

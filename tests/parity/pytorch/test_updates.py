"""The steps of optimisers between the passes of several segments."""

from __future__ import annotations

import pytest

from microtape.recording.findings import findings


def test_each_update_is_recorded_once_with_its_line_and_its_pass() -> None:
    import torch

    from microtape.recording.pytorch.recorder import TorchRecorder

    recorder = TorchRecorder()
    first, second = (torch.nn.Linear(2, 1) for _ in range(2))
    optimisers = [torch.optim.SGD(one.parameters(), lr=0.1) for one in (first, second)]
    with recorder:
        for number in range(6):
            (first, second)[number % 2](torch.ones(3, 2)).sum().backward()
            optimisers[number % 2].step()
            recorder.begin_segment()
            recorder.recording  # noqa: B018 - a search asks for it after each pass
    recording = recorder.recording
    found = [(one.passes, recording.tensors[one.tensor].names[0]) for one in recording.updates]
    assert all(one.place is not None for one in recording.updates)
    assert sorted(found) == [
        (i + 1, f"{('first', 'second')[i % 2]}.{name}") for i in range(6) for name in ("bias", "weight")
    ]


def test_a_sum_that_is_reset_before_the_next_update_is_no_fault_in_any_segment() -> None:
    """A generator's loss goes through the critic, whose gradients are then reset."""
    import torch

    from microtape.recording.pytorch.recorder import TorchRecorder

    recorder = TorchRecorder()
    maker, critic = (torch.nn.Linear(2, 2) for _ in range(2))
    by_maker, by_critic = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (maker, critic))
    with recorder:
        for _ in range(2):
            fake = maker(torch.randn(3, 2))
            by_critic.zero_grad()
            critic(fake.detach()).pow(2).sum().backward()
            recorder.begin_segment()
            by_critic.step()
            by_maker.zero_grad()
            (critic(fake) - 1).pow(2).sum().backward()
            assert [one for one in findings(recorder.recording) if one.severity != "notice"] == []
            recorder.begin_segment()
            by_maker.step()
    assert [one for one in findings(recorder.recording) if one.severity != "notice"] == []


@pytest.mark.parametrize("through", ["weight", "weight.data", "weight.detach()"])
@pytest.mark.parametrize("is_undone", [True, False])
def test_a_step_that_is_undone_is_not_one_of_nothing(through: str, is_undone: bool) -> None:
    """Someone tries a step and goes back; the same without a learning rate."""
    import torch

    from microtape.recording.pytorch.recorder import TorchRecorder

    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1 if is_undone else 0.0)
    with TorchRecorder() as recorder:
        for _ in range(2):
            optimizer.zero_grad()
            layer(torch.ones(3, 2)).sum().backward()
            before = [one.detach().clone() for one in layer.parameters()]
            optimizer.step()
            for weight, old in zip(layer.parameters(), before, strict=True):
                if is_undone:
                    with torch.no_grad():
                        eval(through, {"weight": weight}).copy_(old)
    recording = recorder.recording
    assert [one.change for one in recording.updates] == [None if is_undone else 0.0] * 4
    kinds = [one.kind for one in findings(recording) if one.severity != "notice"]
    assert kinds == ([] if is_undone else ["no update"])


def test_a_step_in_a_hook_of_a_pass_is_an_update_at_its_line() -> None:
    import torch

    from microtape.recording.pytorch.recorder import TorchRecorder

    model, recorder = torch.nn.Linear(2, 1), TorchRecorder()
    optimisers = {one: torch.optim.SGD([one], lr=0.1) for one in model.parameters()}
    for one in model.parameters():
        one.register_post_accumulate_grad_hook(lambda leaf: optimisers[leaf].step())
    with recorder:
        for _ in range(3):
            model(torch.ones(3, 2)).sum().backward()
            recorder.begin_segment()
    updates = recorder.recording.updates
    assert [one.passes for one in updates] == [1, 1, 2, 2, 3, 3]
    assert all(one.place is not None and one.place.function.endswith("<lambda>") for one in updates)


def test_a_leaf_that_no_pass_reaches_is_known_to_be_stepped_where_the_passes_are_inside_of_the_step() -> None:
    import torch

    from microtape.recording.pytorch.recorder import TorchRecorder

    used, idle = (torch.nn.Linear(2, 1, bias=False) for _ in range(2))
    optimizer = torch.optim.LBFGS([*used.parameters(), *idle.parameters()], max_iter=3)
    recorder = TorchRecorder(after_pass=lambda index: recorder.seal())

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = used(torch.ones(3, 2)).square().sum()
        loss.backward()
        return loss

    with recorder:
        optimizer.step(closure)
    recording = recorder.recording
    assert len(recording.passes) > 1
    assert {recording.tensors[one.tensor].name for one in recording.updates} == {"used.weight", "idle.weight"}

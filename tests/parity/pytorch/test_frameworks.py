"""Programs in a framework: its functions call backward and step, and the program's own lines are named all the same."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

import microtape as mt
from microtape.recording.findings import findings
from microtape.recording.model.model import Recording

pytestmark = pytest.mark.parity

FRAMEWORK = """
class Optimizer:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self, closure=None):
        return self.optimizer_step(closure)

    def optimizer_step(self, closure):
        return self.optimizer.step(closure)


class Trainer:
    def manual_backward(self, loss):
        self.backward(loss / 2)

    def backward(self, loss):
        loss.backward()

    def fit(self, module, optimizer, batches):
        for x in batches:
            def closure():
                optimizer.zero_grad()
                loss = module.loss(x)
                self.backward(loss)
                return loss

            optimizer.step(closure)
"""
BEGINNING = """
import torch
from frame import Optimizer, Trainer

torch.manual_seed(0)
trainer = Trainer()
maker, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
maker_steps = Optimizer(torch.optim.SGD(maker.parameters(), 0.1))
critic_steps = Optimizer(torch.optim.SGD(critic.parameters(), 0.1))
real = torch.randn(8, 2)
"""
ROUNDS = """
for _ in range(3):
    made = maker(torch.randn(8, 2))
    critic_steps.zero_grad()
    trainer.manual_backward(critic(made.detach()).mean() - critic(real).mean())  # the critic's
    critic_steps.step()
    maker_steps.zero_grad()
    trainer.manual_backward(-critic(made).mean())  # the maker's
    maker_steps.step()
"""
LOOP = """
del maker, maker_steps
critic.loss = lambda x: critic(x).square().mean()
trainer.fit(critic, critic_steps, [real] * 3)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "frame.py").write_text(FRAMEWORK)
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "frame", raising=False)
    return tmp_path


def recorded(folder: Path, text: str) -> Recording:
    (folder / "train.py").write_text(BEGINNING + text)
    variables = None  # they keep the parameters alive
    with mt.record() as recorder:
        try:
            variables = runpy.run_path(str(folder / "train.py"), run_name="__main__")
        except RuntimeError as error:
            recorder.error = recorder.error_record(error)
    found = recorder.recording
    del variables
    return found


def line(recording: Recording, place: Any) -> str:
    return f"{place.file}: {recording.sources[place.file].splitlines()[place.line - 1].strip()}"


def test_passes_and_updates_have_the_lines_that_ask_for_them(torch: Any, folder: Path) -> None:
    recording = recorded(folder, ROUNDS)
    assert findings(recording) == ()
    lines = [line(recording, one.place).rpartition("# ")[2] for one in recording.passes]
    assert lines == ["the critic's", "the maker's"] * 3
    updates = {(recording.tensors[one.tensor].name, line(recording, one.place)) for one in recording.updates}
    assert updates == {
        ("critic.weight", "train.py: critic_steps.step()"),
        ("critic.bias", "train.py: critic_steps.step()"),
        ("maker.weight", "train.py: maker_steps.step()"),
        ("maker.bias", "train.py: maker_steps.step()"),
    }


def test_a_loop_of_the_framework_has_the_lines_that_call_torch(torch: Any, folder: Path) -> None:
    recording = recorded(folder, LOOP)
    assert findings(recording) == ()
    assert {line(recording, one.place) for one in recording.passes} == {"site-packages/frame.py: loss.backward()"}
    updates = [(one.passes, line(recording, one.place)) for one in recording.updates]
    step = "site-packages/frame.py: return self.optimizer.step(closure)"
    assert updates == [(passes, step) for passes in (1, 1, 2, 2, 3, 3)]  # none before the pass that a step waits for


def test_a_finding_names_the_framework_s_optimiser(torch: Any, folder: Path) -> None:
    found = findings(recorded(folder, ROUNDS.replace("    critic_steps.zero_grad()\n", "")))[0]
    assert found.kind == "accumulated"
    assert found.remedy.startswith("Call critic_steps.zero_grad() before train.py:14, in each round.")


@pytest.mark.parametrize("given", ["loss", "loss.detach()"])
def test_a_refused_backward_is_that_of_the_tensor_it_was_given(torch: Any, folder: Path, given: str) -> None:
    cut = "maker(real).square().mean()" + (".detach()" if given == "loss" else "")
    recording = recorded(folder, f"loss = {cut}\ntrainer.manual_backward({given})\n")
    found = findings(recording)[0]
    assert found.headline.removeprefix("The ").startswith("loss has no history: detach()")
    assert [line(recording, place) for _, place in found.others] == [f"train.py: trainer.manual_backward({given})"]
    assert ".detach()" in line(recording, found.place)

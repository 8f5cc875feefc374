"""The first finding of a broken PyTorch program names the kind and the line; in healthy ones nothing is found."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from microtape.recording.findings.finding import MOST_IN_A_HEADLINE
from microtape.recording.model.model import Recording
from tests.programs.corpus import (
    HERE,
    Verdict,
    broken_torch_programs,
    expected,
    faults_of,
    healthy_torch_programs,
    record_program,
    table,
)
from tui.shell.exits import Exit

each_broken = pytest.mark.parametrize("program", broken_torch_programs(), ids=lambda path: path.stem)
each_healthy = pytest.mark.parametrize(
    "program", healthy_torch_programs(), ids=lambda path: str(path.relative_to(HERE / "pytorch"))
)


@cache
def recorded(program: Path) -> Recording:
    import torch

    torch.set_num_threads(1)
    return record_program(program)[0]


def test_every_broken_program_has_an_entry_and_every_entry_a_program() -> None:
    assert {path.stem for path in broken_torch_programs()} == set(table()["pytorch"])


def test_every_broken_program_has_a_healthy_twin() -> None:
    healthy = {path.stem for path in healthy_torch_programs()}
    assert {path.stem for path in broken_torch_programs()} <= healthy


@each_broken
def test_the_first_finding_names_the_kind_and_the_line(program: Path) -> None:
    verdict = Verdict(program, expected(program), findings(recorded(program)))
    assert not verdict.misses, verdict.found[:2]


@pytest.mark.parametrize("program", broken_torch_programs(), ids=lambda path: path.stem)
def test_a_broken_program_is_recorded_without_a_fault(program: Path) -> None:
    recording = recorded(program)
    assert faults_of(recording) == []
    assert recording.nodes
    for one in findings(recording):
        check_whole(one)


def check_whole(finding: Finding) -> None:
    assert 0 < len(finding.headline) <= MOST_IN_A_HEADLINE
    assert finding.explanation
    assert all(finding.explanation)
    assert finding.remedy
    assert finding.place is not None


@each_healthy
def test_nothing_is_found_in_a_healthy_program(program: Path) -> None:
    recording = recorded(program)
    assert recording.error is None
    assert faults_of(recording) == []
    assert [one.error for one in recording.passes if one.error] == []
    assert [one for one in findings(recording) if one.severity != "notice"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "program", [one for one in broken_torch_programs() if one.stem != "swish"][::4], ids=lambda path: path.stem
)
def test_the_command_says_so_too(program: Path) -> None:
    wanted = expected(program)
    command = [sys.executable, "-m", "microtape", "diagnose", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == (0 if wanted.notice else Exit.FOUND), done.stderr
    assert any(f"{program.name}:{line}" in done.stdout for line in wanted.lines)


PENALTY = """\
import torch

critic = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
between = torch.randn(8, 3, requires_grad=True)
(slope,) = torch.autograd.grad(critic(between).sum(), between)
loss = critic(torch.randn(8, 3)).mean() + (slope.norm(dim=1) - 1).square().mean()
loss.backward()
"""
SAMPLED = """\
import torch

mean = torch.zeros(3, requires_grad=True)
scale = torch.ones(3, requires_grad=True)
drawn = torch.distributions.Normal(mean, scale).sample()
(drawn * scale).sum().backward()
"""


FACTOR = PENALTY.replace(").mean() + (slope", ").mean() * (slope")


def test_a_factor_may_be_a_gradient_without_a_history(tmp_path):
    assert FACTOR != PENALTY
    script = tmp_path / "script.py"
    script.write_text(FACTOR)
    assert findings(record_program(script)[0]) == ()


@pytest.mark.parametrize(
    ("source", "headline", "remedy"),
    [
        (PENALTY, "A term of loss is a constant: grad at ", "Pass create_graph=True to grad"),
        (SAMPLED, "mean gets no gradient: no_grad at ", "Draw with rsample()"),
    ],
)
def test_what_cuts_off_is_told_with_its_remedy(tmp_path, source, headline, remedy):
    script = tmp_path / "script.py"
    script.write_text(source)
    found = findings(record_program(script)[0])
    assert [one.headline.startswith(headline) for one in found] == [True]
    assert found[0].remedy.startswith(remedy)


def test_a_critic_is_reset_before_its_passes(tmp_path):
    """After its step would be too early: the loss of the generator goes through it."""
    program = HERE / "pytorch" / "broken" / "painter_sums.py"
    (found,) = findings(record_program(program)[0])
    line = program.read_text().splitlines().index("    judged.backward()") + 1
    assert found.remedy.startswith(f"Call critic_step.zero_grad() before painter_sums.py:{line}, in each round.")


def test_what_a_scaler_steps_is_called_the_optimiser():
    (found,) = findings(record_program(HERE / "pytorch" / "broken" / "scaled_half.py")[0])
    assert "optimizer, made at scaled_half.py:7, was not given them." in found.explanation
    (found,) = findings(record_program(HERE / "pytorch" / "broken" / "scaled_steps.py")[0])
    assert found.remedy == "Call optimizer.zero_grad() after each step."


def test_a_step_without_the_scaler_is_told_with_the_one_that_divides():
    (found,) = findings(record_program(HERE / "pytorch" / "broken" / "scaled_descent.py")[0])
    assert found.headline == "optimizer.step() at scaled_descent.py:13 uses gradients that are scaled by 1024"
    assert found.remedy == "Call scaler.step(optimizer) and scaler.update() in place of optimizer.step()."
    (found,) = findings(record_program(HERE / "pytorch" / "broken" / "scaled_clip.py")[0])
    assert found.remedy.endswith(", and scaler.unscale_(optimizer) before clip_grad_norm_.")


ATTENTION = """\
import torch
from torch import nn

def filled(x):
    scores = torch.zeros(3)
    for i in range(3):
        scores[i] = attn(x[i]).item()
    return scores

torch.manual_seed(0)
attn, out = nn.Linear(4, 1, bias=False), nn.Linear(4, 2)
optimizer = torch.optim.SGD([*attn.parameters(), *out.parameters()], lr=0.1)
x, y = torch.randn(3, 4), torch.tensor(1)
for epoch in range(2):
    optimizer.zero_grad()
    scores = WAY
    loss = nn.functional.cross_entropy(out(scores.softmax(0) @ x), y)
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("way", "line"),
    [
        ("filled(x)", 7),
        ("torch.tensor([attn(one).item() for one in x])", 16),
        ("torch.tensor(attn(x).squeeze(1).tolist())", 16),
        ("torch.from_numpy(attn(x).squeeze(1).detach().numpy())", 16),
        ("torch.relu(torch.from_numpy(attn(x).squeeze(1).data.numpy()))", 16),
        ("torch.as_tensor(attn(x).squeeze(1).detach().numpy())", 16),
    ],
)
def test_numbers_that_leave_and_come_back_cut_off_what_they_came_from(tmp_path, way, line):
    script = tmp_path / "script.py"
    script.write_text(ATTENTION.replace("WAY", way))
    (found,) = findings(record_program(script)[0])
    assert found.headline.startswith("attn.weight gets no gradient: ")
    assert found.headline.endswith((f"cut off at script.py:{line}", f"at script.py:{line} cuts it off"))
    script.write_text(ATTENTION.replace("WAY", "attn(x).squeeze(1)"))
    assert findings(record_program(script)[0]) == ()


SCALED = """\
import torch

net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
scaler = torch.amp.GradScaler("cpu")
for _ in range(3):
    optimizer.zero_grad()
    scaler.scale(net(torch.ones(4, 3)).square().mean()).backward()
    {calls}
"""


@pytest.mark.parametrize(
    ("calls", "headline"),
    [
        ("scaler.unscale_(optimizer); scaler.unscale_(optimizer)", "scaler.unscale_(optimizer) at script.py:9 divides"),
        ("scaler.step(optimizer); scaler.unscale_(optimizer)", "scaler.unscale_(optimizer) at script.py:9 comes after"),
        ("scaler.step(optimizer)", "scaler.step(optimizer) at script.py:9 steps again"),
    ],
)
def test_calls_of_a_scaler_in_an_order_that_it_refuses(tmp_path, calls, headline):
    script = tmp_path / "script.py"
    script.write_text(SCALED.format(calls=calls))
    found = findings(record_program(script)[0])
    assert found[0].headline.startswith(headline)
    script.write_text(SCALED.format(calls="scaler.unscale_(optimizer); scaler.step(optimizer); scaler.update()"))
    assert findings(record_program(script)[0]) == ()


def test_pairs_of_indices_that_repeat_lose_rows(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\nw = torch.randn(5, requires_grad=True)\nout = torch.zeros(3, 2)\n"
        "i, j = torch.tensor([0, 2, 2, 1, 2]), torch.tensor([0, 1, 1, 0, 0])\n"
        "out[i, j] += w\nout.square().sum().backward()\n"
    )
    (found,) = findings(record_program(script)[0])
    assert found.headline == "out[i, j] += w adds 4 of 5 rows: indices repeat"
    assert found.remedy.endswith("out = out.index_put((i, j), w, accumulate=True).")


def test_parameters_that_were_converted_have_their_new_dtype_and_too_few_digits_for_a_small_update(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\ntorch.manual_seed(0)\nmodel = torch.nn.Linear(4, 1).bfloat16()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)\nfor _ in range(3):\n    optimizer.zero_grad()\n"
        "    model(torch.ones(3, 4).bfloat16()).square().mean().backward()\n    optimizer.step()\n"
    )
    recording = record_program(script)[0]
    assert {one.dtype for one in recording.tensors if one.name.startswith("model.")} == {"bfloat16"}
    (found,) = findings(recording)
    assert found.headline.startswith("optimizer.step() at script.py:8 changes nothing")
    assert found.explanation[-1].startswith("In bfloat16, numbers as large as those of model.")
    assert found.remedy.startswith("Keep the parameters in float32, and compute in bfloat16 under autocast.")


def test_what_a_hook_has_packed_as_integers_is_not_called_saturated(torch):
    from microtape.recording.pytorch.recorder import TorchRecorder

    w = torch.tensor([0.3, -0.2], requires_grad=True)
    with TorchRecorder() as recorder:
        with torch.autograd.graph.saved_tensors_hooks(lambda x: x.to(torch.int8), lambda x: x.float()):
            y = w.sigmoid()
        y.sum().backward()
    (found,) = findings(recorder.recording)
    assert found.kind == "zero gradient"
    assert "saturated" not in found.headline + " ".join(found.explanation)

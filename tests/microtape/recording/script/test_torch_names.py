"""A script that says `import torch`, on microtape's own engine."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import microtape
from microtape.recording.file.tape_file import load
from microtape.recording.script.run import record_script
from microtape.recording.script.torch_names import says_torch_alone

ROOT = str(Path(microtape.__file__).parent.parent)
TRAINING = """\
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    from torch import optim
    from torch.autograd import Function
    from torch.nn.utils import clip_grad_norm_
    from torch.optim.lr_scheduler import StepLR
    from torch.utils.data import DataLoader, TensorDataset

    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    assert torch.nn is nn and torch.optim is optim
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    schedule = StepLR(optimizer, 1)
    data = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
    for x, y in DataLoader(data, batch_size=4):
        optimizer.zero_grad()
        loss = F.cross_entropy(Twice.apply(model(x)), y)
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    print("engine:", torch.__name__)
"""


def run(folder: Path, text: str, *args: str) -> subprocess.CompletedProcess[str]:
    script = folder / "train.py"
    script.write_text(textwrap.dedent(text))
    command = [sys.executable, "-m", "microtape", "trace", str(script), *args]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)


def test_a_script_on_torch_runs_unchanged(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script, out = tmp_path / "train.py", tmp_path / "run.tape"
    script.write_text(textwrap.dedent(TRAINING))
    record_script(script, out=out, engine="microtape", passes="all")
    assert capfd.readouterr().out == "engine: microtape\n"
    recording = load(out)
    assert len(recording.passes) == 2
    assert {"0.weight", "2.bias"} <= {one.name.removeprefix("model.") for one in recording.tensors}
    assert {one.name for one in recording.scopes} >= {"0 Linear", "1 ReLU", "2 Linear"}


def test_a_script_that_imports_both_means_both() -> None:
    assert says_torch_alone(ast.parse("import torch"))
    assert says_torch_alone(ast.parse("def f():\n    from torch.nn import functional"))
    assert not says_torch_alone(ast.parse("import torch, microtape as mt"))
    assert not says_torch_alone(ast.parse("import torch\nfrom microtape.nn import Linear"))
    assert not says_torch_alone(ast.parse("from . import torch\nimport torchvision"))


def test_what_microtape_lacks_is_one_line(tmp_path: Path) -> None:
    ended = run(tmp_path, "import torch.fft", "--engine", "microtape")
    assert ended.returncode == 1
    assert "ModuleNotFoundError: microtape has no torch.fft; run the program on PyTorch with --engine torch" in (
        ended.stderr
    )
    assert "importlib" not in ended.stderr


def test_where_torch_is_missing_the_option_is_offered(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text('raise ModuleNotFoundError("No module named \'torch\'", name="torch")')
    ended = run(tmp_path, "import torch")
    assert ended.returncode == 1
    assert "PyTorch is not installed; --engine microtape runs the program on microtape's own engine" in ended.stderr

"""`torch.multiprocessing.spawn` on gloo: each process has its own recording, and trains as without us."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import microtape
from microtape.recording.file.tape_file import load

pytestmark = pytest.mark.slow

TRAIN = """\
import os
import socket
import sys
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset


def train(rank, size, port, passes):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=size)
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(rank + 1)
    data = DataLoader(TensorDataset(torch.randn(16 * passes, 4)), batch_size=16, num_workers=1)
    for number, (x,) in enumerate(data):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        assert number < 1 or "fails" not in sys.argv or not rank, "no good"
    sums = [one.double().sum().item().hex() for one in model.parameters()]
    sys.stdout.write(f"rank {rank} {sums}\\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(train, args=(2, port, 3), nprocs=2)
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    root = str(Path(microtape.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1"}

    def run(*words):
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240
        )
        return done.returncode, sorted(done.stdout.splitlines()), done.stderr

    return run


def test_each_process_writes_its_own_recording_and_trains_as_without_us(run, tmp_path):
    plain = run("train.py")
    assert plain[0] == 0, plain[2]
    code, printed, error = run("-m", "microtape", "record", "train.py", "--pass", "all")
    assert (code, printed) == plain[:2], error
    recordings = [load(tmp_path / f"train.rank{rank}.tape") for rank in range(2)]
    assert [[one.index for one in recording.passes] for recording in recordings] == [[0, 1, 2]] * 2
    assert [(one.options["rank"], one.options["ranks"]) for one in recordings] == [(0, 2), (1, 2)]
    code, printed, error = run("-m", "microtape", "diagnose", "train.rank0.tape", "train.rank1.tape")
    assert code == 0, error
    assert printed[0].endswith("in 3 passes of ranks 0 and 1; 4 parameters are equal on all of them")


def test_an_exception_is_told_by_torch_as_without_us_and_is_in_the_recording_of_its_rank(run, tmp_path):
    code, _, error = run("-m", "microtape", "record", "train.py", "--pass", "all", "--", "fails")
    assert code == 1
    assert "-- Process 1 terminated with the following error:" in error
    assert "AssertionError: no good" in error
    assert "recording/script" not in error
    recording = load(tmp_path / "train.rank1.tape")
    assert recording.error is not None
    assert (recording.error.type, recording.error.message) == ("AssertionError", "no good")
    assert len(recording.passes) == 2

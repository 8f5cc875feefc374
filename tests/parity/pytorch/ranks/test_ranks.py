"""Several processes under torchrun's own command line, on gloo: each rank has its own recording, or none."""

import pytest

from tests.parity.pytorch.ranks.torchrun import Torchrun

pytestmark = pytest.mark.slow

TRAIN = """\
import sys
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(rank + 1)
for step in range(4):
    optimizer.zero_grad()
    loss = model(torch.randn(16, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()
sums = [one.double().sum().item().hex() for one in model.parameters()]
sys.stdout.write(f"rank {rank} {sums}\\n")  # in one piece, because the ranks share the pipe
dist.destroy_process_group()
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 and rank == 1 else 0)
"""


@pytest.fixture
def torchrun(tmp_path):
    return Torchrun(tmp_path, TRAIN)


def test_each_rank_writes_its_own_recording_and_trains_as_without_us(torchrun):
    plain = torchrun("train.py")
    assert plain[0] == 0, plain[2]
    code, printed, error = torchrun("-m", "microtape", "record", "train.py", "--pass", "2")
    assert (code, printed) == plain[:2]
    assert torchrun.files() == ["train.rank0.tape", "train.rank1.tape"]
    recordings = [torchrun.load(name) for name in torchrun.files()]
    assert [[one.index for one in recording.passes] for recording in recordings] == [[1], [1]]
    assert [recording.options["rank"] for recording in recordings] == [0, 1]
    assert "train.rank0.tape is written; rank 0 goes on unrecorded" in error


def test_only_the_chosen_rank_is_recorded_and_the_other_runs_plainly(torchrun):
    code, printed, _ = torchrun("-m", "microtape", "record", "train.py", "--rank", "1", "-o", "one.tape")
    assert code == 0
    assert len(printed) == 2
    assert torchrun.files() == ["one.rank1.tape"]


def test_the_exit_code_of_a_rank_is_its_own(torchrun):
    code, _, error = torchrun("-m", "microtape", "record", "train.py", "--rank", "0", "--", "5")
    assert code != 0
    assert "exitcode  : 5" in error

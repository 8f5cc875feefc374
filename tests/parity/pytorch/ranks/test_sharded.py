"""Models that ranks share out: FSDP, tensor parallelism, pipelines, ZeRO, on gloo. They train as without us."""

import numpy as np
import pytest

from microtape.recording.model.model import TensorRef
from microtape.recording.model.versions import used_versions
from microtape.recording.ranks import Ranks, rank_findings
from microtape.recording.ranks.parting import equal_parameters
from microtape.recording.ranks.parts import hold_parts
from tests.parity.pytorch.ranks.torchrun import Torchrun
from tests.parity.pytorch.watching import torch_since

pytestmark = pytest.mark.slow

TRAIN = """\
import sys
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

case = sys.argv[1]
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (size,))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 8), torch.nn.Linear(8, 4)])
        self.head = torch.nn.Linear(4, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        return self.head(x)


torch.manual_seed(0)
model = Model()
made_before = torch.optim.SGD(model.parameters(), lr=0.1)
if case.startswith("fsdp2"):
    from torch.distributed.fsdp import fully_shard
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
elif case == "fsdp1":
    from torch.distributed.fsdp import FullyShardedDataParallel
    model = FullyShardedDataParallel(model, device_id=torch.device("cpu"))
elif case == "tensor":
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    parallelize_module(model, mesh, {"layers.0": ColwiseParallel(), "layers.1": RowwiseParallel()})
elif case == "zero":
    from torch.distributed.optim import ZeroRedundancyOptimizer
    model = torch.nn.parallel.DistributedDataParallel(model)
elif case == "pipeline":
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B
    model = model.layers[0] if rank == 0 else torch.nn.Sequential(model.layers[1], model.head)
    stage = PipelineStage(model, rank, size, torch.device("cpu"))
    schedule = Schedule1F1B(stage, n_microbatches=2, loss_fn=torch.nn.functional.mse_loss)
if case == "fsdp2 too early":
    optimizer = made_before
elif case == "zero":
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.1)
else:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(0 if case in ("tensor", "pipeline") else rank + 1)
for step in range(3):
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    optimizer.zero_grad(set_to_none=step > 1)
    if case == "tensor" and step == 2 and "nan" in sys.argv:
        x[3] = torch.nan
    if case == "pipeline":
        schedule.step(x) if rank == 0 else schedule.step(target=y)
    else:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
    optimizer.step()
own = [one.to_local() if hasattr(one, "to_local") else one for one in model.parameters()]
sys.stdout.write(f"rank {rank} {[one.double().sum().item().hex() for one in own]}\\n")
dist.destroy_process_group()
"""
NAMES = [f"{layer}.{name}" for layer in ("layers.0", "layers.1", "head") for name in ("weight", "bias")]


@pytest.fixture
def run(tmp_path):
    if not torch_since("2.6"):
        pytest.skip("fully_shard is in torch.distributed.fsdp since torch 2.6")
    torchrun = Torchrun(tmp_path, TRAIN)

    def ranks(*words):
        """The ranks of a run, which has printed what it prints without us."""
        plain = torchrun("train.py", *words)
        assert plain[0] == 0, plain[2]
        code, printed, error = torchrun("-m", "microtape", "record", "train.py", "--pass", "all", "--", *words)
        assert (code, printed) == plain[:2], error
        found = Ranks([torchrun.load(name) for name in torchrun.files()], torchrun.files())
        assert [one.notes for one in found.recordings] == [(), ()]
        return found

    return ranks


def values_of(recording, name):
    """The values of a leaf in the passes that reach it."""
    found = []
    for one in recording.passes:
        for number, version in used_versions(recording, one).items():
            if recording.tensors[number].name == name and recording.tensors[number].is_leaf:
                found.append(recording.value(TensorRef(number, version)))
    return found


def test_what_fsdp2_has_gathered_has_the_names_and_the_new_values_of_the_parameters(run):
    ranks = run("fsdp2")
    assert rank_findings(ranks) == ()
    assert equal_parameters(ranks) == 6
    for recording in ranks.recordings:
        assert {one.name for one in recording.tensors if one.is_leaf and one.requires_grad} == set(NAMES)
        for name in NAMES:
            first, second, third = values_of(recording, name)
            assert not np.array_equal(first, second)
            assert not np.array_equal(second, third)
        (line,) = {one.place.line for one in recording.updates}
        assert recording.sources["train.py"].splitlines()[line - 1].strip() == "optimizer.step()"


def test_an_optimizer_that_was_made_before_the_model_was_sharded(run):
    (found,) = rank_findings(run("fsdp2 too early"))
    assert (found.kind, found.severity, found.ranks) == ("no update", "error", (0, 1))
    assert found.headline == "optimizer.step() at train.py:63 updates none of the leaves that get gradients"
    assert "sharded" in found.remedy


def test_the_flat_parameter_of_fsdp1_is_whole_in_every_pass(run):
    ranks = run("fsdp1")
    assert rank_findings(ranks) == ()
    assert equal_parameters(ranks) == 1
    values = values_of(ranks.recordings[0], "model._flat_param")
    assert [one.shape for one in values] == [(4 * 8 + 8 + 8 * 4 + 4 + 4 + 1,)] * 3


def test_of_tensors_that_compute_by_themselves_nothing_is_claimed(run):
    ranks = run("tensor")
    assert rank_findings(ranks) == ()
    (found,) = rank_findings(run("tensor", "nan"))
    assert found.headline == "NaN begins at or before _ToTorchTensor, train.py:20"
    assert "What it was computed of is in tensors that cannot be read." in found.explanation[0]


def test_the_stages_of_a_pipeline_are_not_compared(run):
    ranks = run("pipeline")
    assert hold_parts(ranks)
    # torch runs the first pass on memory that nothing was written to, where there may be any number
    assert [one for one in rank_findings(ranks) if one.pass_ != 0] == []
    assert equal_parameters(ranks) == 0


def test_parameters_that_another_rank_has_updated_and_sent_are_equal(run):
    ranks = run("zero")
    assert rank_findings(ranks) == ()
    assert equal_parameters(ranks) == 6

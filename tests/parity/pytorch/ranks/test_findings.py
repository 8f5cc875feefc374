"""What `microtape diagnose` says of the ranks of real data-parallel runs, on gloo."""

import contextlib
import shlex

import pytest

from microtape.recording.ranks import Ranks, rank_findings
from microtape.recording.ranks.parting import equal_parameters
from microtape.recording.ranks.parts import parts_text
from tests.parity.pytorch.ranks.torchrun import Torchrun
from tests.support.pages import ROOT, Scene, blocks
from tui.commands.cli import main
from tui.shell.exits import Exit

pytestmark = pytest.mark.slow

TRAIN = """\
import contextlib
import sys
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

case = sys.argv[1]
dist.init_process_group("gloo")
rank = dist.get_rank()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        width = 9 if case == "wider" and rank == 1 else 8
        self.first = torch.nn.Linear(4, width)
        self.extra = torch.nn.Linear(width, width)
        self.last = torch.nn.Linear(width, 1)

    def forward(self, x):
        h = self.first(x).tanh()
        if not case.startswith("unused") or rank != 1:
            h = h + self.extra(h)
        return self.last(h)


torch.manual_seed(rank if case == "unseeded" else 0)
model = Model()
if case not in ("unseeded", "averaged", "alone", "wider"):
    model = DistributedDataParallel(model, find_unused_parameters=case == "unused")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
torch.manual_seed(rank + 1)
for step in range(4):
    x = torch.randn(16, 4)
    if case == "nan" and (step, rank) == (1, 1):
        x[3] = torch.nan
    accumulates = case == "no_sync" and step % 2 == 0
    with model.no_sync() if accumulates else contextlib.nullcontext():
        loss = model(x).pow(2).mean()
        loss.backward()
    if case in ("unseeded", "averaged"):
        for one in model.parameters():
            dist.all_reduce(one.grad)
            one.grad /= dist.get_world_size()
    if not accumulates:
        optimizer.step()
        optimizer.zero_grad()
dist.destroy_process_group()
"""
ABOUT_RANKS = ("other parameters", "other gradients", "not averaged", "one rank")


@pytest.fixture
def run(tmp_path):
    torchrun = Torchrun(tmp_path, TRAIN)

    def ranks(case, processes=2, code=0):
        """The ranks of a run."""
        ended, _, error = torchrun(
            "-m", "microtape", "record", "train.py", "--pass", "all", "--", case, processes=processes
        )
        assert (ended != 0) == (code != 0), error
        return Ranks([torchrun.load(name) for name in torchrun.files()], torchrun.files())

    return ranks


def about_ranks(ranks):
    return [one for one in rank_findings(ranks) if one.kind in ABOUT_RANKS]


@pytest.mark.parametrize(("case", "processes"), [("healthy", 3), ("no_sync", 2), ("averaged", 2)])
def test_healthy_ranks_do_not_part(case, processes, run):
    ranks = run(case, processes)
    assert ranks.numbers == tuple(range(processes))
    assert ranks.missing == ()
    assert about_ranks(ranks) == []
    assert [one for one in rank_findings(ranks) if one.severity == "error"] == []
    assert equal_parameters(ranks) == 6
    assert len(ranks.shared) == 4


def test_nan_in_the_data_of_one_rank(run):
    ranks = run("nan", 3)
    found = rank_findings(ranks)
    assert (found[0].kind, found[0].severity, found[0].ranks) == ("nan", "error", (1,))
    assert "x itself is not finite" in found[0].headline
    assert [one.kind for one in found if one.severity == "error"] == ["nan"]
    (notice,) = about_ranks(ranks)
    assert notice.headline == "only rank 1 has NaN or infinity in pass 2"
    assert "The average carries it to every rank." in notice.explanation


def test_a_parameter_that_one_rank_does_not_use(run):
    ranks = run("unused", 3)
    (found,) = about_ranks(ranks)
    assert (found.severity, found.ranks) == ("notice", (1,))
    assert found.headline == "rank 1 has no gradient for module.extra.weight and module.extra.bias in pass 1"
    assert "`self.extra(h)` at train.py:23" in found.explanation[1]
    assert equal_parameters(ranks) == 4  # the recording of rank 1 says nothing of the others
    assert [one for one in rank_findings(ranks) if one.severity == "error"] == []


def test_the_same_without_find_unused_parameters(run):
    ranks = run("unused_error", code=1)
    found = rank_findings(ranks)
    assert (found[0].kind, found[0].severity, found[0].ranks) == ("no gradient", "error", (1,))
    assert found[0].headline.startswith("2 leaves of module.extra get no gradient")
    assert "has no gradient for module.extra.weight" in next(one.headline for one in about_ranks(ranks))


def test_a_rank_that_was_seeded_otherwise(run):
    ranks = run("unseeded", 3)
    (found,) = about_ranks(ranks)
    assert (found.kind, found.severity) == ("other parameters", "error")
    assert set(found.ranks) == {1, 2}
    assert found.headline == "ranks 1 and 2 differ in first.weight, first.bias and 4 more before pass 1"
    assert equal_parameters(ranks) == 0


def test_ranks_that_average_nothing(run):
    (found,) = about_ranks(run("alone"))
    assert (found.kind, found.severity, found.ranks) == ("other parameters", "error", (1,))
    assert "from pass 2 on" in found.headline
    assert "In pass 1 each rank kept its own gradient for it: nothing was averaged." in found.explanation


def test_a_rank_whose_model_is_wider_is_not_compared_and_named(run):
    ranks = run("wider")
    assert rank_findings(ranks) == ()
    assert parts_text(ranks).startswith("first.weight has the shape 8×4 on rank 0, 9×4 on rank 1: ")


def test_the_page_on_ranks_shows_what_is_printed(tmp_path, monkeypatch, capfd):
    page = (ROOT / "docs" / "training_loops.md").read_text(encoding="utf-8")
    program, shown = blocks(page, "py")[-1], blocks(page, "text")[-1]
    record, diagnose, printed = shown.split("\n", 2)
    torchrun = Torchrun(tmp_path, program)
    words = record.removeprefix("$ torchrun --nproc-per-node 2 ").split()
    assert torchrun(*words)[0] == 0
    monkeypatch.setenv("COLUMNS", "100")
    scene = Scene("", shlex.split(diagnose.removeprefix("$ ")), printed)
    with contextlib.chdir(tmp_path):
        assert main(scene.words[1:]) == Exit.FOUND
    scene.compare(capfd.readouterr().out)

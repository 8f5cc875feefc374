"""Facts about torch on which its recorder rests: what hooks see of a pass of several processes, and change of it.

A new version of torch that breaks one of them is noticed here first.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from tests.parity.pytorch.watching import hooks, walk, watched_engine

pytestmark = pytest.mark.slow


def model():
    import torch

    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(40, 700), torch.nn.ReLU(), torch.nn.Linear(700, 700),
                               torch.nn.ReLU(), torch.nn.Linear(700, 3))  # fmt: skip


def rows(rank, step):
    import torch

    return torch.randn(5, 40, generator=torch.Generator().manual_seed(rank + 10 * step))


def trained(rank, views, watch):
    """Three passes of a data-parallel model: final gradients and buckets, and what hooks saw of the last pass."""
    import torch
    import torch.distributed as dist

    parallel = torch.nn.parallel.DistributedDataParallel(model(), bucket_cap_mb=0.5, gradient_as_bucket_view=views)
    buckets, arrived, in_hook, listed = [], {}, {}, []

    def reduce(state, bucket):
        buckets.append((bucket.index(), bucket.buffer().numel()))
        future = dist.all_reduce(bucket.buffer().div_(2), async_op=True).get_future()
        return future.then(lambda done: done.value()[0])

    def before(node, got):
        if hasattr(node, "variable"):
            arrived[node.variable] = got[0].clone()

    def after(node, made, got):
        if hasattr(node, "variable"):
            in_hook[node.variable] = node.variable.grad.clone()

    parallel.register_comm_hook(None, reduce)
    for step in range(3):
        buckets.clear()
        parallel.zero_grad()
        loss = parallel(rows(rank, step)).pow(2).sum()
        nodes = walk(loss.grad_fn)[0] if watch else []
        if watch and not step:
            handles = [node.register_hook(lambda made, got: None) for node in nodes if hasattr(node, "variable")]
            listed = [len(handle.hooks_dict_ref()) for handle in handles]
            for handle in handles:
                handle.remove()
        with watched_engine() as calls, hooks(nodes, before, after):
            loss.backward()
    parameters = list(parallel.parameters())
    return {
        "final": [one.grad.clone() for one in parameters],
        "buckets": list(buckets),
        "arrived": [arrived.get(one) for one in parameters],
        "in hook": [in_hook.get(one) for one in parameters],
        "listed": listed,
        "calls": len(calls),
    }


def same(torch, first, second):
    return all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def rank_main(rank, folder):
    """Run by each process: writes down what is true here."""
    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # the name of this machine need not be known
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2, init_method=f"file://{folder}/rendezvous")
    alone = model()
    alone(rows(rank, 2)).pow(2).sum().backward()
    local = [one.grad for one in alone.parameters()]
    told = {}
    for views in (False, True):
        plain, watched = trained(rank, views, False), trained(rank, views, True)
        told[f"{views}"] = {
            "same gradients": same(torch, plain["final"], watched["final"]),
            "same buckets": plain["buckets"] == watched["buckets"],
            "buckets": len(plain["buckets"]),
            "local ones arrive": same(torch, watched["arrived"], local),
            "final ones differ": not any(torch.equal(a, b) for a, b in zip(watched["final"], local, strict=True)),
            "the last hook sees the final ones": same(torch, watched["in hook"], watched["final"]),
            "listed": sorted(set(watched["listed"])),
            "calls": watched["calls"],
        }
    Path(folder, f"{rank}.json").write_text(json.dumps(told))
    dist.barrier()
    dist.destroy_process_group()
    os._exit(0)  # at the end of a process, a thread of gloo's aborts it now and then


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    """What two processes found out. None of them is left behind."""
    import torch.distributed
    import torch.multiprocessing

    there = torch.distributed.is_available() and torch.distributed.is_gloo_available()
    if not there and not os.environ.get("MICROTAPE_NO_SKIP"):
        pytest.skip("this torch has no gloo")
    folder = tmp_path_factory.mktemp("ranks")
    started = torch.multiprocessing.spawn(rank_main, (str(folder),), nprocs=2, join=False)
    deadline = time.monotonic() + 240
    try:
        while not started.join(timeout=5):
            assert time.monotonic() < deadline, "the processes wait for each other"
    finally:
        for process in started.processes:
            process.kill()
            process.join()
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]


@pytest.fixture(params=["copied", "views of buckets"])
def facts(ranks, request):
    """What each of the processes found out."""
    return [rank[str(request.param != "copied")] for rank in ranks]


def test_hooks_change_neither_gradients_nor_buckets(facts):
    assert [(one["same gradients"], one["same buckets"]) for one in facts] == [(True, True)] * 2
    assert all(one["buckets"] >= 1 for one in facts)


def test_the_gradient_of_the_own_process_arrives_at_the_leaf_and_another_is_left_in_grad(facts):
    assert [(one["local ones arrive"], one["final ones differ"]) for one in facts] == [(True, True)] * 2


def test_the_last_hook_at_a_leaf_does_not_see_the_final_grad(facts):
    assert [one["the last hook sees the final ones"] for one in facts] == [False] * 2


def test_the_hooks_of_the_reducer_are_not_listed(facts):
    assert [one["listed"] for one in facts] == [[1]] * 2


def test_a_pass_of_several_processes_is_one_call_of_the_engine_in_each(facts):
    assert [one["calls"] for one in facts] == [1] * 2

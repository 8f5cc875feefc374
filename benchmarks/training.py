"""Training steps with modules and an optimiser: microtape to torch, side by side on one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.engines import Engine
from benchmarks.figures import Figure, median_ratio
from benchmarks.measure import OURS

Step = Callable[[], Any]


def training(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """A step of a model on microtape, to the same step on torch. Raises RuntimeError if their losses differ."""
    import microtape

    for title, make, target, rounds in (
        ("MLP 64-128-128-10 with SGD, batch 64", mlp, 2.0, 21),
        ("LSTM, 50 steps, hidden 64, batch 16, with SGD", lstm, 10, 15),
    ):
        what = f"training step of {title}"
        if "torch" not in engines:
            yield Figure(what, None, "× torch", note="torch is not installed")
            continue
        steps: list[Step] = []
        for module in (microtape, engines["torch"].module):
            module.manual_seed(0)
            steps.append(make(module))
        ours, theirs = ([step().item() for _ in range(3)] for step in steps)
        if max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) > 1e-4 * abs(theirs[0]):
            raise RuntimeError(f"{what}: {OURS} has the losses {ours}, torch {theirs}")
        yield Figure(what, median_ratio(*steps, 3 if quick else rounds), "× torch", target)


def trained(torch: Any, model: Any, loss: Callable[[], Any]) -> Step:
    """A step of gradient descent on a model, which returns the loss before it. `torch` is torch or microtape."""
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)

    def step() -> Any:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value

    return step


def mlp(torch: Any) -> Step:
    """A classifier of three layers."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
    return trained(torch, model, lambda: nn.functional.cross_entropy(model(x), y))


def lstm(torch: Any) -> Step:
    """A recurrent layer, read at its last state."""
    recurrent, scores = torch.nn.LSTM(32, 64), torch.nn.Linear(64, 8)
    x = torch.randn(50, 16, 32)
    return trained(torch, torch.nn.ModuleList([recurrent, scores]), lambda: scores(recurrent(x)[0][-1]).pow(2).mean())

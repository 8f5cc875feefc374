"""Steps with modules: microtape to torch, side by side on one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from benchmarks.engines import Engine
from benchmarks.figures import Figure, median_ratio
from benchmarks.measure import OURS

Step = Callable[[], Any]


class Program(NamedTuple):
    """A step of a model, made for microtape and for torch; usually by the same function."""

    title: str
    ours: Callable[[Any], Step]
    theirs: Callable[[Any], Step]
    target: float  # at most this many times torch's time
    rounds: int


def training(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """A step of a model on microtape, to the same step on torch. Raises RuntimeError if their losses differ."""
    import microtape

    for one in PROGRAMS:
        if "torch" not in engines:
            yield Figure(one.title, None, "× torch", note="torch is not installed")
            continue
        steps: list[Step] = []
        for make, module in ((one.ours, microtape), (one.theirs, engines["torch"].module)):
            module.manual_seed(0)
            steps.append(make(module))
        ours, theirs = ([step().item() for _ in range(3)] for step in steps)
        if max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) > 1e-4 * abs(theirs[0]):
            raise RuntimeError(f"{one.title}: {OURS} has the losses {ours}, torch {theirs}")
        yield Figure(one.title, median_ratio(*steps, 3 if quick else one.rounds), "× torch", one.target)


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


def passed(model: Any, loss: Callable[[], Any]) -> Step:
    """A forward and a backward pass of a model, without an update."""

    def step() -> Any:
        model.zero_grad()
        value = loss()
        value.backward()
        return value

    return step


def small_mlp(torch: Any) -> Step:
    """The classifier of the workloads, as modules."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
    return trained(torch, model, lambda: nn.functional.cross_entropy(model(x), y))


def mlp(torch: Any) -> Step:
    """A classifier of three layers."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
    return trained(torch, model, lambda: nn.functional.cross_entropy(model(x), y))


def lstm(torch: Any) -> Step:
    """A recurrent layer, read at its last state."""
    layer = torch.nn.LSTM(32, 64)
    x = torch.randn(100, 16, 32)
    return passed(layer, lambda: layer(x)[0][-1].pow(2).mean())


def unrolled_lstm(torch: Any) -> Step:
    """The same with a cell, step by step: torch's layer is one operation, and no engine of single operations."""
    cell = torch.nn.LSTMCell(32, 64)
    x = torch.randn(100, 16, 32)

    def loss() -> Any:
        state = torch.zeros(16, 64), torch.zeros(16, 64)
        for one in x.unbind():
            state = cell(one, state)
        return state[0].pow(2).mean()

    return passed(cell, loss)


def attention(torch: Any) -> Step:
    """A transformer's block: four heads, 64 tokens of width 64."""
    nn, functional = torch.nn, torch.nn.functional
    before, after = nn.LayerNorm(64), nn.LayerNorm(64)
    mixed, out, wide, narrow = nn.Linear(64, 192), nn.Linear(64, 64), nn.Linear(64, 256), nn.Linear(256, 64)
    x = torch.randn(64, 64)

    def loss() -> Any:
        heads = [one.unflatten(-1, (4, 16)).transpose(0, 1) for one in mixed(before(x)).chunk(3, -1)]
        weights = functional.softmax(heads[0] @ heads[1].transpose(-1, -2) / 4, -1)
        h = x + out((weights @ heads[2]).transpose(0, 1).flatten(-2))
        return (h + narrow(functional.gelu(wide(after(h))))).pow(2).mean()

    return passed(nn.ModuleList([before, after, mixed, out, wide, narrow]), loss)


PROGRAMS = (
    Program("training step of MLP 64-128-10 with SGD, batch 64", small_mlp, small_mlp, 0.7, 21),
    Program("training step of MLP 64-128-128-10 with SGD, batch 64", mlp, mlp, 2.0, 21),
    Program("LSTM, 100 steps, hidden 64, batch 16, to torch's cell unrolled", lstm, unrolled_lstm, 0.9, 9),
    Program("attention block, 64 tokens, width 64", attention, attention, 0.9, 21),
)

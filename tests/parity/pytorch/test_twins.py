"""A program of microtape and the same program of PyTorch diff as equal."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from microtape.recording.comparing import Comparison, compare
from microtape.recording.engines import ProgramRecorder
from microtape.recording.model.model import Recording
from microtape.recording.model.options import Engine
from tests.parity.pytorch.programs import twins
from tests.parity.random.compare import differences
from tests.parity.random.program import Program, listing, statements
from tests.parity.random.session import Seen, Session
from tui.commands.cli import main
from tui.shell.exits import Exit

OTHER_NODES = {"an_einsum": ["PermuteBackward0", "PermuteBackward0", "ViewBackward0", "PermuteBackward0"]}
"""Programs for which torch has nodes that microtape has not."""
PROGRAMS = [
    name
    for name, one in vars(twins).items()
    if isinstance(one, types.FunctionType) and one.__module__ == twins.__name__ and name not in OTHER_NODES
]
TOPICS: list[tuple[str, ...]] = [(), ("functions",), ("hooks",)]
APART = (".data", ".detach().", "= x.detach()", "inner.grad", "watch_nodes", "not have been used")
"""What the recorders see in ways of their own: a write that torch does not count, also one into what a Function has
returned detached, and what runs inside of a pass. And microtape refuses to return a gradient that is not there after
the pass, torch within it."""


def recorded(module: Any, engine: Engine, run: Any) -> Recording:
    recorder = ProgramRecorder("program", engine=engine)
    with recorder:
        run(module)
    assert recorder.recording.faults == ()
    return recorder.recording


def both(run: Any, torch: Any) -> tuple[Recording, Recording]:
    import torch.utils.checkpoint

    import microtape

    torch.set_num_threads(1)
    return recorded(microtape, "microtape", run), recorded(torch, "torch", run)


def what(found: Comparison) -> str:
    """What keeps two recordings from being equal."""
    return f"{found.differences[:3]} {unmatched_names(found)} {found.only} {found.counts}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_and_its_twin_are_equal(torch, name):
    own, other = both(getattr(twins, name), torch)
    assert own.passes
    alone = ["SliceBackward0"] if name == "indexing" and slices_whole_sides(torch) else []
    for found, unmatched in ((compare(own, other), ([], alone)), (compare(other, own), (alone, []))):
        assert found.is_equal or (alone and not found.differences), what(found)
        assert unmatched_names(found) == unmatched
        assert found.counts.values > 5


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_stand_at_the_same_lines(torch, name):
    if name == "indexing" and slices_whole_sides(torch):
        pytest.skip("this version of torch has a node more, for a whole slice")
    own, other = both(getattr(twins, name), torch)
    assert lines_of(own) == lines_of(other)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["borders", "a_checkpoint_of_data", "a_function_that_uses_more_than_its_arguments"])
def test_history_ends_at_the_same_operations(torch, name):
    own, other = both(getattr(twins, name), torch)
    assert ends_of(own) == ends_of(other)


def ends_of(recording: Recording) -> list[tuple[str, str, int, list[str]]]:
    """Of each border, its kind, its operation, its line, and the names of what it cuts off."""
    return [
        (one.kind, one.op, one.place.line if one.place is not None else 0,
         sorted(recording.tensors[operand.ref.tensor].name for operand in one.operands if operand.ref is not None))
        for one in recording.borders
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_nodes_are_made_by_the_same_steps(torch, name):
    own, other = (Counter(makers(one)) for one in both(getattr(twins, name), torch))
    assert not other - own  # torch's recorder sees only those that another pass reaches


def makers(recording: Recording) -> Iterator[tuple[int | None, str, str]]:
    """Of each node that a step of a pass has made: the pass, the node of the step, and its own name."""
    for node in recording.nodes:
        if node.made_by is not None and node.pass_ is not None:
            yield node.pass_, recording.nodes[node.made_by].name, node.name
            (step,) = (one for one in recording.passes[node.pass_].steps if one.node == node.made_by)
            assert node.id in step.made


def lines_of(recording: Recording) -> list[list[int]]:
    """Of each pass, the lines of its operations; 0 where a node has none."""
    return [
        sorted(
            node.place.line if node.place is not None else 0
            for node in (recording.nodes[step.node] for step in one.steps)
            if node.variable is None
        )
        for one in recording.passes
    ]


def slices_whole_sides(torch):
    """Whether `x[:, None]` makes a node for `:`, as before torch 2.9."""
    return bool(torch.ones(2, requires_grad=True)[:, None].grad_fn.next_functions[0][0].next_functions)


def unmatched_names(found: Comparison) -> tuple[list[str], list[str]]:
    """The names of the nodes that only one of the recordings has."""
    first, second = (
        sorted(one.nodes[i].name for i in nodes) for one, nodes in zip((found.a, found.b), found.unmatched, strict=True)
    )
    return first, second


@pytest.mark.parametrize(("name", "nodes"), OTHER_NODES.items())
def test_where_torch_has_other_nodes_the_rest_agrees(torch, name, nodes):
    found = compare(*both(getattr(twins, name), torch))
    assert not found.differences
    assert unmatched_names(found) == ([], sorted(nodes))


def test_another_order_is_reported_by_itself(torch):
    found = compare(*both(twins.second_derivatives, torch))
    assert found.is_equal
    (one,) = found.orders
    for recording, position, step in zip((found.a, found.b), one.passes, one.steps, strict=True):
        assert recording.passes[position].steps[step].node is not None


def test_a_changed_constant_is_found_in_the_twin(torch):
    def program(mt):
        n = twins.Numbers(mt)
        x, w = n.leaf(3), n.leaf(3)
        factor = 2.0 if mt is torch else 2.001
        ((x * w).tanh() * factor).sum().backward()

    found = compare(*both(program, torch))
    assert found.first is not None
    assert found.a.nodes[found.first.nodes[0]].name == "MulBackward0"
    assert {one.kind for one in found.differences} >= {"value", "sent", "grad"}


def test_the_command_says_that_the_scripts_are_equal(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    body = """
x = mt.linspace(-1, 1, 12).reshape(3, 4).requires_grad_()
w = mt.linspace(0, 1, 8).reshape(4, 2).requires_grad_()
hidden = (x @ w).relu() + 0
hidden[0].mul_(2)
(hidden.softmax(1).log() * w[:1]).mean().backward()
"""
    for name, module in (("own", "microtape"), ("other", "torch")):
        Path(f"{name}.py").write_text(f"import {module} as mt\n{body}", encoding="utf-8")
    assert main(["diff", "own.py", "other.py"]) == Exit.OK, capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", range(8))
def test_random_programs_and_their_twins_are_equal(torch, chunk):
    import torch.utils.checkpoint

    import microtape
    from tests.parity.random.topics import write

    torch.set_num_threads(1)
    compared = 0
    seed = 1000 * chunk
    while compared < 25:
        program, plain = write(seed, torch, TOPICS[seed % len(TOPICS)])
        seed += 1
        seen: list[list[Seen]] = []

        def run(module: Any) -> None:
            seen.append(Session(module).run(program))  # noqa: B023

        own, other = recorded(microtape, "microtape", run), recorded(torch, "torch", run)
        if not own.passes or _parts(program, plain, seen[0]):
            continue
        compared += 1
        found = compare(own, other)
        assert found.is_equal, f"{listing(program, 'torch')}\n{what(found)}"
        only_there = Counter(makers(other)) - Counter(makers(own))
        assert not only_there, f"{listing(program, 'torch')}\n{only_there}"


def _parts(program: Program, plain: list[Seen], ours: list[Seen]) -> bool:
    """Whether the engines do different things in a program, or the recorders see it in ways of their own."""
    if differences(plain, ours) or any(one.shares_gradient for one in (*plain, *ours)):
        return True
    if any((one.error is None) != (other.error is None) for one, other in zip(plain, ours, strict=True)):
        return True
    text = "\n".join([*statements(program), *(one.error[1] for one in plain if one.error is not None)])
    return any(word in text for word in APART)

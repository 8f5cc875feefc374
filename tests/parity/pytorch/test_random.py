"""Randomly written programs recorded on PyTorch: recording changes nothing, and tells what the recorder of numpy tells.

A normal run has 300 of them, always the same ones. MICROTAPE_RANDOM_PROGRAMS=10000 runs that many new ones.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import microtape
from microtape.recording.choosing.until import Until
from microtape.recording.engines import ProgramRecorder
from microtape.recording.file.integrity import check_integrity
from microtape.recording.model.model import BackwardStep, Pass, Recording, Value
from microtape.recording.model.options import Engine
from tests.parity.random.compare import agree, differences
from tests.parity.random.program import Program, listing, statements
from tests.parity.random.session import Seen, Session

COUNT = int(os.environ.get("MICROTAPE_RANDOM_PROGRAMS", "0"))
CHUNKS = 10
APART = (
    "create_graph=True", "with mt.autograd.graph.saved_tensors_hooks", "checkpoint(", "thread", "dual_level", "* inner)"
)  # fmt: skip
"""What the two engines record in ways of their own: nodes of second order, packed tensors, recomputations, passes in
hooks."""


def test_fixture_words_are_those_of_programs() -> None:
    import torch
    import torch.utils.checkpoint

    from tests.parity.random.topics import write

    torch.set_num_threads(1)
    texts = ["\n".join(statements(write(seed, torch)[0])) for seed in range(60)]
    assert [word for word in APART if not any(word in text for text in texts)] == []


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_programs_are_recorded_as_on_numpy(chunk: int) -> None:
    import torch
    import torch.utils.checkpoint

    from tests.parity.random.topics import write

    torch.set_num_threads(1)
    count = -(-(COUNT or 300) // CHUNKS)
    first = secrets.randbelow(10**12) if COUNT else chunk * count
    for seed in range(first, first + count):
        program, plain = write(seed, torch)
        if wrong := list(_wrong(program, plain)):
            pytest.fail("\n".join([f"# program {seed}", listing(program, "torch"), *wrong]), pytrace=False)


def test_a_nan_in_a_random_program_is_noticed_at_once() -> None:
    """`record(until="nan")` makes a recording to look into only if a NaN was noted."""
    import torch
    import torch.utils.checkpoint

    from tests.parity.random.topics import write

    torch.set_num_threads(1)
    found = {"torch": 0, "microtape": 0}
    for seed in range(60):
        first, *others = write(seed, torch)[0]
        assert isinstance(first, str)
        program = re.sub(r"-?\d+\.\d+", "float('nan')", first, count=1), *others
        for engine in ("torch", "microtape"):
            recorder = ProgramRecorder("program", engine=engine)
            with recorder:
                Session({"torch": torch, "microtape": microtape}[engine]).run(program)
            is_noted = any(one.has_nan() for one in recorder.segments)
            recording, nan = recorder.recording, Until.read("nan")
            happens = any(nan.happens_in(recording, i) for i in range(len(recording.passes)))
            assert is_noted or not happens, listing(program, engine)
            found[engine] += happens
    assert min(found.values()) > 20


def _wrong(program: Program, plain: list[Seen]) -> Iterator[str]:
    import torch

    recording, seen = _recorded(program, torch, "torch")
    yield from recording.faults
    check_integrity(recording)
    if changed := differences(plain, seen):
        yield "the recorder changes what the program does"
        yield from changed
        return
    text = "\n".join(statements(program))
    if any(word in text for word in APART):
        return
    own, ours = _recorded(program, microtape, "microtape")
    if not agree(plain, ours):
        return  # a known difference of the engines, after which their passes may differ, too
    for one, other in _pairs(recording, own):
        yield from _of_pass(recording, one, own, other)


def _recorded(program: Program, module: Any, engine: Engine) -> tuple[Recording, list[Seen]]:
    recorder = ProgramRecorder("program", engine=engine)
    with recorder:
        seen = Session(module).run(program)
    return recorder.recording, seen


def _pairs(recording: Recording, own: Recording) -> Iterator[tuple[Pass, Pass]]:
    """The passes of both. Those in which no step succeeds are left out: the engines refuse sooner or later."""
    mine, theirs = (
        [one for one in each.passes if one.kind == "backward" and any(step.error is None for step in one.steps)]
        for each in (recording, own)
    )
    yield from zip(mine, theirs, strict=True)


def _of_pass(recording: Recording, one: Pass, own: Recording, other: Pass) -> Iterator[str]:
    """The differences between two passes. Leaves that are ready together run in an order of torch's own."""
    mine, theirs = _steps(recording, one), _steps(own, other)
    if list(mine) != list(theirs):
        yield f"pass {one.index + 1}: torch ran {list(mine)}, microtape {list(theirs)}"
        return
    for name in mine:
        for what in _of_step(mine[name], theirs[name]):
            yield f"pass {one.index + 1}, {name}: {what}"
    if (one.error is None) != (other.error is None):
        yield f"pass {one.index + 1}: {one.error} and {other.error}"


def _steps(recording: Recording, pass_: Pass) -> dict[str, BackwardStep]:
    """The steps by names: operations in their order, then the leaves."""
    operations: dict[str, BackwardStep] = {}
    leaves: dict[str, BackwardStep] = {}
    for step in pass_.steps:
        node = recording.nodes[step.node]
        if node.variable is None:
            operations[f"{len(operations)} {node.name}"] = step
        else:
            leaves[recording.tensors[node.variable].name] = step
    return operations | dict(sorted(leaves.items()))


def _of_step(one: BackwardStep, other: BackwardStep) -> Iterator[str]:
    if (one.error is None) != (other.error is None):
        yield f"errors {one.error} and {other.error}"
    for what in ("grad_outputs", "grad_inputs"):
        mine, theirs = getattr(one, what), getattr(other, what)
        if one.error is None and not (len(mine) == len(theirs) and all(map(_alike, mine, theirs))):
            yield f"{what} {mine} and {theirs}"
    for what in ("grad_before", "grad_after"):
        if not _alike(getattr(one, what), getattr(other, what)):
            yield f"{what} {getattr(one, what)} and {getattr(other, what)}"
    hooks = [[call.kind for call in step.hooks if call.kind != "retain_grad"] for step in (one, other)]
    if hooks[0] != hooks[1]:
        yield f"hooks {hooks[0]} and {hooks[1]}"
    deliveries = [[(sent.output, sent.dependencies_left) for sent in step.deliveries] for step in (one, other)]
    if deliveries[0] != deliveries[1]:
        yield f"deliveries {deliveries[0]} and {deliveries[1]}"
    if one.error is None and other.saved and (len(one.saved) != len(other.saved) or one.freed != other.freed):
        yield f"saved {[use.name for use in one.saved]} and {[use.name for use in other.saved]}"


def _alike(one: Value | None, other: Value | None) -> bool:
    """Whether two values are equal within rounding. What is undefined counts as zeros; torch leaves out what no leaf
    needs."""
    if one is None or other is None:
        return one is None or not np.any(np.asarray(one))
    mine, theirs = np.asarray(one), np.asarray(other)
    tolerance = 1e-3 if mine.dtype == np.float32 else 1e-9
    return mine.shape == theirs.shape and bool(np.allclose(mine, theirs, tolerance, tolerance, equal_nan=True))

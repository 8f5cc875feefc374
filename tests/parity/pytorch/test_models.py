"""Real architectures on PyTorch: recording changes nothing, and says what hooks of torch's own say."""

from __future__ import annotations

import contextlib
import gc
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microtape.recording.engines import ProgramRecorder
from microtape.recording.findings import findings
from microtape.recording.model.model import Recording, Value
from tests.parity.pytorch.beside import (
    SeenPass,
    each_pass,
    edge_of,
    hooks_on,
    lifetimes,
    nodes_behind,
    patches,
    run_program,
    state_of,
    watching,
)
from tests.programs.corpus import HERE
from tests.support.every_view import drawn, printed, through_a_file
from tests.support.recordings.random_recordings import plain

MODELS = sorted((HERE / "pytorch" / "models").glob("*.py"))
each_model = pytest.mark.parametrize("program", MODELS, ids=lambda path: path.stem)


def recorder_of(program: Path) -> ProgramRecorder:
    return ProgramRecorder(program.name, root=str(program.parent))


@cache
def recorded(program: Path) -> tuple[Recording, dict[str, Any]]:
    """The recording of a program, and its variables."""
    recorder = recorder_of(program)
    variables = run_program(program, recorder)
    return recorder.recording, variables


@cache
def watched(program: Path) -> tuple[Recording, list[SeenPass]]:
    """The recording of a program beside which hooks of torch's own were watching, and what they saw."""
    recorder = recorder_of(program)
    seen: list[SeenPass] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(recorder)
        stack.enter_context(watching(seen))
        run_program(program)
    return recorder.recording, seen


def same(found: Value | None, expected: Any) -> bool:
    """Whether a recorded value has the bits of an array."""
    if expected is None or found is None:
        return found is expected
    assert isinstance(found, np.ndarray), "the models are small enough to be copied"
    return found.shape == expected.shape and found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


def all_same(found: tuple[Any, ...], expected: tuple[Any, ...]) -> bool:
    return len(found) == len(expected) and all(map(same, found, expected))


# It changes nothing


@each_model
def test_a_recorded_program_ends_in_the_same_state(program: Path) -> None:
    expected = state_of(run_program(program))
    recorder = recorder_of(program)
    found = state_of(run_program(program, recorder))
    assert recorder.recording.passes
    assert found.keys() == expected.keys()
    assert [name for name in expected if found[name] != expected[name]] == []


@each_model
def test_nothing_is_left_on_torch_or_on_a_node(program: Path) -> None:
    before = patches()
    left: list[int] = []

    def run(go: Any, args: Any, kwargs: Any) -> Any:
        nodes = nodes_behind([edge_of(one)[0] for one in args[0]])
        try:
            return go(*args, **kwargs)
        finally:
            left.extend(map(hooks_on, nodes))

    with recorder_of(program), each_pass(run):
        run_program(program)
    assert patches() == before
    assert len(left) > 20
    assert not any(left)


@each_model
def test_nodes_and_tensors_die_when_they_die_without_the_recorder(program: Path) -> None:
    def alive(recorder: Any) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        with recorder, lifetimes(found) as look:
            variables = run_program(program)
            look()
            variables.clear()
            look()
        return found

    enabled = gc.isenabled()
    gc.disable()
    try:
        expected = alive(contextlib.nullcontext())
        found = alive(recorder_of(program))
    finally:
        gc.enable() if enabled else None
    assert found == expected
    assert max(expected) > (0, 0)
    assert expected[-1][0] == 0


# It says what happened


@each_model
def test_the_steps_are_those_that_torch_ran_in_its_order(program: Path) -> None:
    recording, seen = watched(program)
    assert len(recording.passes) == len(seen)
    for pass_, ours in zip(recording.passes, seen, strict=True):
        assert [recording.nodes[one.node].name for one in pass_.steps] == [one.name for one in ours.ran]
        number = {ran.node: step.node for ran, step in zip(ours.ran, pass_.steps, strict=True)}
        assert len(set(number.values())) == len(number)
        for ran in ours.ran:
            edges = recording.nodes[number[ran.node]].edges
            expected = [(to, nr if to is not None else 0) for to, nr in ours.edges[ran.node]]
            assert len(edges) == len(expected)
            for edge, (to, nr) in zip(edges, expected, strict=True):
                assert (edge.node is None) == (to is None)
                assert to not in number or (edge.node, edge.input_nr) == (number[to], nr)
        assert [(one.node, one.input_nr) for one in pass_.roots] == [(number[node], nr) for node, nr in ours.roots]
        assert all_same(pass_.seeds, tuple(ours.seeds))


@each_model
def test_what_arrives_and_what_leaves_is_what_hooks_are_given(program: Path) -> None:
    recording, seen = watched(program)
    for pass_, ours in zip(recording.passes, seen, strict=True):
        for step, ran in zip(pass_.steps, ours.ran, strict=True):
            assert all_same(step.grad_outputs, ran.grad_outputs), (pass_.index, step.index, ran.name)
            assert all_same(step.grad_inputs, ran.grad_inputs), (pass_.index, step.index, ran.name)
            assert same(step.grad_before, ran.grad_before)
            assert same(step.grad_after, ran.grad_after)


@each_model
def test_saved_values_are_those_of_the_node(program: Path) -> None:
    recording, seen = watched(program)
    compared = 0
    for pass_, ours in zip(recording.passes, seen, strict=True):
        for step, ran in zip(pass_.steps, ours.ran, strict=True):
            found = sorted(map(_bits, (use.value for use in step.saved)))
            assert found == sorted(map(_bits, ran.saved)), (step.index, ran.name)
            assert [use.version_now for use in step.saved] == [use.ref.version for use in step.saved]
            compared += len(found)
    assert compared > 10


def _bits(value: Any) -> tuple[Any, ...]:
    assert isinstance(value, np.ndarray)
    return value.shape, value.dtype.name, value.tobytes()


@each_model
def test_what_hooks_see_changes_nothing_in_the_recording(program: Path) -> None:
    """So the values are right as well where no hook of the program's is in the way."""
    (ours, _), (theirs, _) = recorded(program), watched(program)
    for one, other in zip(ours.passes, theirs.passes, strict=True):
        assert plain(tuple(step._replace(hooks=()) for step in one.steps)) == plain(
            tuple(step._replace(hooks=()) for step in other.steps)
        )


@each_model
def test_deliveries_add_up_to_what_arrives(program: Path) -> None:
    import torch

    for pass_ in recorded(program)[0].passes:
        sums: dict[tuple[int, int], Any] = {}
        for root, seed in zip(pass_.roots, pass_.seeds, strict=True):
            sums[root] = seed
        left = dict(pass_.dependencies)
        for step in pass_.steps:
            for i, arrived in enumerate(step.grad_outputs):
                assert same(arrived, sums.pop((step.node, i), None))
            for one in step.deliveries:
                before = sums.get((one.node, one.input_nr))
                assert same(one.before, before) or one.before is None  # of a large sum only the end is known
                assert one.term is step.grad_inputs[one.output]
                total = before if one.term is None else one.term
                if before is not None and one.term is not None:
                    total = (torch.from_numpy(before.copy()) + torch.from_numpy(np.array(one.term))).numpy()
                assert same(one.total, total)
                sums[one.node, one.input_nr] = total
                left[one.node] -= 1
                assert one.dependencies_left == left[one.node]
        assert not sums or pass_.captures


# Names and places


@each_model
def test_every_node_has_a_place_in_the_program(program: Path) -> None:
    recording, _ = recorded(program)
    places = [node.place for node in recording.nodes if node.variable is None]
    assert {one.file if one is not None else None for one in places} == {program.name}


@each_model
def test_parameters_have_the_paths_in_their_module_as_names(program: Path) -> None:
    import torch

    recording, variables = recorded(program)
    names = {recording.tensors[node.variable].name for node in recording.nodes if node.variable is not None}
    modules = [(name, one) for name, one in variables.items() if isinstance(one, torch.nn.Module)]
    paths = [
        (path, f"{name}.{path}")
        for name, one in modules
        for path, parameter in one.named_parameters()
        if parameter.grad is not None
    ]
    assert len(paths) > 3
    assert [one for one in paths if names.isdisjoint(one)] == []


@each_model
def test_scopes_nest_as_modules_do(program: Path) -> None:
    """The scopes of a node are the modules that were running when its number was given out."""
    import torch
    from torch._C._autograd import _get_sequence_nr as next_number

    paths: dict[int, tuple[str, ...]] = {}  # sequence number -> the modules around it, outermost first
    running: list[Any] = []
    since = [next_number()]

    def note() -> None:
        names = {module: path for path, module in running[0].named_modules()} if running else {}
        modules = tuple(names[one] for one in running)
        paths.update(dict.fromkeys(range(since[0], next_number()), modules))
        since[0] = next_number()

    def enter(module: Any, args: Any) -> None:
        note()
        running.append(module)

    def leave(module: Any, args: Any, result: Any) -> None:
        note()
        running.pop()

    recorder = recorder_of(program)
    found: list[tuple[int, int]] = []  # (torch's number, the node)

    def run(go: Any, args: Any, kwargs: Any) -> Any:
        note()
        numbers = [one._sequence_nr() for one in nodes_behind([edge_of(one)[0] for one in args[0]])]
        result = go(*args, **kwargs)
        recorder.current.tape.number()
        entries = {one.node.sequence_nr: i for i, one in enumerate(recorder.current.tape.nodes)}
        found.extend((number, entries[number]) for number in numbers if number in entries)
        since[0] = next_number()
        return result

    module = torch.nn.modules.module
    with recorder, each_pass(run), contextlib.ExitStack() as stack:
        stack.callback(module.register_module_forward_pre_hook(enter).remove)
        stack.callback(module.register_module_forward_hook(leave).remove)
        run_program(program)
    recording = recorder.recording
    compared = 0
    for number, node in found:
        record = recording.nodes[node]
        if record.variable is None and record.pass_ is None:
            assert scope_path(recording, record.scope) == paths[number], (record.name, record.place)
            compared += 1
    assert compared > 10


def scope_path(recording: Recording, scope: int | None) -> tuple[str, ...]:
    """The paths of the modules around a node within the outermost one, whose own is empty."""
    names: list[str] = []
    while scope is not None:
        names.insert(0, recording.scopes[scope].name.partition(" ")[0])  # without the class in `2 ReLU`
        scope = recording.scopes[scope].outer
    return tuple(".".join(names[1:end]) for end in range(1, len(names) + 1))


# It is shown


@each_model
def test_the_trace_and_pictures_show_the_recording(program: Path, tmp_path: Path) -> None:
    recording, _ = recorded(program)
    assert recording.faults == ()
    assert recording.notes == ()
    loaded = through_a_file(recording, tmp_path)
    assert program.name in printed(loaded)
    assert drawn(loaded)


@each_model
def test_nothing_is_found_in_a_model_in_which_nothing_is_wrong(program: Path) -> None:
    assert [one for one in findings(recorded(program)[0]) if one.severity != "notice"] == []


def test_torch_adds_gradients_in_place_as_without_the_recorder_up_to_2_9() -> None:
    """From 2.10 on, reading `untyped_storage()` of a gradient leaves a second user of its storage."""
    import torch

    def version() -> int:
        w = torch.ones(4, requires_grad=True)
        (w[:3] * 2).sum().add((w[:2] * 3).sum()).backward()
        assert w.grad is not None
        return w.grad._version

    expected = version()
    with ProgramRecorder():
        found = version()
    major, minor = map(int, torch.__version__.split(".")[:2])
    assert (found == expected) == ((major, minor) < (2, 10))

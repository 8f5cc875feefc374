"""The contract that a recording has of a Function's call, against what torch reports of the same call."""

from __future__ import annotations

from collections import namedtuple

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import microtape
from microtape.recording.model.contracts import contract_of

ARGUMENTS = {
    "recorded": "leaf * 1",
    "constant": "mt.tensor([1.0, 2.0])",
    "integers": "mt.tensor([1, 2])",
    "number": "3.0",
    "list": "[mt.tensor([1.0]), 2]",
    "nothing": "None",
}
TENSORS = ("recorded", "constant", "integers")
OUTPUTS = ("new", "marked", "integer", "number", "nothing", "same", "view", "dirty")
Call = namedtuple("Call", "arguments outputs saved materializes names source")


@st.composite
def calls(draw):
    """The source of a Function and of a call of it, with what it is made of."""
    arguments = ["recorded", *draw(st.lists(st.sampled_from(list(ARGUMENTS)), max_size=3))]
    order = draw(st.permutations(range(len(arguments))))
    arguments = [arguments[i] for i in order]
    tensors = [i for i, kind in enumerate(arguments) if kind in TENSORS]
    floats = [i for i in tensors if arguments[i] != "integers"]
    kinds = draw(st.lists(st.sampled_from(OUTPUTS), min_size=1, max_size=4))
    outputs, used = [], set()
    for kind in kinds:
        of = None
        if kind in ("same", "view", "dirty"):
            of = draw(st.sampled_from(floats if kind == "dirty" else tensors))
            assume(of not in used)
            used.add(of)
        outputs.append((kind, of))
    saved = draw(st.lists(st.sampled_from([*(f"a{i}" for i in tensors), "t", "z0"]), unique=True, max_size=3))
    assume("z0" not in saved or outputs[0][0] in ("new", "marked", "integer"))
    materializes, in_setup = draw(st.booleans()), draw(st.booleans()) and "t" not in saved
    assume(not in_setup or not any(kind == "dirty" or (kind == "same" and f"a{of}" in saved) for kind, of in outputs))
    first = next(i for i, kind in enumerate(arguments) if kind == "recorded")
    return written(draw, Call(arguments, outputs, saved, materializes, [f"a{i}" for i in range(len(arguments))], ""),
                   first, in_setup)  # fmt: skip


def written(draw, call, first, in_setup):
    """The call with its source; the loss uses some of the differentiable outputs."""
    made = {"new": f"a{first} * t", "marked": f"a{first} + 1", "integer": f"a{first} > 0", "number": "2.5",
            "nothing": "None"}  # fmt: skip
    lines = [f"t = a{first}.exp()"]
    dirty, marked, returned = [], [], []
    for i, (kind, of) in enumerate(call.outputs):
        lines += [f"a{of}.mul_(2)"] if kind == "dirty" else []
        dirty += [f"a{of}"] if kind == "dirty" else []
        lines += [f"z{i} = a{of}.view(-1)"] if kind == "view" else [f"z{i} = {made[kind]}"] if kind in made else []
        marked += [f"z{i}"] if kind == "marked" else []
        returned.append(f"a{of}" if kind in ("same", "dirty") else f"z{i}")
    keep = [f"ctx.mark_dirty({', '.join(dirty)})"] if dirty else []  # one call: a second one replaces the first
    keep += [f"ctx.mark_non_differentiable({', '.join(marked)})"] if marked else []
    keep += [f"ctx.save_for_backward({', '.join(call.saved)})", "ctx.scale = 3"]
    keep += [] if call.materializes else ["ctx.set_materialize_grads(False)"]
    names = ", ".join(call.names)
    result = f"return {', '.join(returned)},"
    if in_setup:
        outputs = ", ".join(f"z{i}" for i in range(len(returned)))
        forward = [f"def forward({names}):", *indented([*lines, result]), "@staticmethod",
                   "def setup_context(ctx, inputs, output):",
                   *indented([f"{names}, = inputs", f"{outputs}, = output", *keep])]  # fmt: skip
    else:
        forward = [f"def forward(ctx, {names}):", *indented([*lines, *keep, result])]
    gradients = ", ".join(f"g{i}" for i in range(len(returned)))
    back = [f"mt.ones(2) if {kind in TENSORS} else None" for kind in call.arguments]
    backward = [f"def backward(ctx, {gradients}):", *indented([
        "seen['needs'] = ctx.needs_input_grad",
        f"seen['came'] = [one is not None for one in ({gradients},)]",
        "seen['versions'] = [one._version for one in ctx.saved_tensors]",
        f"return {', '.join(back)},",
    ])]  # fmt: skip
    shares = {of: i for i, (_, of) in enumerate(call.outputs) if of is not None and call.arguments[of] != "integers"}
    differentiable = [*shares.values(), *(i for i, (kind, _) in enumerate(call.outputs) if kind == "new")]
    assume(differentiable)
    used = draw(st.lists(st.sampled_from(differentiable), min_size=1, unique=True))
    source = [
        "class F(mt.autograd.Function):",
        *indented(["@staticmethod", *forward, "@staticmethod", *backward]),
        "leaf = mt.tensor([1.0, -2.0], requires_grad=True)",
        *[f"{name} = {ARGUMENTS[kind]}" for name, kind in zip(call.names, call.arguments, strict=True)],
        f"{', '.join(f'o{i}' for i in range(len(returned)))}, = outputs = F.apply({names})",
        f"({' + '.join(f'o{i}.sum()' for i in used)}).backward()",
    ]
    return call._replace(source="\n".join(source)), frozenset(used)


def indented(lines):
    return [f"    {one}" for one in lines]


def run(mt, source):
    """The variables of the program, and what its backward saw."""
    names = {"mt": mt, "seen": {}}
    exec(compile(source, "<program>", "exec"), names)
    return names


@pytest.fixture(scope="module")
def torch():
    import torch

    return torch


WITHOUT_TRACING = set(Phase) - {Phase.explain}  # the recorder leaves a trace function alone, and so misses names


@settings(max_examples=150, phases=WITHOUT_TRACING)
@given(made=calls())
def test_the_contract_says_what_torch_does(made, torch):
    call, used = made
    theirs = run(torch, call.source)
    with microtape.record() as recorder:
        ours = run(microtape, call.source)
    recording = recorder.recording
    (function,) = recording.functions
    (step,) = [one for _, one in recording.steps() if one.node == function.node]
    found, node = contract_of(recording, function, step, used), recording.nodes[function.node]

    assert tuple(one.needs_gradient for one in function.arguments) == theirs["seen"]["needs"]
    assert [one.name for one in function.arguments] == call.names
    assert [one.edge is not None for one in function.arguments] == [kind in TENSORS for kind in call.arguments]
    for i, ((kind, of), theirs_, line) in enumerate(zip(call.outputs, theirs["outputs"], found.outputs, strict=True)):
        record = function.outputs[i]
        assert record.role == role_on_torch(torch, theirs, kind, theirs_)
        assert record.argument == (None if kind == "view" and record.role == "non-differentiable" else of)
        if isinstance(theirs_, torch.Tensor):
            assert line.is_differentiable == theirs_.requires_grad
            assert line.name == f"o{i}" or kind == "dirty"
            assert node.outputs[i].version == theirs_._version == ours["outputs"][i]._version
    came = [one.gradient is not None for one in found.outputs]
    assert came == theirs["seen"]["came"]
    assert [one.is_zeros for one in found.outputs] == [here and i not in used for i, here in enumerate(came)]
    assert [one.name for one in found.saved] == call.saved
    assert [one.version_now for one in found.saved] == theirs["seen"]["versions"]
    for line in found.saved:
        dirty = {f"a{of}" for kind, of in call.outputs if kind == "dirty"}
        role = "intermediate" if line.name == "t" else "output" if line.name in {"z0", *dirty} else "input"
        assert line.role == role
    assert [(name, value.text) for name, value in found.attributes] == [("scale", "3")]
    assert function.materializes_grads == call.materializes


def role_on_torch(torch, names, kind, output):
    """What torch shows an output to be."""
    if not isinstance(output, torch.Tensor):
        return "not a tensor"
    if not output.requires_grad:
        return "non-differentiable"
    if any(output is value for name, value in names.items() if name.startswith("a")):
        return "dirty"
    if output._is_view() and any(output._base is value for name, value in names.items() if name.startswith("a")):
        return "returned unchanged" if kind == "same" else "view"
    return "differentiable"

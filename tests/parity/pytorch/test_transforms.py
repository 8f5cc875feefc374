"""torch.func, torch.autograd.functional and forward mode: undisturbed, recorded, and what is unknown is said."""

from __future__ import annotations

import pytest

EXAMPLES = "tensors inside of vmap (and of jacrev, hessian) stand for many examples at once; their values are unknown"
FORWARD = "derivatives in forward mode (jvp, jacfwd, forward_ad) have no backward pass and are not recorded"


def cubes(x):
    return (x**3).sum()


def of_each_sample(torch, x):
    model = torch.nn.Linear(3, 1)
    parameters = {name: one.detach() for name, one in model.named_parameters()}

    def loss(parameters, row):
        return torch.func.functional_call(model, parameters, (row,)).sum()

    return torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, torch.outer(x, x))


def through_a_transform(torch, x):
    w = torch.ones(3, requires_grad=True)
    torch.func.grad(lambda x: (x * w).pow(2).sum())(x).sum().backward()
    return w.grad


def through_vmap(torch, x):
    w = torch.ones(3, requires_grad=True)
    torch.func.vmap(lambda row: row * w)(torch.outer(x, x)).sum().backward()
    return w.grad


def dual_numbers(torch, x):
    forward = torch.autograd.forward_ad
    w = torch.ones(3, requires_grad=True)
    with forward.dual_level():
        tangent = forward.unpack_dual((forward.make_dual(w, x) ** 2).sum()).tangent
        tangent.backward()
    return tangent, w.grad


PROGRAMS = {
    "grad": (lambda torch, x: torch.func.grad(cubes)(x), [], 1),
    "grad_and_value": (lambda torch, x: torch.func.grad_and_value(cubes)(x), [], 1),
    "grad of grad": (
        lambda torch, x: torch.func.grad(lambda x: torch.func.grad(cubes)(x).sum())(x),
        [],
        2,
    ),
    "vjp": (lambda torch, x: torch.func.vjp(torch.sin, x)[1](x), [], 1),
    "jvp": (lambda torch, x: torch.func.jvp(torch.sin, (x,), (x,)), [FORWARD], 0),
    "jacrev": (lambda torch, x: torch.func.jacrev(torch.sin)(x), [EXAMPLES], 1),
    "jacfwd": (lambda torch, x: torch.func.jacfwd(torch.sin)(x), [FORWARD], 0),
    "hessian": (lambda torch, x: torch.func.hessian(cubes)(x), [EXAMPLES, FORWARD], 1),
    "linearize": (lambda torch, x: torch.func.linearize(torch.sin, x)[1](x), [FORWARD], 0),
    "vmap of grad": (lambda torch, x: torch.func.vmap(torch.func.grad(cubes))(torch.outer(x, x)), [EXAMPLES], 1),
    "of each sample": (of_each_sample, [EXAMPLES], 1),
    "functionalize": (lambda torch, x: torch.func.functionalize(lambda x: x.clone().add_(1))(x), [], 0),
    "backward through grad": (through_a_transform, [], 2),
    "backward through vmap": (through_vmap, [EXAMPLES], 1),
    "dual numbers": (dual_numbers, [FORWARD], 1),
    "functional.vjp": (lambda torch, x: torch.autograd.functional.vjp(cubes, x), [], 1),
    "functional.jvp": (lambda torch, x: torch.autograd.functional.jvp(cubes, x, x), [], 2),
    "functional.jacobian": (lambda torch, x: torch.autograd.functional.jacobian(torch.sin, x), [], 3),
    "functional.jacobian at once": (
        lambda torch, x: torch.autograd.functional.jacobian(torch.sin, x, vectorize=True),
        [],
        1,
    ),
    "functional.jacobian forward": (
        lambda torch, x: torch.autograd.functional.jacobian(torch.sin, x, vectorize=True, strategy="forward-mode"),
        [FORWARD],
        0,
    ),
    "functional.hessian": (lambda torch, x: torch.autograd.functional.hessian(cubes, x), [], 4),
    "functional.hvp": (lambda torch, x: torch.autograd.functional.hvp(cubes, x, x), [], 3),
    "functional.vhp": (lambda torch, x: torch.autograd.functional.vhp(cubes, x, x), [], 2),
    "gradcheck": (
        lambda torch, x: torch.autograd.gradcheck(torch.sin, x.double().requires_grad_(), fast_mode=True),
        [],
        None,
    ),
}


def flat(torch, value):
    if isinstance(value, torch.Tensor):
        return [value.detach()]
    parts = list(value.values()) if isinstance(value, dict) else value
    return [one for part in parts for one in flat(torch, part)] if isinstance(parts, list | tuple) else [value]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_transform_is_undisturbed_and_the_recording_says_what_is_unknown(torch, name):
    from microtape.recording.file.integrity import check_integrity
    from microtape.recording.pytorch.recorder import TorchRecorder

    program, notes, passes = PROGRAMS[name]

    def run():
        torch.manual_seed(0)
        return flat(torch, program(torch, torch.tensor([0.5, -1.0, 2.0])))

    alone = run()
    with TorchRecorder() as recorder:
        recorded = run()
    assert len(alone) == len(recorded)
    assert all(torch.equal(a, b) if torch.is_tensor(a) else a == b for a, b in zip(alone, recorded, strict=True))
    recording = recorder.recording
    assert recording.faults == ()
    check_integrity(recording)
    assert [one for one in recording.notes if one in (EXAMPLES, FORWARD)] == notes
    assert passes is None or len(recording.passes) == passes
    assert all(one.steps for one in recording.passes)


def recording_of(program):
    from microtape.recording.pytorch.recorder import TorchRecorder

    with TorchRecorder() as recorder:
        program()
    return recorder.recording


def wave(x):
    return (x.sin() * x).sum()


def all_values(recording):
    """By node: its name, its line, what it computed, what arrived at it and what it sent, in the order of the steps."""
    for one in recording.passes:
        for step in one.steps:
            node = recording.nodes[step.node]
            results = [recording.tensors[ref.tensor].values.get(ref.version) for ref in node.outputs if ref is not None]
            line = node.place.line if node.place is not None else None
            yield node.name, line, results, step.grad_outputs, step.grad_inputs


def same(one, other):
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if one is None or other is None:
        return one is other
    return one.tobytes() == other.tobytes() if hasattr(one, "tobytes") else one == other


def test_a_pass_of_grad_holds_what_one_of_autograd_holds(torch):
    x = torch.tensor([0.5, -1.0, 2.0])
    transformed = recording_of(lambda: torch.func.grad(wave)(x))
    y = x.clone().requires_grad_()
    plain = recording_of(lambda: torch.autograd.grad(wave(y), y))
    assert same(list(all_values(transformed)), list(all_values(plain)))
    assert same([one.value for one in transformed.passes[0].captures], [one.value for one in plain.passes[0].captures])


def test_the_passes_of_nested_grads_are_those_of_a_double_backward(torch):
    x = torch.tensor([0.5, -1.0, 2.0])
    transformed = recording_of(lambda: torch.func.grad(lambda x: torch.func.grad(wave)(x).sum())(x))
    y = x.clone().requires_grad_()

    def twice():
        (first,) = torch.autograd.grad(wave(y), y, create_graph=True)
        torch.autograd.grad(first.sum(), y)

    plain = recording_of(twice)
    found, expected = list(all_values(transformed)), list(all_values(plain))
    assert [one[0] for one in found] == [one[0] for one in expected]
    assert same([one[2:] for one in found], [one[2:] for one in expected])
    assert all(result is not None for one in found for result in one[2])


def test_a_gradient_goes_on_from_a_transform_to_the_program_around_it(torch):
    x, w = torch.tensor([0.5, -1.0, 2.0]), torch.ones(3, requires_grad=True)
    recording = recording_of(lambda: torch.func.grad(lambda x: (wave(x) * w).sum())(x).sum().backward())
    inner, outer = recording.passes
    assert {recording.nodes[step.node].pass_ for step in outer.steps} >= {inner.index}
    assert outer.steps[-1].grad_after.tobytes() == w.grad.numpy().tobytes()


def test_inside_of_vmap_the_nodes_the_shapes_and_the_order_are_known(torch):
    x = torch.tensor([[0.5, -1.0, 2.0], [1.0, 2.0, 3.0]])
    recording = recording_of(lambda: torch.func.vmap(torch.func.grad(wave))(x))
    found = list(all_values(recording))
    assert [one[0] for one in found] == ["SumBackward0", "MulBackward0", "SinBackward0"]
    assert len({one[1] for one in found}) == 1
    assert [one[3][0].shape for one in found] == [(), (3,), (3,)]
    assert all(value.min is None for one in found for value in one[3])


def test_of_jacrev_the_forward_pass_has_values_and_the_rows_together_have_none(torch):
    recording = recording_of(lambda: torch.func.jacrev(lambda x: x.sin() * x)(torch.tensor([0.5, -1.0, 2.0])))
    found = list(all_values(recording))
    assert [one[0] for one in found] == ["MulBackward0", "SinBackward0"]
    assert all(hasattr(result, "tobytes") for one in found for result in one[2])
    assert all(value.shape == (3,) and value.min is None for one in found for value in one[3])


def test_a_large_array_of_a_transform_is_summarised(torch):
    x = torch.linspace(0, 1, 50_000)
    recording = recording_of(lambda: torch.func.grad(wave)(x))
    arrived = [step.grad_outputs[0] for step in recording.passes[0].steps]
    assert [one.shape for one in arrived] == [(), (50_000,), (50_000,)]
    assert arrived[2].max == 1


@pytest.mark.filterwarnings("ignore")
def test_a_transform_of_a_function_that_gives_its_argument_back_is_a_pass(torch):
    x = torch.tensor([0.5, -1.0, 2.0])

    def same(x):
        return x

    for transformed in (torch.func.jacrev(same), torch.func.vjp(same, x)[1], torch.func.hessian(same)):
        recording = recording_of(lambda transformed=transformed: transformed(x))
        (only,) = recording.passes
        assert recording.faults == ()
        assert (only.steps, len(only.roots), only.captures[0].value.shape) == ((), 1, (3,))
    found = recording_of(lambda: torch.func.jacrev(lambda x: (x, x.sin()))(x))
    assert [one[0] for one in all_values(found)] == ["SinBackward0"]


def test_nodes_of_operations_inside_of_vmap_have_their_lines_modules_and_values(torch):
    models = [torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU()) for _ in range(4)]
    weights, buffers = torch.func.stack_module_state(models)

    def run():
        def one(weights, buffers, x):
            hidden = torch.func.functional_call(models[0], (weights, buffers), (x,))
            return hidden.exp()

        torch.func.vmap(one, (0, 0, None))(weights, buffers, torch.ones(5, 3)).sum().backward()

    recording = recording_of(run)
    own = [one for one in recording.nodes if one.variable is None]
    assert all(one.place is not None for one in own)
    scopes = {one.name: recording.scopes[one.scope].name for one in own if one.scope is not None}
    assert (scopes["BmmBackward0"], scopes["ReluBackward0"]) == ("0 Linear", "1 ReLU")
    (exp,) = [one for one in own if one.op == "exp"]
    operand, result = exp.operands[0].ref, exp.outputs[0]
    assert recording.tensors[operand.tensor].name == "hidden"
    assert recording.value(result).shape == recording.value(operand).shape == (4, 5, 2)


def test_a_write_in_place_inside_of_vmap_is_noted(torch):
    w = torch.ones(3, requires_grad=True)

    def one(row):
        y = row * w
        y.mul_(2)
        y[0] = 1.0
        return y

    recording = recording_of(lambda: torch.func.vmap(one)(torch.ones(4, 3)).sum().backward())
    written = [one for one in recording.nodes if one.in_place]
    assert [one.name for one in written] == ["MulBackward0", "CopySlices"]
    assert recording.value(written[0].outputs[0]).tolist() == [[2, 2, 2]] * 4

"""torch.func, torch.autograd.functional and forward mode: undisturbed, and the recording says what it left out."""

from __future__ import annotations

import pytest

TRANSFORMED = "passes of torch.func (grad, vjp, jacrev, ...) have graphs of their own and are not recorded"
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
    "grad": (lambda torch, x: torch.func.grad(cubes)(x), [TRANSFORMED], 0),
    "grad_and_value": (lambda torch, x: torch.func.grad_and_value(cubes)(x), [TRANSFORMED], 0),
    "grad of grad": (
        lambda torch, x: torch.func.grad(lambda x: torch.func.grad(cubes)(x).sum())(x),
        [TRANSFORMED],
        0,
    ),
    "vjp": (lambda torch, x: torch.func.vjp(torch.sin, x)[1](x), [TRANSFORMED], 0),
    "jvp": (lambda torch, x: torch.func.jvp(torch.sin, (x,), (x,)), [FORWARD], 0),
    "jacrev": (lambda torch, x: torch.func.jacrev(torch.sin)(x), [TRANSFORMED], 0),
    "jacfwd": (lambda torch, x: torch.func.jacfwd(torch.sin)(x), [FORWARD], 0),
    "hessian": (lambda torch, x: torch.func.hessian(cubes)(x), [TRANSFORMED, FORWARD], 0),
    "linearize": (lambda torch, x: torch.func.linearize(torch.sin, x)[1](x), [FORWARD], 0),
    "vmap of grad": (lambda torch, x: torch.func.vmap(torch.func.grad(cubes))(torch.outer(x, x)), [TRANSFORMED], 0),
    "of each sample": (of_each_sample, [TRANSFORMED], 0),
    "functionalize": (lambda torch, x: torch.func.functionalize(lambda x: x.clone().add_(1))(x), [], 0),
    "backward through grad": (through_a_transform, [TRANSFORMED], 1),
    "backward through vmap": (through_vmap, [], 1),
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
def test_a_transform_is_undisturbed_and_the_recording_says_what_it_left_out(torch, name):
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
    assert [one for one in recording.notes if one in (TRANSFORMED, FORWARD)] == notes
    assert passes is None or len(recording.passes) == passes
    assert all(one.steps for one in recording.passes)

"""Products with Jacobians and Hessians of a function: `vjp`, `jvp`, `vhp`, `hvp`, and the whole matrices.

Note [The double-backward trick]
  Backward computes v ↦ v · J, which is linear in v. Differentiating that map with respect to v, at any v at all, gives
  its transpose, w ↦ J · w: a Jacobian-vector product out of two backward passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from microtape.ops.shape.joining import stack
from microtape.tape.grad_mode import enable_grad
from microtape.tensors.differentiate import grad
from microtape.tensors.factories import zeros_like
from microtape.tensors.tensor import Tensor
from microtape.transforms.forward_ad import dual_level, make_dual, unpack_dual
from microtape.transforms.functional_parts import (
    CONSTANT_HESSIAN,
    CONSTANT_HESSIAN_GRAPH,
    CONSTANT_JACOBIAN,
    CONSTANT_JACOBIAN_GRAPH,
    INDEPENDENT_GRADIENT,
    INDEPENDENT_INPUT,
    INDEPENDENT_OUTPUT,
    INDEPENDENT_PAIR,
    INDEPENDENT_SEED,
    LINEAR,
    Several,
    check_depends,
    detached,
    filled,
    finished,
    fresh,
    several,
    vector,
    vector_of_inputs,
)


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """`(func(*inputs), v · J)`, with J the Jacobian of `func` at `inputs` and `v` in the shape of the outputs.

    `v` may be left out where the output is one tensor of one element. With `create_graph` the results can be
    differentiated. Raises RuntimeError for a `v` that does not fit and for what `strict` forbids.
    """
    with enable_grad():
        given = several(inputs, "inputs", "vjp")
        xs = fresh(given.tensors, create_graph)
        outputs = called(func, xs, "vjp", strict)
        if v is not None:
            v = vector(v, outputs, "vjp", create_graph)
        elif len(outputs.tensors) != 1 or outputs.tensors[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single "
                "element."
            )
    found = gradients(outputs.tensors, xs, v, create_graph)
    products = filled(found, xs, create_graph, strict, INDEPENDENT_INPUT, CONSTANT_JACOBIAN_GRAPH)
    return finished(outputs, create_graph), given.like(detached(products, create_graph))


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """`(func(*inputs), J · v)`, with J the Jacobian of `func` at `inputs` and `v` in the shape of the inputs.

    See `vjp`, and Note [The double-backward trick].
    """
    with enable_grad():
        given = several(inputs, "inputs", "jvp")
        xs = fresh(given.tensors, create_graph)
        v = vector_of_inputs(v, given, "jvp", create_graph)
        outputs = called(func, xs, "jvp", strict)
        seeds = tuple(zeros_like(output, requires_grad=True) for output in outputs.tensors)
        transposed = gradients(outputs.tensors, xs, seeds, True)
        if strict:
            check_depends(transposed, INDEPENDENT_INPUT, INDEPENDENT_GRADIENT)
    found = gradients(transposed, seeds, v, create_graph)
    products = filled(found, outputs.tensors, create_graph, strict, INDEPENDENT_SEED, CONSTANT_JACOBIAN_GRAPH)
    return finished(outputs, create_graph), outputs.like(detached(products, create_graph))


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """`(func(*inputs), v · H)`, with H the Hessian of a `func` that returns one number; see `vjp`."""
    with enable_grad():
        given = several(inputs, "inputs", "vhp")
        xs = fresh(given.tensors, create_graph)
        v = vector_of_inputs(v, given, "vhp", create_graph)
        output = one_number(func, xs, "vhp", strict)
        first = first_derivative(output, xs, strict)
    found = gradients(first, xs, v, create_graph)
    products = filled(found, xs, create_graph, strict, CONSTANT_JACOBIAN, CONSTANT_HESSIAN_GRAPH)
    return finished(output, create_graph), given.like(detached(products, create_graph))


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """`(func(*inputs), H · v)`: the same as `vhp`, since H is symmetric, but by one more backward pass.

    It is what `jvp` of the gradient gives, and it is here because torch has it; `vhp` is cheaper.
    """
    with enable_grad():
        given = several(inputs, "inputs", "hvp")
        xs = fresh(given.tensors, create_graph)
        v = vector_of_inputs(v, given, "hvp", create_graph)
        output = one_number(func, xs, "hvp", strict)
        first = first_derivative(output, xs, strict)
        seeds = tuple(zeros_like(x, requires_grad=True) for x in xs)
        transposed = gradients(first, xs, seeds, True)
    found = gradients(transposed, seeds, v, create_graph)
    products = filled(found, xs, create_graph, strict, CONSTANT_HESSIAN, CONSTANT_HESSIAN_GRAPH)
    return finished(output, create_graph), given.like(detached(products, create_graph))


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of `func` at `inputs`: for each output and input a tensor of shape `output.shape + input.shape`.

    Reverse mode takes one backward pass for each element of the outputs, forward mode one call of `func` for each
    element of the inputs. `vectorize` changes nothing but what is allowed beside it: forward mode wants it, `strict`
    forbids it. NB: torch runs the passes as one, with vmap.

    Raises RuntimeError for what `strict` forbids, NotImplementedError and RuntimeError for arguments that do not go
    together.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'microtape.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not '
                'supported together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        return forward_jacobian(func, inputs, strict, vectorize)
    with enable_grad():
        given = several(inputs, "inputs", "jacobian")
        xs = fresh(given.tensors, create_graph)
        outputs = called(func, xs, "jacobian", strict)
        if vectorize and strict:
            raise RuntimeError(
                "microtape.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
                "together. Please either set `strict=False` or `vectorize=False`."
            )
        blocks = []
        for i, output in enumerate(outputs.tensors):
            rows = [
                jacobian_row(i, element, xs, create_graph, strict)
                for element in (output.reshape(-1)[j] for j in range(output.numel()))
            ]
            columns = [
                stack(column).reshape((*output.shape, *x.shape))
                for x, column in zip(xs, zip(*rows, strict=True), strict=True)
            ]
            blocks.append(given.like(detached(columns, create_graph)))
    return outputs.like(blocks)


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a `func` that returns one number: for each pair of inputs a tensor of both their shapes.

    It is the Jacobian of the gradient; see `jacobian` for the arguments.
    """
    given = several(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def gradient(*xs: Tensor) -> Any:
        ys = fresh([x if x.requires_grad else x.requires_grad_() for x in xs], True)
        first = gradients(one_number(func, ys, "hessian", strict).tensors, ys, None, True)
        if strict:
            check_depends(first, LINEAR, LINEAR)
        return tuple(zeros_like(x) if one is None else one for one, x in zip(first, xs, strict=True))

    blocks = jacobian(gradient, given.tensors, create_graph, strict, vectorize, outer_jacobian_strategy)
    return given.like([given.like(row) for row in blocks])


def called(func: Callable[..., Any], xs: Sequence[Tensor], function: str, strict: bool) -> Several:
    """The outputs of `func`."""
    outputs = several(func(*xs), "outputs of the user-provided function", function)
    if strict:
        check_depends(outputs.tensors, INDEPENDENT_OUTPUT, INDEPENDENT_OUTPUT)
    return outputs


def forward_jacobian(func: Callable[..., Any], inputs: Any, strict: bool, vectorize: bool) -> Any:
    """The Jacobian, a column at a time: each is the tangent of the outputs in the direction of one input element."""
    if strict:
        raise RuntimeError(
            'microtape.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported '
            'together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    given = several(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    rows: list[list[Tensor]] = []
    outputs = Several((), True)
    for which, x in enumerate(given.tensors):
        columns = []
        for element in range(x.numel()):
            directions = [zeros_like(one) for one in given.tensors]
            directions[which].view(-1)[element] = 1
            outputs, column = pushed_forward(func, given.tensors, directions)
            columns.append(column)
        rows.append([stack(column, -1).reshape((*column[0].shape, *x.shape)) for column in zip(*columns, strict=True)])
    return outputs.like([given.like(blocks) for blocks in zip(*rows, strict=True)])


def pushed_forward(
    func: Callable[..., Any], xs: Sequence[Tensor], directions: Sequence[Tensor]
) -> tuple[Several, list[Tensor]]:
    """The outputs of `func`, and how they change as the inputs do in these directions."""
    with dual_level():
        duals = [make_dual(x, direction) for x, direction in zip(xs, directions, strict=True)]
        outputs = called(func, duals, "jacobian", False)
        tangents = [unpack_dual(output).tangent for output in outputs.tensors]
    filled_in = [
        zeros_like(output) if tangent is None else tangent.detach()
        for tangent, output in zip(tangents, outputs.tensors, strict=True)
    ]
    return outputs, filled_in


def gradients(
    outputs: Sequence[Tensor | None],
    inputs: Sequence[Tensor],
    seeds: Sequence[Tensor] | None,
    create_graph: bool,
    retain_graph: bool | None = None,
) -> tuple[Tensor | None, ...]:
    """`grad` of those outputs that have a history; None for the inputs that they do not depend on."""
    given = seeds if seeds is not None else (None,) * len(outputs)
    pairs = [(y, seed) for y, seed in zip(outputs, given, strict=True) if y is not None and y.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    ys, vs = zip(*pairs, strict=True)
    found: tuple[Tensor | None, ...] = grad(ys, inputs, vs, retain_graph, create_graph, allow_unused=True)
    return found


def one_number(func: Callable[..., Any], xs: Sequence[Tensor], function: str, strict: bool) -> Several:
    """The output of a `func` whose Hessian is asked for. Raises RuntimeError unless it is one number."""
    output = called(func, xs, function, strict)
    if output.in_tuple:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if output.tensors[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")
    return output


def first_derivative(output: Several, xs: Sequence[Tensor], strict: bool) -> tuple[Tensor | None, ...]:
    """The gradient of one number, ready to be differentiated again."""
    first = gradients(output.tensors, xs, None, True)
    if strict:
        check_depends(first, INDEPENDENT_INPUT, LINEAR)
    return first


def jacobian_row(i: int, element: Tensor, xs: Sequence[Tensor], create_graph: bool, strict: bool) -> list[Tensor]:
    """The gradient of one element of output `i`."""
    row = []
    for k, (gradient, x) in enumerate(zip(gradients((element,), xs, None, create_graph, True), xs, strict=True)):
        if gradient is None:
            if strict:
                raise RuntimeError(INDEPENDENT_PAIR.format(output=i, i=k))
            gradient = zeros_like(x)
        elif strict and create_graph and not gradient.requires_grad:
            raise RuntimeError(CONSTANT_JACOBIAN_GRAPH.format(i=i))
        row.append(gradient)
    return row


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

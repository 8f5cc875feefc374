"""The derivatives of a function as functions: `grad`, `vjp`, `jvp`, `jacrev`, `jacfwd`, `hessian`, as in torch.func.

Note [Transforms without levels]
  torch runs these with a stack of interpreters. Here each is a few lines on `autograd.grad`: the inputs become tensors
  that the graph begins with, and the result stays connected to the graphs around it, so that transforms nest. A result
  that depends on nothing but these inputs has no history, as in torch. `jvp` uses Note [The double-backward trick].

Arguments and results may be tensors, or nested tuples, lists and dicts of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from microtape.ops.shape.joining import stack
from microtape.tape.grad_mode import enable_grad, mode
from microtape.tensors.differentiate import grad as gradients_of
from microtape.tensors.factories import zeros_like
from microtape.tensors.tensor import Tensor
from microtape.transforms.trees import filled_with, mapped, tensors_in


class _Inputs:
    """The tensors to differentiate by: new ones in place of the given, connected to these if they require grad."""

    def __init__(self, given: Any) -> None:
        self.is_recorded = mode.enabled
        self.tree = mapped(lambda x: x.view_as(x) if x.requires_grad else x.detach().requires_grad_(), given)
        self.tensors = list(tensors_in(self.tree))

    def gradients(self, outputs: Sequence[Tensor], seeds: Sequence[Tensor] | None = None) -> list[Tensor]:
        """Those of the outputs, with zeros where there is no dependence."""
        return _gradients(outputs, self.tensors, seeds)

    def results(self, tree: Any) -> Any:
        """The tensors without history, unless they depend on tensors that require grad outside of all transforms."""
        for x in self.tensors:
            if x.grad_fn is None:
                vars(x)[_DONE] = True
        return mapped(lambda y: y if self.is_recorded and _depends_on_others(y) else y.detach(), tree)


_DONE = "input_of_a_transform_that_is_done"


def _gradients(ys: Sequence[Tensor], xs: Sequence[Tensor], seeds: Sequence[Tensor] | None) -> list[Tensor]:
    """The recorded gradients of ys by xs, with zeros where there is no dependence."""
    pairs = [(y, None if seeds is None else seeds[i]) for i, y in enumerate(ys) if y.requires_grad]
    if not pairs:
        return [zeros_like(x) for x in xs]
    roots, firsts = zip(*pairs, strict=True)
    found = gradients_of(roots, xs, firsts, create_graph=True, allow_unused=True)
    return [zeros_like(x) if one is None else one for one, x in zip(found, xs, strict=True)]


def _depends_on_others(y: Tensor) -> bool:
    """Whether a leaf in the history of y is none of those that a transform has begun with and is done with."""
    if y.grad_fn is None:
        return y.requires_grad and _DONE not in vars(y)
    waiting, seen = [y.grad_fn], {id(y.grad_fn)}
    while waiting:
        node = waiting.pop()
        variable = getattr(node, "variable", None)
        if variable is not None and _DONE not in vars(variable):
            return True
        for following, _ in node.next_functions:
            if following is not None and id(following) not in seen:
                seen.add(id(following))
                waiting.append(following)
    return False


def _picked(args: tuple[Any, ...], argnums: Any) -> Any:
    """The arguments with these numbers. Raises RuntimeError for a number that no argument has."""
    for number in (argnums,) if isinstance(argnums, int) else argnums:
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"Got argnum={number}, but only {len(args)} positional inputs")
    return args[argnums] if isinstance(argnums, int) else tuple([args[number] for number in argnums])


def _replaced(args: tuple[Any, ...], argnums: Any, values: Any) -> list[Any]:
    """The arguments with `values` in place of those with these numbers."""
    changed = list(args)
    pairs = [(argnums, values)] if isinstance(argnums, int) else zip(argnums, values, strict=True)
    for number, value in pairs:
        changed[number] = value
    return changed


def _with_aux(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """The pair (output, aux) that a function returns if it `has_aux`, else (output, None)."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{name}(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return result


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of `func` by its argument number `argnums`, and the value.

    `func` returns a tensor of one element without dimensions, or with `has_aux` a pair of that and anything else; then
    the value is a pair, too. `argnums` may be a tuple of numbers, which gives a tuple of gradients.
    """

    @wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        inputs = _Inputs(_picked(args, argnums))
        with enable_grad():
            result = func(*_replaced(args, argnums, inputs.tree), **kwargs)
            output, aux = _with_aux(result, has_aux, "grad_and_value")
            if not isinstance(output, Tensor):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
                )
            if output.dim():
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                    f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            gradient = filled_with(inputs.tree, inputs.gradients([output]))
        value = (output, aux) if has_aux else output
        return inputs.results(gradient), inputs.results(value)

    return differentiated


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of `func`; see `grad_and_value`. With `has_aux`, (gradient, aux)."""
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return differentiated


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """`(func(*primals), f)`, where f(v) is v · J, with J the Jacobian of `func`; with `has_aux`, aux as a third.

    v has the structure and shapes of the output. The product is a tuple, one for each primal.
    """
    inputs = _Inputs(primals)
    with enable_grad():
        output, aux = _with_aux(func(*inputs.tree), has_aux, "vjp")

    def product(cotangents: Any) -> Any:
        seeds = list(tensors_in(cotangents))
        ys = list(tensors_in(output))
        if [one.shape for one in seeds] != [one.shape for one in ys]:
            raise RuntimeError("vjp: the cotangents must have the structure and the shapes of the output")
        outer = _Inputs(())
        with enable_grad():
            found = filled_with(inputs.tree, inputs.gradients(ys, seeds))
        outer.tensors = inputs.tensors
        return outer.results(found)

    done = inputs.results(output)
    return (done, product, inputs.results(aux)) if has_aux else (done, product)


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """`(func(*primals), J · tangents)`, with J the Jacobian of `func`; with `has_aux`, aux as a third.

    `primals` and `tangents` are tuples of the same structure and shapes; the product has those of the output.
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    if not isinstance(tangents, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected tangents to be a tuple, as primals are")
    inputs, directions = _Inputs(primals), list(tensors_in(tangents))
    if [one.shape for one in directions] != [one.shape for one in inputs.tensors]:
        raise RuntimeError("jvp(f, primals, tangents): Expected primals and tangents to have the same shapes")
    with enable_grad():
        output, aux = _with_aux(func(*inputs.tree), has_aux, "jvp")
        product = _pushed_forward(output, inputs, directions)
    done = inputs.results(output), inputs.results(product)
    return (*done, inputs.results(aux)) if has_aux else done


def _pushed_forward(output: Any, inputs: _Inputs, directions: Sequence[Tensor]) -> Any:
    """The tangents of the output from those of the inputs; see Note [The double-backward trick]."""
    ys = list(tensors_in(output))
    seeds = [zeros_like(y).requires_grad_() for y in ys]
    inputs.tensors += seeds  # our own too, when the results are cut off
    transposed = _gradients(ys, inputs.tensors[: len(directions)], seeds)
    return filled_with(output, _gradients(transposed, seeds, directions))


def jacrev(
    func: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func`, one backward pass for each element of the output.

    For each output and input there is a tensor of shape output.shape + input.shape.
    """

    @wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        inputs = _Inputs(_picked(args, argnums))
        with enable_grad():
            result = func(*_replaced(args, argnums, inputs.tree), **kwargs)
            output, aux = _with_aux(result, has_aux, "jacrev")
            jacobian = mapped(lambda y: filled_with(inputs.tree, _by_rows(y, inputs)), output)
        jacobian = inputs.results(jacobian)
        return (jacobian, inputs.results(aux)) if has_aux else jacobian

    return differentiated


def _by_rows(y: Tensor, inputs: _Inputs) -> list[Tensor]:
    """The Jacobians of y by each input."""
    rows = [inputs.gradients([one]) for one in y.reshape(-1).unbind()]
    columns = zip(*rows, strict=True) if rows else [()] * len(inputs.tensors)
    return [
        (stack(list(column)) if column else zeros_like(y)).reshape((*y.shape, *x.shape))
        for column, x in zip(columns, inputs.tensors, strict=True)
    ]


def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func`, one `jvp` for each element of the input; see `jacrev`."""

    @wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        inputs = _Inputs(_picked(args, argnums))
        with enable_grad():
            result = func(*_replaced(args, argnums, inputs.tree), **kwargs)
            output, aux = _with_aux(result, has_aux, "jacfwd")
            jacobian = _by_columns(output, inputs)
        jacobian = inputs.results(jacobian)
        return (jacobian, inputs.results(aux)) if has_aux else jacobian

    return differentiated


def _by_columns(output: Any, inputs: _Inputs) -> Any:
    """The Jacobians of each output by each input, in their structures."""
    xs, ys = list(inputs.tensors), list(tensors_in(output))
    blocks: list[list[Tensor]] = []  # of each input, for each output
    for i, x in enumerate(xs):
        columns = []
        for place in range(x.numel()):
            directions = [zeros_like(one) for one in xs]
            directions[i].view(-1)[place] = 1
            columns.append(list(tensors_in(_pushed_forward(output, inputs, directions))))
        blocks.append(
            [
                (stack([column[k] for column in columns], -1) if columns else zeros_like(y)).reshape(
                    (*y.shape, *x.shape)
                )
                for k, y in enumerate(ys)
            ]
        )
    of_outputs = zip(*blocks, strict=True)
    return filled_with(output, [filled_with(inputs.tree, row) for row in of_outputs])


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """A function that returns the Hessian of `func`: the forward-mode Jacobian of its reverse-mode Jacobian."""
    return jacfwd(jacrev(func, argnums), argnums)


__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp"]

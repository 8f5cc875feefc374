"""Watches the passes of a PyTorch program by hooks of torch's own, beside the recorder.

torch is imported in functions only, so that these tests can be collected without it.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Ran(NamedTuple):
    """One node that ran: what its hooks were given, copied."""

    node: Any  # keeps the node, so that its identity is its own
    name: str
    grad_outputs: tuple[Any, ...]
    grad_inputs: tuple[Any, ...]
    leaf: Any
    grad_before: Any
    grad_after: Any
    saved: tuple[Any, ...]


class SeenPass(NamedTuple):
    """One call of torch's engine."""

    ran: list[Ran]
    edges: dict[Any, tuple[tuple[Any, int], ...]]
    roots: list[tuple[Any, int]]
    seeds: list[Any]


def run_program(program: Path, inside: Any = None) -> dict[str, Any]:
    """Run a program as a script, inside a context. Returns its variables."""
    import torch

    torch.set_num_threads(1)
    main = types.ModuleType("__main__")
    main.__file__ = str(program)
    code = compile(program.read_bytes(), str(program), "exec", dont_inherit=True)
    with inside if inside is not None else contextlib.nullcontext():
        exec(code, vars(main))
    return vars(main)


@contextlib.contextmanager
def each_pass(run: Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]) -> Iterator[None]:
    """Let `run` run each pass of the program: it is given the engine's method and the arguments."""
    from torch.autograd import Variable

    inner = Variable._execution_engine

    class Engine(type(inner)):  # type: ignore[misc]
        def run_backward(self, *args: Any, **kwargs: Any) -> Any:
            return run(inner.run_backward, args, kwargs)

    Variable._execution_engine = Engine()
    try:
        yield
    finally:
        Variable._execution_engine = inner


@contextlib.contextmanager
def watching(seen: list[SeenPass]) -> Iterator[None]:
    """Add what every pass of the program does to `seen`."""

    def run(go: Any, args: Any, kwargs: Any) -> Any:
        roots = [edge_of(one) for one in args[0]]
        seen.append(SeenPass([], {}, roots, [copy_of(one) for one in args[1]]))
        handles = []
        for node in nodes_behind([one for one, _ in roots]):
            seen[-1].edges[node] = node.next_functions
            handles += _listen(node, seen[-1].ran)
        try:
            return go(*args, **kwargs)
        finally:
            for handle in handles:
                handle.remove()

    with each_pass(run):
        yield


def _listen(node: Any, ran: list[Ran]) -> list[Any]:
    leaf = getattr(node, "variable", None)
    saved = tuple(saved_by(node))
    before: list[Any] = []

    def pre(gradients: Any) -> None:
        before[:] = [copy_of(leaf.grad) if leaf is not None else None]

    def post(grad_inputs: Any, grad_outputs: Any) -> None:
        after = copy_of(leaf.grad) if leaf is not None else None
        ran.append(
            Ran(node, short_name(node), tuple(map(copy_of, grad_outputs)), tuple(map(copy_of, grad_inputs)), leaf,
                before[0], after, saved)
        )  # fmt: skip

    return [node.register_prehook(pre), node.register_hook(post)]


def edge_of(output: Any) -> tuple[Any, int]:
    """The node behind a tensor, and which of its outputs the tensor is."""
    import torch

    edge = torch.autograd.graph.get_gradient_edge(output) if isinstance(output, torch.Tensor) else output
    return edge.node, edge.output_nr


def nodes_behind(roots: list[Any]) -> list[Any]:
    """All nodes that these reach."""
    found, waiting = dict.fromkeys(roots), list(roots)
    while waiting:
        for to, _ in waiting.pop().next_functions:
            if to is not None and to not in found:
                found[to] = None
                waiting.append(to)
    return list(found)


def saved_by(node: Any) -> Iterator[Any]:
    """Copies of the tensors that a node has saved."""
    import torch

    names = [name for name in dir(node) if name.startswith("_saved_")]
    for name in names or (["saved_tensors"] if hasattr(node, "saved_tensors") else []):
        value = getattr(node, name)
        for one in value if isinstance(value, tuple | list) else (value,):
            if isinstance(one, torch.Tensor):
                yield copy_of(one)


def short_name(node: Any) -> str:
    """The name of a node without its namespace."""
    return str(node.name()).rpartition("::")[2]


def copy_of(tensor: Any) -> Any:
    """A copy as an array; None for None."""
    import torch

    if tensor is None:
        return None
    with torch.no_grad():
        return tensor.detach().clone().numpy()


# The state of a program


def state_of(variables: dict[str, Any]) -> dict[str, Any]:
    """All that can be observed of a program that has ended: its variables, to the bit, and the random states."""
    import torch

    found = {name: frozen(one) for name, one in variables.items() if not name.startswith("__")}
    found["random states"] = digest(torch.get_rng_state().numpy().tobytes()), digest(repr(random.getstate()).encode())
    return found


def digest(data: bytes) -> str:
    """A short text that differs if the bytes do."""
    return hashlib.sha256(data).hexdigest()


def frozen(thing: Any, *, versions: bool = True) -> Any:
    """A value by which two runs can be compared: tensors by their bits, their memory and their hooks.

    Not by the versions of gradients: torch adds in place in a buffer if nobody else has looked at its storage.
    """
    import torch

    if isinstance(thing, torch.Tensor):
        grad = thing.grad if thing.is_leaf or thing.retains_grad else None
        return (
            str(thing.dtype), tuple(thing.shape), thing.stride(), thing.storage_offset(), versions and thing._version,
            thing.untyped_storage().nbytes(), thing.requires_grad, thing.is_leaf, thing._is_view(),
            digest(thing.detach().contiguous().numpy().tobytes()), thing.grad_fn and short_name(thing.grad_fn),
            len(thing._backward_hooks or ()), len(thing._post_accumulate_grad_hooks or ()),
            frozen(grad, versions=False) if grad is not None else None,
        )  # fmt: skip
    if isinstance(thing, torch.nn.Module):
        hooks = {key: len(value) for key, value in vars(thing).items() if key.endswith("_hooks")}
        tensors = [*thing.named_parameters(), *thing.named_buffers()]
        return type(thing).__name__, hooks, [(name, frozen(one)) for name, one in tensors]
    if isinstance(thing, torch.optim.Optimizer):
        return frozen(thing.state_dict())
    if isinstance(thing, dict):
        return [(key, frozen(one)) for key, one in thing.items()]
    if isinstance(thing, list | tuple):
        return [frozen(one) for one in thing]
    return thing if isinstance(thing, bool | int | float | str | None) else type(thing).__name__


def hooks_on(node: Any) -> int:
    """How many Python hooks are registered on a node."""
    count = 0
    for register in (node.register_hook, node.register_prehook):
        handle = register(lambda *gradients: None)
        count += len(handle.hooks_dict_ref()) - 1
        handle.remove()
    return count


def patches() -> tuple[Any, ...]:
    """What the recorder replaces while it watches."""
    import torch
    from torch.autograd import Variable

    return (
        Variable._execution_engine, torch.nn.Module.__call__, torch.autograd.Function.__dict__["apply"],
        torch._C._len_torch_function_stack(), torch.is_grad_enabled(),
    )  # fmt: skip


# Lifetimes


class Mark:
    """Lies in the metadata of a node, and dies with it."""


@contextlib.contextmanager
def lifetimes(alive: list[tuple[int, int]]) -> Iterator[Callable[[], None]]:
    """Count the nodes and the results of modules that are alive whenever a pass begins and ends, and when asked."""
    import torch

    nodes: list[weakref.ref[Mark]] = []
    results: list[weakref.ref[Any]] = []

    def look() -> None:
        alive.append((sum(one() is not None for one in nodes), sum(one() is not None for one in results)))

    def run(go: Any, args: Any, kwargs: Any) -> Any:
        for node in nodes_behind([edge_of(one)[0] for one in args[0]]):
            if "mark" not in node.metadata and not hasattr(node, "variable"):
                node.metadata["mark"] = mark = Mark()
                nodes.append(weakref.ref(mark))
        look()
        result = go(*args, **kwargs)
        look()
        return result

    def note(module: Any, args: Any, result: Any) -> None:
        results.extend(weakref.ref(one) for one in (result, *args) if isinstance(one, torch.Tensor))

    handle = torch.nn.modules.module.register_module_forward_hook(note)
    try:
        with each_pass(run):
            yield look
    finally:
        handle.remove()

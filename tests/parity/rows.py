"""Registering programs under the row of the semantics table that they show."""

from __future__ import annotations

from collections.abc import Callable

from parity.observe import Program

PROGRAMS: dict[str, Program] = {}
DIFFERENCES: dict[str, str] = {}  # the name of a program that microtape runs differently on purpose -> how


def shows(row: str, *, differs: str = "") -> Callable[[Program], Program]:
    """Register a program; `row` is a section number and the row's name, such as "1 is_leaf"."""

    def register(program: Program) -> Program:
        name = f"{row}: {program.__name__}"
        assert name not in PROGRAMS, name
        PROGRAMS[name] = program
        if differs:
            DIFFERENCES[name] = differs
        return program

    return register


CORE = """
1 requires_grad, 1 is_leaf, 1 grad_fn, 1 grad, 1 backward, 1 detach, 1 retain_grad, 1 _version, 1 numpy, 1 clone
1 factories, 2 backward(tensors, 2 implicit gradient, 2 gradient's shape, 2 root without history, 2 retain_graph=None
2 create_graph=True, 2 inputs=, 2 grad(outputs, 2 unused input, 2 input without rg, 2 no inputs, 2 grad(y
3 forward(ctx, 3 forward(*args), 3 outputs, 3 number of gradients, 3 validation of each gradient, 3 None returned
3 ctx.save_for_backward, 3 ctx.<attr>, 3 ctx.needs_input_grad, 3 ctx.set_materialize_grads
3 ctx.mark_non_differentiable, 3 ctx.mark_dirty, 3 input returned as it is, 3 names, 3 exceptions in backward
3 under no_grad, 4 Tensor.register_hook, 4 handle, 4 retain_grad, 4 register_post_accumulate_grad_hook
5 no_grad, 5 set_grad_enabled, 5 grad mode inside backward, 6 on a leaf with rg, 6 on a view of such a leaf
6 rewriting, 6 version check, 6 what is saved, 6 view ops, 6 in-place on a view, 6 base modified, 6 x[i] = v
8 Node.name(), 8 Node.next_functions, 8 AccumulateGrad, 9 dependency count, 9 order, 9 input buffer, 9 freeing
9 capture, 9 undefined gradients, 9 accumulation, 9 iterative, 9 errors mid-way, 12 broadcast operands, 12 x[idx]
12 comparisons
"""
"""The rows marked C, without which the claim to have torch's semantics would be false."""

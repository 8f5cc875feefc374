"""The table of PyTorch's semantics, and which program shows which row.

Each row names something that users of PyTorch rely on. C: core, without which the claim to have PyTorch's semantics is
false; E: expected; A: advanced.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.parity.observe import Program

PROGRAMS: dict[str, Program] = {}
DIFFERENCES: dict[str, str] = {}  # the name of a program that microtape runs differently on purpose -> how

TABLE = """
1 Tensor attributes and methods
    C requires_grad
    C is_leaf
    C grad_fn
    C grad
    A grad_dtype
    C backward
    C detach
    E detach_
    E data
    C retain_grad, retains_grad
    C _version
    E _base, _is_view(), output_nr
    C numpy, __array__
    E item, tolist, float
    C clone
    E __bool__
    E __repr__
    A __deepcopy__
    A del x.data
    C factories
2 backward and grad
    C backward(tensors, ...)
    C implicit gradient
    C gradient's shape
    E fewer gradients than roots
    C root without history
    C retain_graph=None
    C create_graph=True
    C inputs=
    C grad(outputs, inputs, ...)
    C unused input
    C input without requires_grad
    C no inputs
    A is_grads_batched
    C grad(y, y)
3 Function
    C forward(ctx, *args)
    C forward(*args) + setup_context
    C outputs
    C number of gradients
    C validation of each gradient
    C None returned
    C ctx.save_for_backward
    C ctx.<attribute>
    C ctx.needs_input_grad
    C ctx.set_materialize_grads
    C ctx.mark_non_differentiable
    C ctx.mark_dirty
    C input returned as it is
    E once_differentiable
    E vjp
    E missing methods
    E instantiating
    C names
    C exceptions in backward
    C under no_grad
    A clear_saved_tensors_on_access
    A boxed_grads_call
    A _is_pure_view
    A keyword arguments of apply
4 hooks
    C Tensor.register_hook
    C handle
    C retain_grad
    E in-place and hooks
    C register_post_accumulate_grad_hook
    E Node.register_prehook
    E Node.register_hook
    E order on one tensor
    A register_multi_grad_hook
    A queue_callback
5 grad modes
    C no_grad, enable_grad
    C set_grad_enabled
    C is_grad_enabled
    A decorating a class
    E inference_mode
    C grad mode inside backward
    A set_multithreading_enabled, is_view_replay_enabled
6 in-place operations, version counters, views
    C on a leaf
    C on a view of a leaf
    C rewriting
    C version check
    C what is saved
    C view ops
    C in-place on a view
    C base modified, view used later
    C x[i] = v
    E multi-output views
    E view made in no_grad
    E view made in a Function
    A out=
    A increment_version
    A _unsafe_preserve_version_counter
    A allow_mutation_on_saved_tensors
7 saved tensors
    E _saved_<name>
    A _raw_saved_<name>
    E saved_tensors_hooks
    A save_on_cpu
    A disable_saved_tensors_hooks
8 looking at the graph
    C Node.name()
    C Node.next_functions
    C AccumulateGrad
    E Node.metadata
    E _sequence_nr(), _set_sequence_nr(n)
    E _input_metadata
    E calling a node
    E graph.Node
    E graph.GradientEdge
    E names of common nodes
9 the engine
    C dependency count
    C order
    C input buffer
    C freeing
    C capture
    C undefined gradients
    C accumulation
    C iterative
    E reentrant backward
    C errors mid-way
    A where the engine stands
    A threads
10 anomaly mode, gradcheck, functional
    E detect_anomaly, set_detect_anomaly
    E gradcheck
    E gradgradcheck
    E functional
    E func
11 forward-mode AD, checkpoints
    A dual_level, make_dual, unpack_dual
    A Function.jvp, save_for_forward
    E checkpoint
12 corner cases
    C broadcast operands
    C x[idx] with repeated indices
    E max, min, amax, amin, maximum, minimum at ties
    E at 0
    E 0**b and pow(x, 0)
    E prod with zeros
    C comparisons and casts to int
    E float -> double -> float
    E 0-d and zero-size tensors
    C complex
13 names that programs use
    E constructors
    E keywords
    E dtypes
    E printing
    E random state
    A settings
"""


def _read(table: str) -> dict[str, str]:
    """The mark of each row, by a name such as "1 is_leaf"."""
    rows, section = {}, ""
    for line in table.strip().splitlines():
        if line.startswith("    "):
            mark, _, name = line.strip().partition(" ")
            rows[f"{section} {name}"] = mark
        else:
            section = line.split()[0]
    return rows


ROWS = _read(TABLE)


def shows(row: str, *, differs: str = "") -> Callable[[Program], Program]:
    """Register a program that shows a row of the table; `differs` is a sentence on how microtape behaves instead."""
    assert row in ROWS, row

    def register(program: Program) -> Program:
        name = f"{row}: {program.__name__}"
        assert name not in PROGRAMS, name
        PROGRAMS[name] = program
        if differs:
            DIFFERENCES[name] = differs
        return program

    return register

"""Random recordings: every field is random, but every reference is valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from microtape.recording.model.model import (
    AliasUseRecord,
    ArgumentRecord,
    BackwardStep,
    BorderRecord,
    CallRecord,
    CallStep,
    Capture,
    CourseRecord,
    Delivery,
    EdgeRecord,
    ErrorRecord,
    FiniteDifferences,
    FreedRecord,
    FunctionRecord,
    HookCall,
    JacobianCheck,
    NodeRecord,
    Operand,
    OutputRecord,
    ParameterRecord,
    Pass,
    Place,
    Recording,
    SavedRecord,
    SavedUse,
    ScopeRecord,
    Statistics,
    TensorRecord,
    TensorRef,
    UpdateRecord,
    Value,
    Variable,
)
from microtape.recording.model.summary import summarize
from microtape.recording.tables.columns import Table

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
ARRAYS = npst.arrays(st.sampled_from(DTYPES), npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
VALUES: st.SearchStrategy[Value] = ARRAYS | ARRAYS.map(summarize)
TEXT = st.text(max_size=5)
TEXTS = st.lists(TEXT, max_size=2).map(tuple)
SMALL = st.integers(0, 5)
LINE = st.integers(1, 99)
PLACES = st.builds(Place, TEXT, LINE, LINE.map(lambda n: n + 99), SMALL, SMALL, TEXT)
SIZES = st.none() | st.floats(0, 1e9)
STATISTICS = st.builds(Statistics, SIZES, SIZES, SIZES, SIZES, SIZES, SMALL, SMALL, SMALL)
SHAPES = npst.array_shapes(min_dims=0, max_dims=3, min_side=0)
PARAMETERS = st.builds(ParameterRecord, TEXT, SHAPES, st.none() | STATISTICS, st.none() | STATISTICS, SIZES)
ERRORS = st.builds(ErrorRecord, TEXT, TEXT, st.lists(st.tuples(TEXT, PLACES), max_size=2).map(tuple), TEXT)


def _tuples(items: st.SearchStrategy[Any], size: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.just(()) if items.is_empty else st.lists(items, max_size=size).map(tuple)


@st.composite
def courses(draw: st.DrawFn) -> tuple[CourseRecord, ...]:
    """The sizes at up to two passes."""
    count = draw(st.integers(0, 2))
    return tuple([CourseRecord(k, draw(st.none() | VALUES), draw(_tuples(PARAMETERS))) for k in range(count)])


def _some(nodes: list[NodeRecord]) -> st.SearchStrategy[list[NodeRecord]]:
    return st.lists(st.sampled_from(nodes), max_size=2, unique_by=lambda node: node.id) if nodes else st.just([])


def _mappings(keys: st.SearchStrategy[Any], values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[Any, Any]]:
    return st.just({}) if keys.is_empty else st.dictionaries(keys, values, max_size=2)


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    node_count, tensor_count = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    node_ids = st.integers(0, node_count - 1) if node_count else st.nothing()
    tensor_ids = st.integers(0, tensor_count - 1) if tensor_count else st.nothing()
    maybe_node, maybe_tensor = st.none() | node_ids, st.none() | tensor_ids
    scope_count = draw(st.integers(0, 2))
    maybe_scope = st.none() | (st.integers(0, scope_count - 1) if scope_count else st.nothing())
    refs = st.builds(TensorRef, tensor_ids, SMALL)
    saved_uses = _tuples(st.builds(SavedUse, TEXT, refs, st.none() | VALUES, SMALL))

    def edges(before: int) -> st.SearchStrategy[tuple[EdgeRecord, ...]]:
        earlier = st.none() | (st.integers(0, before - 1) if before else st.nothing())
        return _tuples(st.builds(EdgeRecord, earlier, SMALL))

    def tensor(number: int) -> st.SearchStrategy[TensorRecord]:
        shapes = npst.array_shapes(min_dims=0, max_dims=3, min_side=0)
        flag, values = st.booleans(), st.dictionaries(SMALL, VALUES, max_size=2)
        return st.builds(
            TensorRecord, st.just(number), TEXTS, shapes, st.sampled_from(DTYPES), flag, flag, maybe_node, SMALL,
            maybe_tensor, flag, TEXTS, values, st.none() | VALUES,
        )  # fmt: skip

    def node(number: int) -> st.SearchStrategy[NodeRecord]:
        return st.builds(
            NodeRecord, st.just(number), TEXT, TEXT, st.sampled_from(["operation", "function", "accumulate"]), TEXT,
            st.none() | PLACES, st.none() | SMALL, _tuples(st.builds(Operand, st.none() | refs, TEXT)),
            _tuples(st.none() | refs), edges(number), _tuples(st.builds(SavedRecord, TEXT, refs)), maybe_tensor,
            st.booleans(), st.none() | SMALL, maybe_node, TEXTS, maybe_scope,
        )  # fmt: skip

    nodes = tuple(draw(node(number)) for number in range(node_count))

    def step(index: int) -> BackwardStep:
        at = draw(node_ids)
        count = len(nodes[at].edges)
        outputs = st.integers(0, count - 1) if count else st.nothing()
        maybe = st.none() | VALUES
        deliveries = _tuples(st.builds(Delivery, outputs, node_ids, SMALL, maybe, maybe, maybe, SMALL), count)
        grad_inputs = st.just(()) | st.tuples(*[maybe] * count)
        return draw(
            st.builds(
                BackwardStep, st.just(index), st.just(at), _tuples(maybe), saved_uses, grad_inputs, deliveries,
                maybe, maybe, st.booleans(), _tuples(st.builds(HookCall, TEXT, TEXT, maybe, maybe)),
                _tuples(node_ids), st.none() | ERRORS,
            )
        )  # fmt: skip

    def one_pass(index: int) -> Pass:
        roots = draw(edges(node_count))
        return draw(
            st.builds(
                Pass, st.just(index), st.sampled_from(["backward", "grad"]), st.none() | PLACES, st.just(roots),
                st.tuples(*[st.none() | refs for _ in roots]), st.tuples(*[st.none() | VALUES for _ in roots]),
                st.booleans(), st.booleans(), _tuples(st.builds(Capture, tensor_ids, st.none() | VALUES)),
                st.integers(0, node_count), _tuples(node_ids), _mappings(node_ids, SMALL),
                _tuples(node_ids), _mappings(tensor_ids, VALUES),
                st.just(tuple(step(k) for k in range(draw(st.integers(0, 2)) if node_count else 0))),
                st.none() | ERRORS,
            )
        )  # fmt: skip

    borders = st.builds(
        BorderRecord, st.sampled_from(["detach", "no_grad", "not an argument", "constant"]), TEXT, st.none() | PLACES,
        _tuples(st.builds(Operand, st.none() | refs, TEXT)), _tuples(refs), st.booleans(), st.integers(0, node_count),
    )  # fmt: skip
    operands = st.builds(Operand, st.none() | refs, TEXT)
    variables = _tuples(st.builds(Variable, TEXT, operands))

    def function(node: int) -> FunctionRecord:
        edges = st.none() | (st.integers(0, len(nodes[node].edges) - 1) if nodes[node].edges else st.nothing())
        arguments = draw(_tuples(st.builds(ArgumentRecord, TEXT, operands, st.booleans(), edges)))
        which = st.none() | (st.integers(0, len(arguments) - 1) if arguments else st.nothing())
        roles = st.sampled_from(["differentiable", "dirty", "not a tensor"])
        outputs = draw(_tuples(st.builds(OutputRecord, TEXT, roles, which, TEXT)))
        return FunctionRecord(node, arguments, outputs, draw(variables), draw(st.booleans()), draw(st.booleans()))

    call_count = draw(st.integers(0, 2))

    def call(number: int) -> CallRecord:
        kinds = st.sampled_from(["operation", "unpack", "return", "raise", "pass"])
        inner = st.integers(number + 1, call_count - 1) if number + 1 < call_count else st.nothing()
        place, many = st.none() | PLACES, _tuples(operands)
        steps = draw(
            _tuples(
                st.builds(
                    CallStep, kinds, TEXT, place, many, many, st.booleans(), variables, maybe_node, st.none() | SMALL
                )
                | st.builds(
                    CallStep, st.just("call"), TEXT, place, many, many, st.booleans(), variables, maybe_node, inner
                )
            )
        )
        made = [step.inner for step in steps if step.kind == "call"]
        steps = tuple(step for step in steps if step.kind != "call" or made.count(step.inner) == 1)
        outer = st.none() | (st.integers(0, number - 1) if number else st.nothing())
        return CallRecord(
            number, draw(st.sampled_from(["forward", "backward", "tensor hook"])), draw(TEXT), draw(maybe_node),
            draw(st.none() | SMALL), draw(st.none() | SMALL), draw(outer), draw(place), steps, draw(SMALL),
            draw(st.integers(0, len(steps))), draw(st.none() | ERRORS),
        )  # fmt: skip

    def jacobian(node: NodeRecord) -> JacobianCheck:
        rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 3))
        both = (draw(npst.arrays(np.float64, (rows, columns))) for _ in range(2))
        of_gradient = draw(st.booleans())
        edge, output = (
            draw(st.integers(0, len(some) - 1)) for some in (node.edges, node.edges if of_gradient else node.outputs)
        )
        wrong = draw(st.lists(st.integers(0, rows * columns - 1), unique=True))
        return JacobianCheck(draw(SMALL), node.id, edge, output, *both, tuple(wrong), of_gradient)

    def check(node: NodeRecord) -> FiniteDifferences:
        elements = draw(st.lists(SMALL, max_size=3).map(tuple))
        both = (draw(npst.arrays(np.float64, (len(elements),))) for _ in range(2))
        output = draw(st.integers(0, len(node.edges) - 1))
        pass_ = 100  # not of this recording: it need not fit the gradient of a step
        return FiniteDifferences(pass_, node.id, output, elements, *both, draw(st.booleans()), draw(TEXT))

    some_place, some_norm = st.none() | PLACES, st.none() | st.floats(0, 9)
    updates = st.builds(
        UpdateRecord, tensor_ids, some_place, SMALL, some_norm, some_norm, some_place, st.none() | st.booleans()
    )
    alias_uses = st.builds(AliasUseRecord, tensor_ids, TEXT, some_place, some_place, some_place, st.booleans())
    checked = [node for node in nodes if node.edges and node.outputs]
    first = draw(SMALL)
    scalars = st.none() | st.booleans() | st.integers() | st.floats(-1, 1) | TEXT
    return Recording(
        title=draw(TEXT),
        nodes=nodes,
        tensors=tuple(draw(tensor(number)) for number in range(tensor_count)),
        passes=tuple(one_pass(first + 2 * k) for k in range(draw(st.integers(0, 2)))),
        sources=draw(st.dictionaries(TEXT, TEXT, max_size=2)),
        error=draw(st.none() | ERRORS),
        notes=draw(TEXTS),
        options=draw(st.dictionaries(TEXT, scalars | st.lists(scalars, max_size=2), max_size=2)),
        scopes=tuple(ScopeRecord(k, draw(TEXT), k - 1 if k else None) for k in range(scope_count)),
        borders=draw(_tuples(borders)),
        freed=draw(_tuples(node_ids)),
        freed_by=draw(_tuples(st.builds(FreedRecord, node_ids, SMALL, st.none() | PLACES))),
        updates=draw(_tuples(updates)),
        alias_uses=draw(_tuples(alias_uses)),
        functions=tuple(function(node) for node in draw(_tuples(node_ids))),
        calls=tuple(map(call, range(call_count))),
        checks=tuple(map(check, draw(_some(checked)))),
        courses=draw(courses()),
        jacobians=tuple(map(jacobian, draw(_some(checked)))),
    )


def plain(item: Any) -> Any:
    """The data of a record, for comparisons: arrays as dtype, shape and bits, so that NaN equals itself."""
    if isinstance(item, np.ndarray):
        return "array", str(item.dtype), item.shape, item.tobytes()
    if isinstance(item, Mapping):
        return {key: plain(one) for key, one in item.items()}
    if isinstance(item, tuple | Table):
        return "tuple" if isinstance(item, Table) else type(item).__name__, tuple(map(plain, item))
    if isinstance(item, Recording):
        return {name: plain(one) for name, one in vars(item).items()}
    return item

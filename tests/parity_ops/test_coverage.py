"""No operation can be forgotten: what is public stands in the table, or here with a reason."""

from __future__ import annotations

import inspect
import types

import microtape
from microtape.tensors.methods import Methods
from tests.parity_ops.table import ROWS

ELSEWHERE = {
    "makes a tensor of its arguments, and is tested with the factories": """
        arange as_tensor asarray empty from_dlpack from_numpy full full_like linspace logspace ones ones_like
        scalar_tensor zeros zeros_like""",
    "is random, and torch's numbers are others": """
        seed""",
    "is a mode or a setting": """
        enable_grad get_default_dtype inference_mode is_anomaly_check_nan_enabled is_anomaly_enabled is_grad_enabled
        is_inference is_inference_mode_enabled no_grad set_anomaly_enabled set_default_dtype set_grad_enabled
        are_deterministic_algorithms_enabled get_default_device get_rng_state set_rng_state set_default_device
        set_default_tensor_type
        set_float32_matmul_precision set_num_interop_threads set_num_threads set_printoptions
        use_deterministic_algorithms""",
    "records, and torch has nothing like it": "load record save scope",
    "asks about dtypes and types": "can_cast dtype is_nonzero promote_types result_type type typename",
    "does nothing here": "pin_memory",
    "loops over slices, and is tested with func": "vmap",
    "is a class": """LinAlgError Size Tensor device BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor
        IntTensor LongTensor ShortTensor""",
    "asks for a device that is not there": "cuda",
}
EXEMPT = {name: reason for reason, names in ELSEWHERE.items() for name in names.split()}


def test_every_public_operation_is_in_the_table():
    names = mentioned()
    tested = {id(function) for name, function in public() if name in names}
    assert sorted({name for name, function in public() if id(function) not in tested} - set(EXEMPT)) == []


def test_an_operation_in_the_table_needs_no_reason():
    assert sorted(set(EXEMPT) & mentioned()) == []


def test_no_reason_is_left_of_what_is_gone():
    assert sorted(set(EXEMPT) - {name for name, _ in public()}) == []


def public():
    """All operations as (name, function): methods, functions, and what is in the namespaces. Some have two names."""
    methods = [(name, function) for name, function in vars(Methods).items() if not name.startswith("_")]
    spaces = (microtape, microtape.linalg, microtape.nn.functional)
    functions = [(name, getattr(space, name)) for space in spaces for name in space.__all__]
    found = methods + [(name, function) for name, function in functions if callable(function)]
    return [(name, inspect.unwrap(function)) for name, function in found]


def mentioned():
    """The names that the table's calls use, themselves or as a text that they were given; mistakes do not count."""
    names = set()
    for row in ROWS:
        if row.name.startswith("wrong"):
            continue
        names |= set(used(row.call.__code__))
        defaults = [*(row.call.__defaults__ or ()), *(row.call.__kwdefaults__ or {}).values()]
        names |= {default for default in defaults if isinstance(default, str)}
    return names


def used(code):
    """The names in a function and in the functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from used(constant)

"""Names of torch's nodes: the short word, the formula, the names of what is saved."""

from __future__ import annotations

import functools
import importlib
import re
from typing import Any, NamedTuple

import torch

from microtape.basics.function_name import function_name
from microtape.recording.model.formula_arguments import constants_in, with_constants
from microtape.recording.model.model import NodeKind
from microtape.recording.pytorch.calls.custom_operators import operator_name
from microtape.recording.pytorch.formulas import ADAPTED, FORMULAS, formula_of, signed
from microtape.tape.node import Node
from microtape.tape.saved_attributes import OPERAND_NAMES, OTHER_NAMES

_NUMBER = re.compile(r"Backward(Autograd[A-Za-z]+)?\d*(_copy)?$")
_NOISE = re.compile(
    r"^(native|unsafe|cudnn|miopen|mkldnn|mps|thnn_fused|fused)_|(?<=scaled_dot_product_)[a-z_]+_(?=attention)"
    r"|_(alias|for_cpu|with_indices|legit|legit_no_training|impl|overrideable|data)$"
)  # which of several kernels torch has chosen
_DIMENSION = re.compile("_saved_(dims?|dim[01])")

_UNREGISTERED = "CppFunction"  # the type of all nodes of C++ code whose own type Python does not know


_OF_A_NORM = {"input": "x", "weight": "w", "bias": "b", "result1": "mean", "result2": "rstd"}
_SAVED_NAMES = {
    "NativeLayerNormBackward0": _OF_A_NORM,
    "NativeBatchNormBackward0": _OF_A_NORM,
    "NativeGroupNormBackward0": _OF_A_NORM,
    "AddmmBackward0": {"mat1": "y", "mat2": "w"},
    "BaddbmmBackward0": {"batch1": "y", "batch2": "w"},
    "ConvolutionBackward0": {"input": "x", "weight": "w"},
}
"""The names of saved tensors in the formulas, where they are not those of microtape's own operations."""


class About(NamedTuple):
    """What nodes of one type have in common."""

    name: str  # as torch shows it
    op: str
    kind: NodeKind
    formula: str
    saved: tuple[tuple[str, str, str], ...]  # (attribute, its raw one, the name in the formula) of saved tensors
    adapts: bool = False  # whether the formula depends on the arguments of the call
    constants: tuple[tuple[str, str], ...] = ()  # (attribute, letter in the formula) of arguments that are numbers
    dimensions: tuple[str, ...] = ()  # the attributes that say along which dimensions it works


_ABOUT: dict[type, About] = {}  # by hand, because `functools.cache` takes three times as long


def about_node(node: Any) -> About:
    """What nodes of the same type have in common, with the formula for the arguments of this one's call."""
    kind: Any = type(node)
    described = _ABOUT.get(kind)
    if described is None:
        if kind.__name__ == _UNREGISTERED:
            return about_dropped(node.name().removeprefix("torch::autograd::"))
        described = _ABOUT[kind] = _about(kind)
    formula = described.formula
    if described.adapts:
        formula = formula_of(node, formula)
    if described.constants:
        formula = with_constants(formula, [(letter, getattr(node, name)) for name, letter in described.constants])
    return described if formula == described.formula else _adapted(kind, formula)


@functools.lru_cache(1024)
def _adapted(kind: type, formula: str) -> About:
    return _ABOUT[kind]._replace(formula=formula)


def _about(kind: Any) -> About:
    name = kind.__name__
    if issubclass(kind, torch.autograd.function.BackwardCFunction):
        saved_tensors = (("saved_tensors", "_raw_saved_tensors", "saved_tensors"),)
        op = operator_name(kind._forward_cls) or name.removesuffix("Backward")
        return About(name, op, "function", "", saved_tensors)
    names = _formulas().get(name, ("", {}))[1] | _SAVED_NAMES.get(name, {})
    saved = [
        (attribute, f"_raw{attribute}", names.get(attribute.removeprefix("_saved_"), attribute.removeprefix("_saved_")))
        for attribute in dir(kind)
        if attribute.startswith("_saved_") and hasattr(kind, f"_raw{attribute}")
    ]
    ordered = tuple(sorted(saved, key=lambda one: one[2]))
    dropped = about_dropped(name)
    plain = [one for one in dir(kind) if one.startswith("_saved_") and not hasattr(kind, f"_raw{one}")]
    constants = constants_in(dropped.formula, [one.removeprefix("_saved_") for one in plain])
    return dropped._replace(
        saved=ordered,
        adapts=name in ADAPTED,
        constants=tuple([(f"_saved_{one}", letter) for one, letter in constants]),
        dimensions=tuple([one for one in plain if _DIMENSION.fullmatch(one)]),
    )


def dimension_texts(node: Any, about: About) -> tuple[str, ...]:
    """Along which dimensions a node works, as an argument of its call would say it: `dim0=1`."""
    return tuple([f"{one.removeprefix('_saved_')}={signed(getattr(node, one))}" for one in about.dimensions])


@functools.cache
def about_dropped(name: str) -> About:
    """What is known of a node by its name alone."""
    if name == "AccumulateGrad":
        return About(name, "accumulate", "accumulate", "x.grad += g", ())
    if name == "CopySlices":
        return About(name, "write into view", "copy_slices", "", ())
    kind: NodeKind = "error" if name in ("Error", "NotImplemented", "DelayedError") else "operation"
    formula, _ = _formulas().get(name, (FORMULAS.get(name, ""), {}))
    return About(name, _word(name), kind, formula, ())


def _word(name: str) -> str:
    """`MaxPool2DWithIndicesBackward0` as the name of torch's function: `max_pool2d`."""
    word = function_name(_NUMBER.sub("Backward", name))
    return "to" if word == "to_copy" else _NOISE.sub("", word)


@functools.cache
def _formulas() -> dict[str, tuple[str, dict[str, str]]]:
    """By torch's name of a node: the formula of microtape's own, and its names for torch's saved attributes."""
    found = {}
    importlib.import_module("microtape.nn.functional")  # which makes the classes of its operations
    waiting: list[Any] = [Node]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.formula:
            names = OPERAND_NAMES | OTHER_NAMES.get(kind.__name__, {})
            found[kind.__name__] = kind.formula, {names.get(name, name): name for name in kind.saved_names}
    return found


def hook_names(hooks: Any) -> tuple[str, ...]:
    """The names of the functions in a dict of hooks; none if there is no dict."""
    return tuple(map(hook_name, hooks.values())) if hooks else ()


def hook_name(hook: Any) -> str:
    """The name of a hook: a function's own, else its class's."""
    while isinstance(hook, functools.partial):
        hook = hook.func
    name = getattr(hook, "__qualname__", None)
    return name if isinstance(name, str) else type(hook).__qualname__

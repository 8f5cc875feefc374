"""A model that trains in eval mode, as an evaluation has left it, and a dropout that does not know of the mode."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import NodeRecord, Pass, Place
from microtape.recording.model.source import (
    LIBRARIES,
    expression,
    function_around,
    is_installed,
    loop_around,
    only_expression,
    place_in,
    text_of,
)
from microtape.recording.tables.fields import field

_TRAINING = 3  # its place among the arguments
_CLOSE = 1e-3  # of the largest number: how near x · weight + bias is to what a BatchNorm gives that normalises nothing


def left_in_eval_mode(program: Program) -> Iterator[Finding]:
    """A finding if a layer behaved as in training in the first passes from a line, and in none from some pass on."""
    known = {one.id: one for one in program.doing("dropout", "batch_norm")}
    if not known:
        return
    by_place: dict[Place | None, list[int]] = {}
    for position, pass_ in enumerate(program.recording.passes):
        by_place.setdefault(pass_.place, []).append(position)
    for place, positions in by_place.items():
        if place is None or len(positions) < 2:
            continue
        layers = [_training(program, program.recording.passes[one], known) for one in positions]
        begun = sum(1 for _ in takewhile(lambda one: one is not None, layers))
        layer, rest = layers[0], positions[begun:]
        if layer is None or not rest or any(one is not None for one in layers[begun:]):
            continue
        is_updated = any(one.passes > program.recording.passes[positions[0]].index for one in program.recording.updates)
        again = any(program.node(node).place == layer.place for node in program.recording.passes[rest[0]].nodes)
        evaluates = _eval_call(program, place)
        if is_updated and again and evaluates is not None:
            yield _finding(program, layer, evaluates, rest[0])
            return


def never_in_training_mode(program: Program) -> Iterator[Finding]:
    """A finding for a BatchNorm whose weights learn, and that gives x · weight + bias in all passes of a line.

    So it does in eval mode with the statistics that it was made with. A layer that was trained before has others.
    """
    known = {one.id: one for one in program.doing("batch_norm")}
    runs: dict[Place | None, dict[int, list[NodeRecord]]] = {}  # by the line, then by the pass
    for position, pass_ in enumerate(program.recording.passes if known else ()):
        for node in [known[one] for one in pass_.nodes if one in known]:
            runs.setdefault(node.place, {}).setdefault(position, []).append(node)
    for place, passes in runs.items():
        if place is None or len(passes) < 2 or is_installed(place):
            continue
        if all(_normalises_nothing(program, node) for nodes in passes.values() for node in nodes):
            position, (layer, *_) = next(iter(passes.items()))
            evaluates = _eval_of(program, layer)
            because = f", as {expression(program.recording, evaluates)} at {at(evaluates)} has it" if evaluates else ""
            yield Finding(
                "eval mode", "warning",
                headline(f"The model trains in eval mode: BatchNorm at {at(place)} normalises nothing",
                         f"The model trains in eval mode: see BatchNorm at {at(place)}",
                         "The model trains in eval mode"),
                (f"BatchNorm gives x · weight + bias{because}: its statistics are those it was made with, 0 and 1.",
                 f"So in {len(passes)} passes, though its weight learns."),
                "Call train() of the model before training, and eval() for an evaluation alone.",
                evaluates or place, position, None, layer.id, program.tensor_of(layer), (("used", place),),
            )  # fmt: skip
            return


def drops_in_any_mode(program: Program) -> Iterator[Finding]:
    """A finding for each `F.dropout(x, p)` of a program that calls `eval()`: its `training` is True unless given."""
    is_used = any("dropout(" in text for text in program.recording.sources.values())
    evaluates = next(_eval_calls(program), None) if is_used else None
    if evaluates is None:
        return
    first: dict[Place | None, int] = {}
    for number, place in enumerate(field(program.recording.nodes, "place")):
        first.setdefault(place, number)
    for place, number in first.items():
        match only_expression(expression(program.recording, place)):
            case ast.Call(func, args, keywords) if len(args) < _TRAINING and not is_installed(place):
                if not _is_function(func) or any(one.arg in ("training", None) for one in keywords):
                    continue
                what, where, evaluation = text_of(func), at(place), expression(program.recording, evaluates)
                yield Finding(
                    "eval mode", "notice",  # it may be another model that is evaluated
                    headline(f"{what} at {where} drops numbers in eval mode, too",
                             f"The dropout at {where} drops numbers in eval mode, too"),
                    ("Its training is True unless it is given, whatever the mode of the model.",
                     f"{evaluation} at {at(evaluates)} reaches modules only, such as nn.Dropout."),
                    "Pass training=self.training, or use nn.Dropout.",
                    place, program.pass_after(number), None, number, program.tensor_of(program.node(number)),
                )  # fmt: skip


def _is_function(called: ast.expr) -> bool:
    """Whether this is `F.dropout`, and no module."""
    return isinstance(called, ast.Attribute) and called.attr == "dropout" and text_of(called.value) in LIBRARIES


def _training(program: Program, pass_: Pass, layers: Mapping[int, NodeRecord]) -> NodeRecord | None:
    """The first of the layers in a pass that is a dropout, or a BatchNorm that used the statistics of its batch."""
    for node in [layers[one] for one in pass_.nodes if one in layers]:
        if not program.does(node, "batch_norm") or not _uses_running_statistics(node):
            return node
    return None


def _normalises_nothing(program: Program, node: NodeRecord) -> bool:
    """Whether a BatchNorm that learns gives x · weight + bias for each channel, but for eps.

    On PyTorch its statistics are operands, behind the bias; else what it gives tells, if it is no summary.
    """
    refs = [one.ref for one in node.operands if one.ref is not None]
    if len(refs) < 3 or refs[1].tensor not in program.updated or not _uses_running_statistics(node):
        return False
    statistics: list[Any] = [program.recording.value(ref) for ref in refs[3:5]]
    if len(statistics) == 2 and all(isinstance(one, np.ndarray) for one in statistics):
        mean, variance = statistics
        return bool((mean == 0).all() and (variance == 1).all())
    values = [program.recording.value(ref) for ref in (*refs[:3], node.outputs[0])]
    arrays: list[Any] = [one for one in values if isinstance(one, np.ndarray)]
    if len(arrays) < len(values) or arrays[0].ndim < 2:
        return False
    x, weight, bias, value = arrays
    channels = (-1, *(1,) * (x.ndim - 2))
    unchanged = x * weight.reshape(channels) + bias.reshape(channels)
    return bool(np.allclose(value, unchanged, atol=_CLOSE * float(np.abs(unchanged).max(initial=0.0))))


def _uses_running_statistics(node: NodeRecord) -> bool:
    """Whether a BatchNorm was in eval mode, as its formula says."""
    return "running μ" in node.formula


def _eval_call(program: Program, training: Place) -> Place | None:
    """The only call of `eval()`, if no call of `train()` in the loop of the passes, or in a function, undoes it."""
    for file, tree in program.trees:
        text = program.recording.sources[file]
        for one in ast.walk(tree):
            if not isinstance(one, ast.Call) or not isinstance(one.func, ast.Attribute):
                continue
            if one.func.attr == "train":
                loop = loop_around(text, one.lineno)
                if function_around(text, one.lineno) is not None or (loop is not None and file == training.file):
                    return None
    found = list(_eval_calls(program))
    return found[0] if len(found) == 1 else None


def _eval_of(program: Program, layer: NodeRecord) -> Place | None:
    """The only call of `eval()`, if the weight of this layer has the name of its model: it is of another one else."""
    calls = list(_eval_calls(program))
    weight = [program.tensor_name(one.ref.tensor) for one in layer.operands if one.ref is not None][1]
    model = expression(program.recording, calls[0]).removesuffix(".eval()") if len(calls) == 1 else None
    return calls[0] if model is not None and weight.startswith(f"{model.removeprefix('self.')}.") else None


def _eval_calls(program: Program) -> Iterator[Place]:
    for file, tree in program.trees:
        for one in ast.walk(tree):
            match one:
                case ast.Call(ast.Attribute(attr="eval"), args=[]):
                    if not is_installed(place := place_in(program.recording, file, one)):
                        yield place


def _finding(program: Program, layer: NodeRecord, evaluates: Place, position: int) -> Finding:
    model = expression(program.recording, evaluates).removesuffix(".eval()")
    what = "Dropout" if layer.op == "dropout" else "BatchNorm"
    did = "dropped numbers" if layer.op == "dropout" else "used the statistics of its batch"
    text = headline(
        f"{model} trains in eval mode from {program.pass_name(position)} on: nothing undoes {at(evaluates)}",
        f"The model trains in eval mode: nothing undoes {at(evaluates)}",
    )
    lines = (f"{what} at {at(layer.place)} {did} at first, and no more from {program.pass_name(position)} on.",)
    remedy = f"Call {model}.train() where an epoch of training begins, or after each evaluation."
    others = (("used", layer.place),) if layer.place is not None else ()
    return Finding("eval mode", "warning", text, lines, remedy, evaluates, position, None, None, None, others)

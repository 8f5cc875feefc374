"""A model that an evaluation has left in eval mode, so that it trains on without dropout and batch statistics."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import takewhile

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import NodeRecord, Pass, Place
from microtape.recording.model.source import expression, function_around, loop_around, place_in

_CLOSE = 1e-3  # of the spread of a batch: how near its mean is to the bias if it was normalised by its own statistics


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


def _training(program: Program, pass_: Pass, layers: Mapping[int, NodeRecord]) -> NodeRecord | None:
    """The first of the layers in a pass that is a dropout, or a BatchNorm that used the statistics of its batch."""
    for node in [layers[one] for one in pass_.nodes if one in layers]:
        if not program.does(node, "batch_norm") or _is_normalised_by_batch(program, node):
            return node
    return None


def _is_normalised_by_batch(program: Program, node: NodeRecord) -> bool:
    """Whether the mean of each channel is the bias, as in training; the running mean gives others."""
    refs = [one.ref for one in node.operands if one.ref is not None]
    value, bias = (program.recording.value(ref) for ref in (node.outputs[0], refs[2] if len(refs) > 2 else None))
    if not isinstance(value, np.ndarray) or not isinstance(bias, np.ndarray) or value.ndim < 2:
        return False
    mean = value.mean(axis=tuple(i for i in range(value.ndim) if i != 1))
    return mean.shape == bias.shape and bool(np.allclose(mean, bias, atol=_CLOSE * float(value.std())))


def _eval_call(program: Program, training: Place) -> Place | None:
    """The only call of `eval()`, if no call of `train()` in the loop of the passes, or in a function, undoes it."""
    found = []
    for file, tree in program.trees:
        text = program.recording.sources[file]
        for one in ast.walk(tree):
            if not isinstance(one, ast.Call) or not isinstance(one.func, ast.Attribute):
                continue
            if one.func.attr == "train":
                loop = loop_around(text, one.lineno)
                if function_around(text, one.lineno) is not None or (loop is not None and file == training.file):
                    return None
            if one.func.attr == "eval" and not one.args:
                found.append(place_in(program.recording, file, one))
    return found[0] if len(found) == 1 else None


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

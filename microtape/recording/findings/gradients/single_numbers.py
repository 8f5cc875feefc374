"""Norms and softmax over a single number, of which nothing is left: no gradient passes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import input_at
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_shape
from microtape.recording.model.model import NodeRecord, Place, Summary
from microtape.recording.model.summary import summarize

_NORMS = ("layer_norm", "native_layer_norm", "group_norm", "native_group_norm")


def norms_of_single_numbers(program: Program) -> Iterator[Finding]:
    """One finding for each place where layer_norm or group_norm has a single number to normalise at a time."""
    told = set[Place]()
    for node in program.doing(*_NORMS):
        if node.place is None or node.place in told or not is_of_single_numbers(program, node):
            continue
        told.add(node.place)
        norm = "layer_norm" if program.does(node, *_NORMS[:2]) else "group_norm"
        bias, shape = input_at(program, node, 2), program.shape_of(node) or ()
        result = f"{program.name(bias.id)} alone" if bias is not None else "the same"
        remedy = "Leave it out after a layer of one output: normalise the many features in front of that layer."
        if norm == "group_norm":
            remedy = f"Use fewer groups than {shape[1]}, such as GroupNorm(1, {shape[1]}), or leave it out there."
            if shape[1] == 1:
                remedy = "Leave it out: there is nothing to normalise."
        yield Finding(
            "zero gradient", "warning",
            headline(f"{norm} at {at(node.place)} normalises single numbers: none is left"),
            (f"It takes each number of {format_shape(shape)} for a group of its own: less its mean, it is 0.",
             f"So its result is {result}, whatever comes in, and no gradient reaches what came before."),
            remedy, node.place, program.pass_after(node.id), None, node.id, program.tensor_of(node),
        )  # fmt: skip


def is_of_single_numbers(program: Program, node: NodeRecord) -> bool:
    """Whether a node is a norm whose groups have one number each."""
    if not program.does(node, *_NORMS):
        return False
    shape = program.shape_of(node) or ()
    if not math.prod(shape):
        return False
    mean = next((one.ref for one in node.saved if one.name == "mean"), None)
    if mean is not None:
        return math.prod(program.recording.tensors[mean.tensor].shape) == math.prod(shape)
    said = dict(one.text.split("=", 1) for one in node.operands if one.ref is None and "=" in one.text)
    if "groups" in said:
        return math.prod(shape[1:]) == int(said["groups"])
    dims = [int(one) for one in re.findall(r"\d+", said.get("dims", ""))]
    return bool(dims) and max(dims) < len(shape) and all(shape[one] == 1 for one in dims)


def share_of_single_numbers(program: Program, node: NodeRecord) -> int | None:
    """What softmax or log_softmax gives for each number, where their dimension has no other; else None."""
    share = 1 if program.does(node, "softmax") else 0
    results = program.results(node) if program.does(node, "softmax", "log_softmax") else ()
    known = [one if isinstance(one, Summary) else summarize(one, pictures=False) for one in results]
    return share if known and all(one.min == one.max == share for one in known) else None

"""Statements that compute, view, write in place, and change flags."""

from __future__ import annotations

from typing import Any

from tests.parity.random.program import Block
from tests.parity.random.writer import MOST_TENSORS, Writer

UNARY = """
    -{x} | {x} * 2 | 0.5 * {x} | {x} + 1 | 1 - {x} | {x}.sin() | {x}.tanh() | {x}.sigmoid() | {x}.relu() | {x}.abs()
    | {x}.cos() | {x} ** 2 | {x}.square() | {x} / 4 | {x}.sum() | {x}.mean() | {x}.sum(-1) | {x}.sum(0, True)
    | {x}[[0, 0]] | {x}.clone() | {x}.float() | {x}.double() | {x}.atan() | mt.where({x} > 0, {x}, 2 * {x})"""
BINARY = """{x} + {y} | {x} - {y} | {x} * {y} | {x} * {y} | {x} / ({y} * {y} + 1) | {x}.add({y}, alpha=2)
    | mt.maximum({x}, {y}) | mt.stack([{x}, {y}]) | mt.cat([{x}, {y}])"""
VIEWS = """{x}[0] | {x}[-1] | {x}[1:] | {x}[:1] | {x}[..., 1:] | {x}[None] | {x}[...] | {x}.view(-1) | {x}.reshape(-1)
    | {x}.t() | {x}.unsqueeze(0) | {x}.squeeze() | {x}.expand(2, *{x}.shape) | {x}.detach() | {x}.view_as({x})
    | {x}.unbind(0)[-1] | {x}.chunk(2)[0]"""
IN_PLACE = """{x}.add_({y}) | {x}.add_(1) | {x}.mul_({y}) | {x}.mul_(0.5) | {x}.sub_({y}, alpha=2) | {x}.copy_({y})
    | {x}.zero_() | {x}.fill_(2.0) | {x}.tanh_() | {x}.sigmoid_() | {x}.sin_() | {x}.neg_() | {x}.relu_() | {x}[0] = {y}
    | {x}[1:] = {y} | {x}[0] = 3.0 | {x}[...] = {y} | {x}.data.mul_(0.5) | {x}.detach().add_(1)"""
FLAGS = """
    {x}.requires_grad_() | {x}.requires_grad_(False) | {x}.detach_() | {x}.retain_grad() | {x}.retain_grad()
    | {x}.grad = None | {x}.grad = {like} | {x}.data = {like}
    | {x}.grad.zero_() | {x}.grad.mul_(2) | {x}.grad.detach_()"""


def _choices(text: str) -> list[str]:
    return [one.strip() for one in text.split("|")]


unary, binary, views, in_place_writes, flags = map(_choices, (UNARY, BINARY, VIEWS, IN_PLACE, FLAGS))
SHAPED = [one for one in unary if not any(text in one for text in ("sum", "mean", "[[", "float", "clone", "double"))]
"""Those of `unary` whose result has the operand's shape and dtype."""


def leaf(w: Writer) -> None:
    """A new tensor, mostly a leaf that requires grad."""
    if len(w.names()) < MOST_TENSORS and not (w.one_leaf and w.names()):
        shape = w.shape if w.chance(0.8) else w.choice([(), (1, 2), (2, 1), (0,), (2,)])
        inference = w.is_inside("inference_mode()")  # NB: such a leaf is recorded otherwise than in torch
        options = {"requires_grad": True} if w.chance(0.75) and not inference else {}
        w.do(f"{w.new()} = {w.fresh(shape, **options)}")


def compute(w: Writer) -> None:
    """A new tensor from others."""
    if len(w.names()) < MOST_TENSORS:
        form = w.weighted((4, w.choice(unary)), (5, w.choice(binary)), (3, w.choice(views)))
        x = w.differentiable()
        if (
            w.value(x).is_inference()
            and not w.session.mt.is_inference_mode_enabled()
            and any(text in form for text in ("float", "double", "clone", "abs", "sum", "mean", "stack"))
        ):
            return  # NB: the result is at version 1 or 2 in torch, or a view
        w.do(f"{w.new()} = {form.format(x=x, y=w.tensor())}")


def may_be_written_to(w: Writer, name: str) -> bool:
    """Whether a write may succeed. If not, torch writes first and raises afterwards."""
    return not w.value(name).is_inference() or w.session.mt.is_inference_mode_enabled()


def target(w: Writer) -> str:
    """Mostly a tensor that may be written to."""

    def fits(tensor: Any) -> bool:
        return not tensor.is_leaf or not tensor.requires_grad

    return w.tensor(fits) if not w.chance(0.1) else w.tensor()


def write(w: Writer) -> None:
    """A write into a tensor."""
    x = target(w)
    if not may_be_written_to(w, x):
        return
    source = w.choice(in_place_writes).format(x=x, y=w.other_for(x))
    if w.is_leaf(x) and w.chance(0.8):
        w.within("with mt.no_grad():", lambda: w.do(source))
    else:
        w.do(source)


def change_flag(w: Writer) -> None:
    """A change of an attribute of a tensor."""
    form = w.choice(flags)
    x = w.tensor()
    tensor = w.value(x)
    if tensor.is_inference() or w.is_inside("inference_mode"):
        return
    if ".grad." in form:
        some = w.names(lambda one: one.is_leaf and one.grad is not None)
        if not some:
            return
        x = w.choice(some)
        if not w.chance(0.2) and "detach" not in form:
            w.within("with mt.no_grad():", lambda: w.do(form.format(x=x)))
            return
    w.do(form.format(x=x, like=w.like(x) if tensor.requires_grad else w.fresh(tuple(tensor.shape))))


def show(w: Writer) -> None:
    """A look at all the flags of a tensor."""
    w.do(f"show({w.tensor()})")


def delete(w: Writer) -> None:
    """The end of a variable."""
    if len(w.names()) > 5:
        w.do(f"del {w.choice(w.names())}")


STATEMENTS = [(2, leaf), (14, compute), (7, write), (3, change_flag), (2, show), (1, delete)]

__all__ = ["SHAPED", "STATEMENTS", "Block", "binary", "may_be_written_to", "unary"]

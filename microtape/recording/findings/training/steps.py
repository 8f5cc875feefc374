"""The steps of optimisers, as the source writes them."""

from __future__ import annotations

import ast

from microtape.recording.model.model import Place, Recording
from microtape.recording.model.source import expression, only_assignment, only_expression


def optimizer_at(recording: Recording, place: Place | None) -> str:
    """The optimiser of a step: `sgd` for `sgd.step()`, and for `scaler.step(sgd)`; empty for other lines."""
    if (scaled := scaled_step(recording, place)) is not None:
        return scaled[1]
    optimizer, is_called, _ = expression(recording, place).partition(".step(")
    return optimizer if is_called else ""


def scaled_step(recording: Recording, place: Place | None) -> tuple[str, str] | None:
    """The scaler and the optimiser of `scaler.step(sgd)`; None for other lines."""
    match only_expression(expression(recording, place)):
        case ast.Call(func=ast.Attribute(value=owner, attr="step"), args=args, keywords=keywords):
            given = [*args, *[one.value for one in keywords if one.arg == "optimizer"]]
            if given and is_scaler(recording, ast.unparse(owner)):
                return ast.unparse(owner), ast.unparse(given[0])
    return None


def is_scaler(recording: Recording, name: str) -> bool:
    """Whether a variable holds a GradScaler, as far as its name, or the line that makes it, tells."""
    made = only_assignment(recording, name)
    return "scaler" in name.lower() or (made is not None and "Scaler(" in expression(recording, made))

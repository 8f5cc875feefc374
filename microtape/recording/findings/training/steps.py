"""The steps of optimisers, as the source writes them."""

from __future__ import annotations

import ast

from microtape.recording.model.model import Place, Recording
from microtape.recording.model.source import expression, only_assignment, only_expression


def optimizer_at(recording: Recording, place: Place | None) -> str:
    """The optimiser of a step: `sgd` for `sgd.step()`, and for `scaler.step(sgd)`; empty for other lines."""
    text = expression(recording, place)
    return _scaled(recording, text)[1] or text.partition(".step(")[0] if ".step(" in text else ""


def _scaled(recording: Recording, text: str) -> tuple[str, str]:
    """The scaler and the optimiser of `scaler.step(sgd)`; empty for other texts."""
    match only_expression(text):
        case ast.Call(func=ast.Attribute(value=owner, attr="step"), args=args, keywords=keywords):
            given = [*args, *[one.value for one in keywords if one.arg == "optimizer"]]
            if given and is_scaler(recording, ast.unparse(owner)):
                return ast.unparse(owner), ast.unparse(given[0])
    return "", ""


def is_scaler(recording: Recording, name: str) -> bool:
    """Whether a variable holds a GradScaler, as far as its name, or the line that makes it, tells."""
    made = only_assignment(recording, name)
    return "scaler" in name.lower() or (made is not None and "Scaler(" in expression(recording, made))

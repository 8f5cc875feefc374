"""Errors of a GradScaler: nothing to divide, or calls in an order that makes no sense."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import Place
from microtape.recording.model.source import expression, place_in, tree_of

_WORDING = "No inf checks were recorded"
_OF_UPDATE = "prior to update"
_ORDER = {
    "unscale_() has already been called": (
        "divides by the scale again",
        "Gradients are divided by the scale once between two updates of the scaler; again, they would be too small.",
        "Call scaler.unscale_(optimizer) once, after the last backward before the step, and scaler.update() after it.",
    ),
    "unscale_() is being called after step()": (
        "comes after the step",
        "scaler.step(optimizer) has divided the gradients by the scale, if nothing had, and has used them.",
        "Call it, and what clips the gradients, between backward and scaler.step(optimizer).",
    ),
    "step() has already been called since the last update()": (
        "steps again before the scaler is updated",
        "A scaler steps an optimiser once between two updates, which tell it how to scale the next loss.",
        "Call scaler.update() after each scaler.step(optimizer).",
    ),
}
"""By the words of an error: what the call does, why that is refused, and what to do."""


def wrong_order(program: Program) -> Iterator[Finding]:
    """A finding for a call of a GradScaler that it refuses because of the calls before it."""
    error = program.recording.error
    place = dict(error.places).get("raised") if error is not None else None
    for words, (does, reason, remedy) in _ORDER.items():
        if error is not None and place is not None and words in error.message:
            what = expression(program.recording, place)
            text = headline(f"{what} at {at(place)} {does}", f"The call at {at(place)} {does}", f"A scaler {does}")
            yield Finding("refused", "error", text, (reason,), remedy, place)


def nothing_to_divide(program: Program) -> Iterator[Finding]:
    """A finding for the error of a GradScaler to which no gradient has come, with the reset that came too early."""
    error = program.recording.error
    place = dict(error.places).get("raised") if error is not None else None
    if error is None or place is None or _WORDING not in error.message:
        return
    what = expression(program.recording, place)
    backward = program.recording.passes[-1].place if program.recording.passes else None
    reset = _reset_between(program, backward, place) if backward is not None else None
    texts: tuple[str, ...]
    if _OF_UPDATE in error.message:
        texts = (
            f"{what} at {at(place)} comes without a step of the scaler",
            f"No step of the scaler before {at(place)}",
        )
        reason = (
            "It adapts the scale to what scaler.step(optimizer) has found in the gradients, and that was not called."
        )
        remedy = "Call scaler.step(optimizer), not optimizer.step(), after backward and before the update."
    elif reset is not None:
        texts = (
            f"{at(reset)} resets the gradients before {what} uses them",
            f"{at(reset)} resets the gradients before the step uses them",
            f"Gradients are reset before the step at {at(place)} uses them",
            "Gradients are reset before the step uses them",
        )
        reason = f"All gradients of the optimiser are None at {at(place)}: there is nothing to divide by the scale."
        remedy = f"Reset gradients after {what}, or before backward."
    else:
        texts = (f"{what} at {at(place)} finds no gradient", f"The step at {at(place)} finds no gradient")
        reason = "All gradients of the optimiser are None: there is nothing to divide by the scale."
        remedy = (
            "Call backward of the scaled loss first, and give the optimiser the parameters that it is computed from."
        )
    others = (("raised", place),) if reset is not None else ()
    yield Finding("refused", "error", headline(*texts), (reason,), remedy, reset or place, others=others)


def _reset_between(program: Program, backward: Place, step: Place) -> Place | None:
    """The last call of `zero_grad` between backward and a step in the same function."""
    if (backward.file, backward.function) != (step.file, step.function):
        return None
    nodes = ast.walk(tree_of(program.recording.sources.get(step.file, "")) or ast.Module([], []))
    calls = [one for one in nodes if isinstance(one, ast.Call) and backward.line < one.lineno < step.line]
    resets = [one for one in calls if isinstance(one.func, ast.Attribute) and one.func.attr == "zero_grad"]
    last = max(resets, key=lambda one: one.lineno, default=None)
    return place_in(program.recording, step.file, last, step.function) if last is not None else None

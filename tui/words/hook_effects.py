"""The effects of hooks: after a hook, the gradient is no longer the sum of its terms or the result of the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from microtape.recording.model.calls import CallKind, CallRecord
from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import BackwardStep, HookCall, Value
from tui.shell.spans import Line, Span, line
from tui.time.cursor import StepCursor
from tui.words.functions.contract import arrived_at

_CALLS: dict[str, CallKind] = {
    "tensor": "tensor hook",
    "node pre": "node pre-hook",
    "node post": "node post-hook",
    "post accumulate": "post-accumulate hook",
}
_WIDTH = 20  # of a gradient
_WIDER = 60  # of two that look the same in less


def on_arrival(step: BackwardStep) -> tuple[HookCall, ...]:
    """The hooks that changed the received gradient, in the order in which they ran."""
    return tuple(one for one in step.hooks if one.kind in ("tensor", "node pre") and _changed(one))


def on_leaving(step: BackwardStep) -> Line:
    """`, then the hook clip` if post-hooks changed what the node sends; else empty."""
    names = [_short(one) for one in step.hooks if one.kind == "node post" and _changed(one)]
    return line(", then the hook ", Span(", ".join(names), "name")) if names else ()


def before_hooks(cursor: StepCursor, step: BackwardStep, number: int) -> Value | None:
    """The gradient of an output as it came, which is the sum of its terms: `step` has what the hooks made of it."""
    arrived = arrived_at(cursor, step.node, number) if on_arrival(step) else ()
    return arrived[-1].total if arrived else step.grad_outputs[number]


def hook_name(cursor: StepCursor, node: int, hook: HookCall) -> Line:
    """The name of a hook that ran in the step of a node: `clip`; a lambda has only its line: `<lambda> (line 5)`."""
    name = _short(hook)
    place = _places(cursor, cursor.timeline.step_of[node]).get(id(hook)) if name == "<lambda>" else None
    return line(Span(name, "name"), f" ({place})" if place else "")


def hook_rows(cursor: StepCursor, step: BackwardStep, gradient: Callable[[Value | None, int], Span]) -> Iterator[Line]:
    """`clip  (line 5, tensor)  [3, 30] changed to [3, 5]`, for each hook that ran. `gradient` writes one."""
    places = _places(cursor, step)
    for hook in step.hooks:
        if hook.kind == "retain_grad":
            yield line(Span("retain_grad()", "name"), "  .grad is now ", gradient(hook.after, _WIDTH))
            continue
        notes = ", ".join(filter(None, (places.get(id(hook)), hook.kind)))
        yield line(Span(_short(hook), "name"), Span(f"  ({notes})  ", "dim"), *_effect(hook, gradient))


def _effect(hook: HookCall, gradient: Callable[[Value | None, int], Span]) -> Line:
    """`[3, 30] changed to [3, 5]`, with more room for two that look the same in little."""
    if not _changed(hook):
        return line(Span("changed nothing", "dim"))
    for width in (_WIDTH, _WIDER):
        before, after = gradient(hook.before, width), gradient(hook.after, width)
        if before.text != after.text:
            return line(before, " changed to ", after)
    return line(before, " changed by less than the digits shown")


def _places(cursor: StepCursor, step: BackwardStep) -> Mapping[int, str]:
    """The id of each hook of a step -> the line of its function, if it has one: `line 5`."""
    timeline = cursor.timeline
    calls = [cursor.recording.calls[one] for one in timeline.calls.get(len(timeline.forward) + step.index + 1, ())]
    found: dict[int, str] = {}
    for kind, called in _CALLS.items():
        hooks = [one for one in step.hooks if one.kind == kind]
        calls_of_kind = [one for one in calls if one.kind == called]
        for name in {_short(one) for one in hooks}:
            named = [one for one in hooks if _short(one) == name]
            places = [one.place for one in calls_of_kind if _short(one) == name]
            if len(named) == len(places):  # else some of them were not recorded
                found |= {id(one): at.at_line for one, at in zip(named, places, strict=True) if at is not None}
    return found


def _short(one: HookCall | CallRecord) -> str:
    """Its function's name without the functions around it."""
    return one.name.rpartition("<locals>.")[2]


def _changed(hook: HookCall) -> bool:
    """Whether the hook changed the gradient. Of a large one only a summary may be kept, perhaps of one of the two."""
    before, after = hook.before, hook.after
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        inexact = before.dtype.kind in "fc" and after.dtype.kind in "fc"
        return not np.array_equal(before, after, equal_nan=inexact)
    if type(before) is type(after) and before == after:
        return False
    return format_value(before, 200, digits=9) != format_value(after, 200, digits=9)

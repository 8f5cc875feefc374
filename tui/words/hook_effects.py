"""What hooks made of gradients: where one ran, the sum of the terms, or what the rule gives, is not what went on."""

from __future__ import annotations

from microtape.recording.model.model import BackwardStep, HookCall
from microtape.recording.model.words import format_value
from tui.shell.spans import Line, Span, line


def on_arrival(step: BackwardStep) -> tuple[HookCall, ...]:
    """The hooks that changed the gradient that came in, in the order in which they ran."""
    return tuple(one for one in step.hooks if one.kind in ("tensor", "node pre") and _changed(one))


def on_leaving(step: BackwardStep) -> Line:
    """`, then the hook clip`: for what a node sends once post-hooks have changed it; else nothing."""
    names = [one.name for one in step.hooks if one.kind == "node post" and _changed(one)]
    return line(", then the hook ", Span(", ".join(names), "name")) if names else ()


def _changed(hook: HookCall) -> bool:
    """Whether it returned another gradient. As far as text can tell: of a large one only a summary may be there."""
    return format_value(hook.before, 200, digits=9) != format_value(hook.after, 200, digits=9)

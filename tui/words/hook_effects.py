"""The effects of hooks: after a hook, the gradient is no longer the sum of its terms or the result of the rule."""

from __future__ import annotations

from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import BackwardStep, HookCall
from tui.shell.spans import Line, Span, line


def on_arrival(step: BackwardStep) -> tuple[HookCall, ...]:
    """The hooks that changed the received gradient, in the order in which they ran."""
    return tuple(one for one in step.hooks if one.kind in ("tensor", "node pre") and _changed(one))


def on_leaving(step: BackwardStep) -> Line:
    """`, then the hook clip` if post-hooks changed what the node sends; else empty."""
    names = [one.name for one in step.hooks if one.kind == "node post" and _changed(one)]
    return line(", then the hook ", Span(", ".join(names), "name")) if names else ()


def _changed(hook: HookCall) -> bool:
    """Whether the hook changed the gradient. Compares texts, because of a large gradient only a summary may be kept."""
    return format_value(hook.before, 200, digits=9) != format_value(hook.after, 200, digits=9)

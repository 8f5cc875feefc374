"""One line about the gradients that were checked by finite differences while recording."""

from __future__ import annotations

from microtape.recording.model.model import Recording


def check_summary(recording: Recording) -> str:
    """The outcome of all checks in one sentence, with the nodes whose gradients are wrong."""
    checked = [one for one in recording.checks if not one.problem]
    wrong = [one for one in checked if not one.agrees]
    names = list(dict.fromkeys(_node_name(recording, one.node) for one in wrong))
    unknown = len(recording.checks) - len(checked)
    rest = f"; {unknown} could not be checked" if unknown else ""
    if not wrong:
        return f"finite differences agree with all {len(checked):,} gradients that were checked{rest}"
    some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"finite differences differ from {len(wrong):,} of {len(checked):,} gradients: {some}{rest}"


def _node_name(recording: Recording, number: int) -> str:
    node = recording.nodes[number]
    return node.op if node.place is None else f"{node.op} ({node.place.at})"

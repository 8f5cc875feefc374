"""A suggestion for a pass that failed, with the user's own line corrected if possible."""

from __future__ import annotations

from microtape.recording.findings.remedies import UPDATE_LATER, out_of_place
from microtape.recording.model.model import ErrorRecord, Recording


def remedy(recording: Recording, error: ErrorRecord) -> str:
    """The suggestion, or an empty text."""
    places, text = dict(error.places), error.message
    if "modified by an inplace operation" in text or "modified" in places:
        if any(one.place == places.get("modified") for one in recording.updates):
            return UPDATE_LATER[0].lower() + UPDATE_LATER[1:]
        corrected = out_of_place(recording, places["modified"]) if "modified" in places else ""
        if corrected:
            return f"write `{corrected}` there: this makes a new tensor and leaves the kept one unchanged"
        return "compute a new tensor there instead of writing into this one, or write into a .clone() of it"
    if "second time" in text or "freed" in text:
        return "pass retain_graph=True to the first backward, or compute the result again before the second"
    if "grad can be implicitly created only for scalar" in text:
        return "reduce it to one number first, such as .sum() or .mean(), or pass a gradient of its shape to backward"
    if "does not require grad" in text:
        return "create one of its inputs with requires_grad=True, and look for detach() or no_grad in between"
    return ""

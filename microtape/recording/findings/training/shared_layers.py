"""One layer in several places of a list: `[nn.Linear(8, 8)] * 3` makes one, and holds it three times."""

from __future__ import annotations

from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import headline, join
from microtape.recording.model.model import Place, TensorRecord
from microtape.recording.model.source import is_installed, only_assignment


def shared_layers(program: Program) -> Iterator[Finding]:
    """A notice for each list in which the weights of several layers are the same ones."""
    told: set[str] = set()
    for leaf in program.leaves:
        found = _places_in_a_list(leaf)
        if found is None or leaf.node is None or found[0] in told:
            continue
        told.add(found[0])
        made = _made(program, leaf, found[0])
        if not is_installed(made):
            yield _finding(leaf, leaf.node, made, *found)


def _places_in_a_list(leaf: TensorRecord) -> tuple[str, list[str]] | None:
    """The list, `blocks`, and the places in it that hold the leaf: `0`, `1`, `2`; None if there are not several."""
    several: dict[tuple[str, str], list[str]] = {}
    for name in leaf.names:
        parts = name.split(".")
        for i, part in enumerate(parts):
            if part.isdigit() and i > 0:
                several.setdefault((".".join(parts[:i]), ".".join(parts[i + 1 :])), []).append(part)
    return next(((within, places) for (within, _), places in several.items() if len(places) > 1), None)


def _finding(leaf: TensorRecord, node: int, made: Place | None, within: str, places: list[str]) -> Finding:
    names = [f"{within}.{one}" for one in places]
    text = headline(
        f"{join(names)} are one layer, with one set of weights",
        f"{len(places)} entries of {within} are one layer, with one set of weights",
        f"{len(places)} entries of a list are one layer, with one set of weights",
    )
    lines = (
        f"{join(leaf.names)} are the same tensor, whose gradient is the sum over all of these places.",
        "A list that is multiplied, [layer] * 3, holds one layer three times.",
    )
    remedy = f"Make one for each place, [... for _ in range({len(places)})], unless they are to share their weights."
    return Finding("shared layer", "notice", text, lines, remedy, made, None, None, node, leaf.id)


def _made(program: Program, leaf: TensorRecord, within: str) -> Place | None:
    """Where the list is made, else the first use of the leaf."""
    last = within.rpartition(".")[2]
    made = only_assignment(program.recording, f"self.{last}") or only_assignment(program.recording, last)
    if made is not None:
        return made
    readers = (program.node(number).place for number in program.readers.get(leaf.id, ()))
    return next((place for place in readers if place is not None), None)

"""Layers and parameters that every pass makes anew: no optimiser has them, so they are never trained."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, count, headline
from microtape.recording.model.model import Place
from microtape.recording.model.source import expression, function_around, loop_around, place_in, tree_of


def made_anew(program: Program) -> Iterator[Finding]:
    """One finding for each line that makes a layer where the model is computed, while an optimiser updates others.

    What shows it is that two passes of a loop reach different leaves at the same place, neither of which is updated.
    """
    if all(one.change == 0 for one in program.recording.updates):
        return
    told: set[Place] = set()
    before: dict[tuple[Place, Place, str], set[int]] = {}  # the leaves of the last pass there
    for position, pass_ in enumerate(program.recording.passes):
        found: dict[tuple[Place, Place, str], set[int]] = {}
        operations = {one for one in pass_.nodes if not program.is_leaf[one]}
        first = min(operations, default=0)
        for step in program.leaf_steps(pass_) if pass_.place is not None else ():
            user = next((one for one in program.users(step.node, first) if one in operations), None)
            used = program.node(user) if user is not None else None
            if used is not None and used.place is not None and pass_.place is not None:
                found.setdefault((pass_.place, used.place, used.op), set()).add(step.node)
        made: dict[Place, tuple[Place, list[int]]] = {}  # by what makes them: where they are used first, and the leaves
        for where, leaves in found.items():
            known = before.get(where, set())
            new = [one for one in (*known, *leaves) if program.node(one).variable not in program.updated]
            if known and not known & leaves and len(new) == len(known) + len(leaves):
                maker = _maker(program, where[1])
                if maker is not None and maker not in told and not _is_read(program, new):
                    made.setdefault(maker, (where[1], []))[1].extend(leaves)
            before[where] = leaves
        for maker, (used_at, leaves_of_it) in made.items():
            told.add(maker)
            yield _finding(program, position, maker, used_at, sorted(leaves_of_it))


def _is_read(program: Program, leaves: list[int]) -> bool:
    """Whether the program reads the .grad of such a leaf itself, as for an adversarial example."""
    names = [program.name(one) for one in leaves]
    text = "".join(program.recording.sources.values())
    return any(f"{name}.grad" in text for name in names)


def _maker(program: Program, used: Place) -> Place | None:
    """The last call before it is used that makes a layer or a parameter, in the same function or loop."""
    text = program.recording.sources.get(used.file, "")
    around = function_around(text, used.line)
    start = around.lineno if around is not None else (loop_around(text, used.line) or (used.line, 0))[0]
    if around is not None and around.name == "__init__":
        return None
    calls = [one for one in ast.walk(tree_of(text) or ast.Module([], [])) if isinstance(one, ast.Call)]
    makers = [one for one in calls if start <= one.lineno <= used.end_line and _makes_parameters(one.func)]
    last = max(makers, key=lambda one: (one.lineno, one.col_offset), default=None)
    return place_in(program.recording, used.file, last, used.function) if last is not None else None


def _makes_parameters(function: ast.expr) -> bool:
    """Whether this is `nn.Linear`, `torch.nn.Parameter`, or the like."""
    *path, name = ast.unparse(function).split(".") if isinstance(function, ast.Attribute | ast.Name) else [""]
    return name == "Parameter" or ("nn" in path and name[:1].isupper() and not name.endswith("Loss"))


def _finding(program: Program, position: int, maker: Place, used: Place, leaves: list[int]) -> Finding:
    written = expression(program.recording, maker)
    what = written.partition("(")[0]
    is_parameter = what.endswith("Parameter")
    text = headline(
        f"{written} at {at(maker)} is new in every pass, and never trained",
        f"{what} at {at(maker)} is new in every pass, and never trained",
        f"The layer of {at(maker)} is new in every pass, and never trained",
    )
    lines = (
        f"{program.pass_name(position).capitalize()} gives gradients to {count(len(leaves), 'new tensor')} there, used "
        f"at {at(used)}; those of the pass before are gone.",
        "The optimiser has other parameters: nothing updates these.",
    )
    remedy = "Make it once, in __init__, and use it here; make the optimiser from the whole model."
    if is_parameter:
        remedy = "A new Parameter has no history: use the tensor itself here, or make the Parameter once, in __init__."
    node = leaves[0]
    return Finding(
        "no update", "warning", text, lines, remedy, maker, position, program.steps[position][node].index, node,
        program.node(node).variable, (("used", used),) if used != maker else (),
    )  # fmt: skip

"""Hooks of saved tensors, save_on_cpu, and checkpoints."""

from __future__ import annotations

from tests.parity.random.operations import SHAPED, binary
from tests.parity.random.writer import MOST_TENSORS, Writer, requires_grad

PACKS = [
    ("x", "x"),
    ("x.detach().clone()", "x"),
    ("x * 2", "x / 2"),
    ("x.detach() * 2", "x / 2"),
    ("(x, 1)", "x[0]"),
    ("x.detach().numpy().copy()", "mt.tensor(x)"),
    ("x", "x * 2"),
    ("x", "x.detach()"),
    ("x.mul_(1)", "x"),
    ("1 / 0", "x"),
    ("x.detach()", "1 / 0"),
    ("x", "None"),
]
"""What a pair of hooks returns. NB: it leaves indices and masks alone, which are not saved as tensors here."""


def saved_hooks(w: Writer) -> None:
    """Statements under a pair of hooks."""
    pack, unpack = w.choice(PACKS) if w.chance(0.7) else w.choice(PACKS[:4])
    name = w.new("p")
    log = w.chance(0.5)
    for kind, result in (("pack", pack), ("unpack", unpack)):
        exempt = ["    if isinstance(x, mt.Tensor) and not x.is_floating_point():", "        return x"]
        looked = [f"    log('{kind} {name}')"] if log else []
        w.do("\n".join([f"def {kind}_{name}(x):", *exempt, *looked, f"    return {result}"]))
    inside = f"with mt.autograd.graph.saved_tensors_hooks(pack_{name}, unpack_{name}):"
    w.within(inside, lambda: w.body(w.choice([1, 2, 3])))


def on_cpu(w: Writer) -> None:
    """Statements under save_on_cpu, or under hooks that are forbidden."""
    disabled = "with mt.autograd.graph.disable_saved_tensors_hooks('no hooks here'):"
    header = w.weighted((3, "with mt.autograd.graph.save_on_cpu():"), (1, disabled))
    w.within(header, lambda: w.body(w.choice([1, 2, 3])))


def body_of(w: Writer, name: str, depth: int) -> None:
    """Define a function of two tensors to checkpoint."""
    nested = ""
    if depth and w.chance(0.35):
        nested = w.new("c")
        body_of(w, nested, depth - 1)
    lines = [f"log('{name}', mt.is_grad_enabled())"] if w.chance(0.6) else []
    known = ["a", "b"]
    for i in range(w.choice([1, 2, 3])):
        if nested and w.chance(0.5):
            form = f"checkpoint({nested}, {{x}}, {{y}}, use_reentrant={w.chance(0.3)})"
        else:
            form = w.choice(SHAPED if w.chance(0.5) else binary[:5])
        y = w.tensor(requires_grad) if w.chance(0.1) else w.choice(known)
        lines.append(f"v{i} = {form.format(x=known[-1] if w.chance(0.7) else w.choice(known), y=y)}")
        saved = "checkpoint" in form or any(one in form for one in ("sigmoid", "tanh", "relu"))
        if w.chance(0.1) and i and not saved:  # NB: torch's backward would use the new values of a saved result
            lines.append(f"v{i}.{w.choice(['mul_(2)', 'sin_()', 'add_(a)'])}")
        known.append(f"v{i}")
    if w.chance(0.04):
        lines.append("raise ValueError('checkpoint')")
    lines.append(f"return {known[-1]}" if w.chance(0.8) else f"return {known[-1]}, {known[-2]}")
    w.do("\n".join([f"def {name}(a, b):", *["    " + line for line in lines]]))


def checkpointed(w: Writer) -> None:
    """A checkpoint of either kind."""
    if len(w.names()) >= MOST_TENSORS:
        return
    name = w.new("c")
    body_of(w, name, 1)
    kind = w.weighted((4, "use_reentrant=False"), (2, "use_reentrant=True"))
    call = f"{w.new()} = checkpoint({name}, {w.differentiable()}, {w.differentiable()}, {kind})"
    if kind.endswith("False") and w.chance(0.3):
        w.within("with mt.utils.checkpoint.set_checkpoint_early_stop(False):", lambda: w.do(call))
    else:
        w.do(call)


STATEMENTS = [(3, saved_hooks), (1, on_cpu), (4, checkpointed)]

"""Custom Functions, composed of what their forward returns, writes and saves, and what their backward and jvp do."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from tests.parity.random.operations import may_be_written_to
from tests.parity.random.writer import MOST_TENSORS, Writer


class Output(NamedTuple):
    """An output: its expression, what it adds to the gradients of x and y, its tangent, and the names that they use."""

    forward: str
    x: str = ""
    y: str = ""
    tangent: str = "None"
    needs: tuple[str, ...] = ()


OUTPUTS = [
    Output("x * y", "{g} * y", "{g} * x", "tx * y + x * ty", ("x", "y")),
    Output("x.sin()", "{g} * x.cos()", "", "tx * x.cos()", ("x",)),
    Output("x.tanh()", "{g} * (1 - {z} * {z})", "", "tx * (1 - {z} * {z})", ("{z}",)),
    Output("t * 2", "{g} * 2 * y", "{g} * 2 * t", "tx * 2 * y", ("t", "y")),
    Output("t", "{g} * t", "", "tx * 1", ("t",)),
    Output("x * 3", "{g} * 3", "", "tx * 3"),
    Output("y + 1", "", "{g}", "ty * 1"),
    Output("x + y", "{g}", "{g}", "tx + ty"),
    Output("x", "{g} * 5", "", "tx.view_as(tx)"),
    Output("y", "", "{g} * 7", "ty.view_as(ty)"),
    Output("x.view(-1)", "{g}.reshape(x.shape)", "", "tx.view(-1)", ("x",)),
    Output("x[...]", "{g} * 2", "", "tx[...]"),
    Output("x.detach()", "{g}", "", "tx.detach()"),
    Output("x.sum()", "{g}.expand(x.shape)", "", "tx.sum()", ("x",)),
    Output("x > 0"),
    Output("3.0"),
    Output("None"),
]
PLAIN = OUTPUTS[:8]


@dataclass
class Options:
    """What a Function does besides computing."""

    dirty: bool  # it writes into x, and returns it
    setup_context: bool
    has_jvp: bool
    materialize: bool
    attributes: bool  # it keeps tensors as attributes of ctx
    once: bool
    nested: bool  # its backward runs a backward
    non_differentiable: int | None  # which output is marked
    mistake: str
    unasked: str  # a tensor that its forward uses without being given it


def options_of(w: Writer, outputs: list[Output]) -> Options:
    """A choice of options."""
    plain = w.chance(0.4)
    apart = Random(w.random.getstate()[1][0])  # so that the rest of each program stays as it was
    return Options(
        dirty=not plain and w.chance(0.25),
        setup_context=w.chance(0.3),
        has_jvp=w.chance(0.6),
        materialize=plain or w.chance(0.7),
        attributes=not plain and w.chance(0.2),
        once=not plain and w.chance(0.2),
        nested=not plain and w.chance(0.12),
        non_differentiable=w.random.randrange(len(outputs)) if not plain and w.chance(0.2) else None,
        mistake=w.choice(["count", "shape", "number", "raise"]) if w.chance(0.05) else "",
        unasked=apart.choice(w.names(lambda one: one.requires_grad) or ["x"]) if apart.random() < 0.1 else "",
    )


def definition(w: Writer, name: str) -> tuple[str, int, bool]:
    """The source of a Function of two tensors, the number of its outputs, and whether it writes into the first."""
    outputs = [w.choice(PLAIN if w.chance(0.5) else OUTPUTS) for _ in range(w.weighted((5, 1), (3, 2), (1, 3)))]
    options = options_of(w, outputs)
    if options.dirty:
        outputs[0] = Output("x", "{g} * 2", "", "tx.mul_(2)")
        if options.setup_context:
            options.setup_context = False
    z = [f"z{i}" for i in range(len(outputs))]
    needs = list(dict.fromkeys(one.format(z=z[i]) for i, output in enumerate(outputs) for one in output.needs))
    if options.setup_context and "t" in needs:  # an intermediate is not there in setup_context
        options.setup_context = False
    if w.chance(0.2):
        needs += [one for one in ("x", "y", z[0]) if one not in needs]
    class_ = [f"class {name}(mt.autograd.Function):", *(["    nested = []"] if options.nested else [])]
    class_ += _indent(_forward(w, options, outputs, z, needs))
    class_ += _indent(_backward(w, name, options, outputs, z, needs))
    if options.has_jvp:
        class_ += _indent(_jvp(w, name, options, outputs, z, needs))
    return "\n".join(class_), len(outputs), options.dirty


def _indent(lines: list[str]) -> list[str]:
    return ["    " + line if line else line for line in lines]


def _returned(values: list[str], always_tuple: bool = False) -> str:
    return f"return {', '.join(values)}{',' if always_tuple and len(values) == 1 else ''}"


def _forward(w: Writer, options: Options, outputs: list[Output], z: list[str], needs: list[str]) -> list[str]:
    compute = ["t = x.exp() * 0.5"] if any("t" in one.needs for one in outputs) else []
    compute += [f"{options.unasked} * 2"] if options.unasked else []
    compute += ["x.mul_(2)"] if options.dirty else []
    compute += [f"{name} = {one.forward}" for name, one in zip(z, outputs, strict=True)]
    keep = []
    if options.attributes:
        keep += [f"ctx.{one} = {one}" for one in needs]
    elif needs or w.chance(0.2):
        saved = ", ".join([*needs, *(["None"] if w.chance(0.1) else [])])
        keep.append(f"ctx.save_for_backward({saved})")
    if options.has_jvp and needs and not options.attributes:
        keep.append(f"ctx.save_for_forward({', '.join(needs)})")
    if options.dirty and not w.chance(0.1):
        keep.append("ctx.mark_dirty(x)")
    if options.non_differentiable is not None:
        keep.append(f"ctx.mark_non_differentiable({z[options.non_differentiable]})")
    if not options.materialize:
        keep.append("ctx.set_materialize_grads(False)")
    w.random.shuffle(keep)
    result = _returned(z, always_tuple=w.chance(0.1))
    if not options.setup_context:
        return ["@staticmethod", "def forward(ctx, x, y):", *_indent([*compute, *keep, result])]
    unpack = ["x, y = inputs", f"{', '.join(z)}{',' if result.endswith(',') else ''} = output"]
    return [
        *["@staticmethod", "def forward(x, y):", *_indent([*compute, result])],
        *["@staticmethod", "def setup_context(ctx, inputs, output):", *_indent([*unpack, *keep])],
    ]


def _unpacked(options: Options, needs: list[str]) -> list[str]:
    if not needs:
        return []
    if options.attributes:
        return [f"{', '.join(needs)} = {', '.join(f'ctx.{one}' for one in needs)}"]
    return [f"{', '.join(needs)}, = ctx.saved_tensors[:{len(needs)}]"]


def _backward(
    w: Writer, name: str, options: Options, outputs: list[Output], z: list[str], needs: list[str]
) -> list[str]:
    g = [f"g{i}" for i in range(len(outputs))]
    lines = [*_unpacked(options, needs), f"log('{name}.backward', {', '.join(g)}, ctx.needs_input_grad)"]
    if options.nested:
        source = w.choice(w.names(lambda one: one.requires_grad) or ["inner"])
        lines.append(f"if len({name}.nested) < 3:  # it may lead here again, once the Function has written to it")
        lines.append(f"    {name}.nested.append(1)")
        lines.append("    with mt.enable_grad():")
        lines.append("        inner = mt.ones(2, dtype=mt.float64, requires_grad=True)")
        lines.append(f"        (inner * {source if w.chance(0.3) else 'inner'}).sum().backward()")
        lines.append(f"    log('{name}.inner', inner.grad)")
    lines.append("gx = gy = None")
    for i, output in enumerate(outputs):
        terms = [(to, one.format(g=g[i], z=z[i])) for to, one in (("gx", output.x), ("gy", output.y)) if one]
        adds = [f"{to} = plus({to}, {term})" for to, term in terms]
        if adds:
            lines += [f"if {g[i]} is not None:", *_indent(adds)]
    if w.chance(0.15):
        lines.append("if not ctx.needs_input_grad[1]:")
        lines.append("    gy = None")
    if w.chance(0.08) and not options.dirty:  # NB: torch would lose the gradient of the rest of a view's base
        lines.append("gx = None")
    if w.chance(0.05) and not options.once:
        lines.append(f"{g[0]}.mul_(3)")
    lines += {"raise": [f"raise ValueError('{name}')"], "shape": ["gx = mt.ones(5)"], "number": ["gx = 1.0"]}.get(
        options.mistake, []
    )
    once = ["@mt.autograd.function.once_differentiable"] if options.once else []
    result = "return gx" if options.mistake == "count" else "return gx, gy"
    return ["@staticmethod", *once, f"def backward(ctx, {', '.join(g)}):", *_indent([*lines, result])]


def _jvp(w: Writer, name: str, options: Options, outputs: list[Output], z: list[str], needs: list[str]) -> list[str]:
    lines = [*_unpacked(options, needs), f"log('{name}.jvp', tx, ty)"]
    if not options.materialize:
        lines += ["tx = mt.zeros(2, dtype=mt.float64) if tx is None else tx", "ty = tx if ty is None else ty"]
    found = []
    for i, one in enumerate(outputs):
        tangent = one.tangent.format(z=z[i])
        found.append("None" if options.non_differentiable == i and not w.chance(0.1) else tangent)
    return ["@staticmethod", "def jvp(ctx, tx, ty):", *_indent([*lines, _returned(found)])]


def function(w: Writer) -> None:
    """Define a Function, and call it."""
    if len(w.names()) >= MOST_TENSORS:
        return
    known = [name for name in w.session.names if name.startswith("F")]
    if known and w.chance(0.3):
        name = w.choice(known)
        count, dirty = w.value(name).count, w.value(name).is_dirty
    else:
        name = w.new("F")
        source, count, dirty = definition(w, name)
        w.do(source)
        w.value(name).count, w.value(name).is_dirty = count, dirty
    x = w.tensor(lambda one: not one.is_leaf) if dirty else w.differentiable()
    y = w.other_for(x) if dirty else w.differentiable()
    if dirty and not may_be_written_to(w, x):
        return
    results = ", ".join(w.new() for _ in range(count))
    w.do(f"{results} = {name}.apply({x}, {y})")


STATEMENTS = [(6, function)]

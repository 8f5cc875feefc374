"""Hooks of every kind, that look, replace the gradient, write into it, raise, remove themselves, or run a backward."""

from __future__ import annotations

from typing import Any

from tests.parity.random.writer import Writer, fits, requires_grad


def nested_pass(w: Writer) -> list[str]:
    """Lines of a hook that run another pass, once."""
    x = w.tensor(requires_grad)
    options = w.weighted((4, ""), (3, "retain_graph=True"))
    own = w.chance(0.5)
    root = "inner * inner" if own else f"{x} * inner"
    lines = ["if not done:", "    done.append(1)", "    with mt.enable_grad():"]
    lines.append("        inner = mt.ones((), dtype=mt.float64, requires_grad=True)")
    if own or w.chance(0.5):
        lines.append(f"        ({root}).sum().backward({options})")
        lines.append("    log('inner', inner.grad)")
    else:
        lines.append(
            f"        log('inner', *mt.autograd.grad(({root}).sum(), [inner], {options or 'None'}))".replace(
                ", None)", ")"
            )
        )
    return lines


def action(w: Writer, leaf: bool) -> tuple[list[str], str]:
    """What a hook does with a gradient `g`: lines, and what it returns, which may be empty."""
    kinds = [
        (6, ""),
        (4, "g * 2"),
        (2, "g + 1"),
        (1, "g.detach()"),
        (1, "g"),
        (2, "remove"),
        (2, "nested"),
        (1, "more"),
    ]
    if not leaf or w.one_leaf:  # which leaf is evaluated first is not as in torch
        kinds += [(4, "write"), (1, "raise"), (1, "wrong"), (1, "none")]
    kind = w.weighted(*kinds)
    if kind == "remove":
        handle = w.choice([name for name in w.session.names if name.startswith("h")] or ["None"])
        return [f"{handle}.remove()"] if handle != "None" else ["pass"], w.choice(["", "g * 2"])
    if kind == "nested":
        return nested_pass(w), ""
    if kind == "more":
        x = w.tensor(requires_grad)
        leaf = w.is_leaf(x)
        return [
            f"if {x}.requires_grad:",
            f"    {x}.register_hook(lambda g: log('{'leaf ' if leaf else ''}late {x}', g))",
        ], ""
    if kind == "write":
        return ["with mt.no_grad():", f"    g.{w.choice(['mul_(2)', 'add_(1)', 'zero_()'])}"], ""
    if kind == "raise":
        return ["raise ValueError('hook')"], ""
    if kind == "wrong":
        return [], w.choice(["g.sum()", "3.0", "g.float()", "mt.ones(5, dtype=mt.float64)"])
    return ([], "") if kind == "none" else ([], kind)


def defined(w: Writer, name: str, leaf: bool, parameters: str = "g", label: str = "") -> None:
    """Define a hook called `name`."""
    lines, result = action(w, leaf)
    done = ", done=[]" if any("done" in line for line in lines) else ""
    body = [f"log('{label}{name}', g)", *lines, *([f"return {result}"] if result else [])]
    if w.chance(0.9):
        guard = [*(["if g is None:", "    return log('undefined')"])]
        body = [*guard, *body] if w.chance(0.2) else body
    w.do("\n".join([f"def {name}({parameters}{done}):", *["    " + line for line in body]]))


def on_tensor(w: Writer) -> None:
    """A hook of a tensor."""
    x, name = w.tensor(requires_grad), w.new("f")
    leaf = w.is_leaf(x)
    defined(w, name, leaf, label="leaf " if leaf else "")
    w.do(f"{w.new('h')} = {x}.register_hook({name})")


def post_accumulate(w: Writer) -> None:
    """A hook of a leaf that runs once its gradient is there."""
    x = w.tensor(lambda one: one.is_leaf and one.requires_grad)
    name = w.new("f")
    lines = [f"log('leaf {name}', p, p.grad)"]
    if w.one_leaf or w.chance(0.3):
        nested = nested_pass(w)
        lines += w.choice(
            [
                ["p.grad = None"],
                ["if p.grad is not None:", "    p.grad.zero_()"],
                ["if p.grad is not None:", "    with mt.no_grad():", "        p.grad.mul_(2)"],
                [
                    "if p.grad is not None:",
                    "    with mt.no_grad():",
                    "        p.sub_(p.grad, alpha=0.5)",
                    "    p.grad = None",
                ],
                nested if not waits_for_itself(w.value("mt")) else [],
                ["raise ValueError('post')"] if w.one_leaf else [],
            ]
        )
    done = ", done=[]" if any("done" in line for line in lines) else ""
    w.do("\n".join([f"def {name}(p{done}):", *["    " + line for line in lines]]))
    w.do(f"{w.new('h')} = {x}.register_post_accumulate_grad_hook({name})")


def waits_for_itself(torch: Any) -> bool:
    """Whether a pass in a leaf's own hook waits for the leaf forever, as before torch 2.8."""
    return tuple(map(int, torch.__version__.split(".")[:2])) < (2, 8)


def on_node(w: Writer) -> None:
    """A hook before or after a node."""
    x, name = w.tensor(lambda one: one.requires_grad and not one.is_leaf), w.new("f")
    if not fits(w.value(x), lambda one: not one.is_leaf):
        return
    node = f"{x}.grad_fn"
    leaf = False
    if w.chance(0.2):
        following = w.value(x).grad_fn.next_functions
        places = [i for i, (to, _) in enumerate(following) if to is not None]
        if places:
            place = w.choice(places)
            node += f".next_functions[{place}][0]"
            leaf = "AccumulateGrad" in following[place][0].name()
    label = f"{'leaf ' if leaf else ''}{name}"
    lines, result = action(w, leaf)
    done = ", done=[]" if any("done" in line for line in lines) else ""
    before = w.chance(0.5)
    changed = f"return tuple(None if g is None else {result} for g in gs)" if result else ""
    each = ["for g in gs:", "    if g is not None:", *["        " + line for line in lines]] if lines else []
    shown = "gs" if before or leaf else "gs, arrived"  # NB: what arrived at a leaf may be its `.grad` in torch
    body = [f"log('{label}', {shown})", *each, *([changed] if changed else [])]
    w.do("\n".join([f"def {name}(gs{'' if before else ', arrived'}{done}):", *["    " + line for line in body]]))
    w.do(f"{w.new('h')} = {node}.register_{'prehook' if before else 'hook'}({name})")


def multi_grad(w: Writer) -> None:
    """A hook of several tensors together."""
    several = [w.tensor(requires_grad) for _ in range(w.choice([1, 2, 2, 3]))]
    if not all(w.value(one).requires_grad for one in several) or w.is_inside("inference_mode"):
        return
    name, mode = w.new("f"), w.choice(["all", "any"])
    leaf = any(w.is_leaf(one) for one in several)
    if mode == "any" and leaf and not w.one_leaf:
        lines = [f"log('leaf {name}')"]
    else:
        lines = [f"log('{'leaf ' if leaf else ''}{name}', gs)"]
    lines += nested_pass(w) if w.chance(0.15) else []
    done = ", done=[]" if any("done" in line for line in lines) else ""
    w.do("\n".join([f"def {name}(gs{done}):", *["    " + line for line in lines]]))
    register = "mt.autograd.graph.register_multi_grad_hook"
    w.do(f"{w.new('h')} = {register}([{', '.join(several)}], {name}, mode='{mode}')")


def remove(w: Writer) -> None:
    """The end of a hook."""
    handles = [name for name in w.session.names if name.startswith("h")]
    if handles:
        w.do(f"{w.choice(handles)}.remove()")


def retain(w: Writer) -> None:
    """A tensor that keeps its gradient."""
    w.do(f"{w.tensor(requires_grad)}.retain_grad()")


def watch(w: Writer) -> None:
    """Log the order of the nodes behind a tensor."""
    x = w.tensor(lambda one: one.requires_grad and not one.is_leaf)
    if not w.session.second_order and fits(w.value(x), lambda one: not one.is_leaf):
        w.do(f"watch_nodes({x})")


STATEMENTS = [(5, on_tensor), (2, post_accumulate), (4, on_node), (2, multi_grad), (1, remove), (2, retain), (2, watch)]

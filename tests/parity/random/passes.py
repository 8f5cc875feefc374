"""Backward passes, and writes to what they give."""

from __future__ import annotations

from tests.parity.random.writer import Writer, requires_grad


def roots(w: Writer) -> tuple[list[str], list[str]]:
    """The roots of a pass, and their first gradients."""
    names = [w.differentiable() for _ in range(w.weighted((5, 1), (1, 2)))]
    gradients = ["None" if w.value(one).numel() == 1 and w.chance(0.6) else w.like(one) for one in names]
    for i, name in enumerate(names):
        alike = [other for other in w.alike(name) if not w.value(other).requires_grad]  # NB: hooks would see that
        if gradients[i] != "None" and alike and w.chance(0.1):
            gradients[i] = f"{w.choice(alike)}.clone()"  # NB: hooks that write to it would count as its writes in torch
    return names, gradients


def options(w: Writer, create: float) -> str:
    """The options that both kinds of pass have."""
    retain = w.weighted((5, ", retain_graph=True"), (4, ""), (1, ", retain_graph=False"))
    return retain + (", create_graph=True" if w.chance(create) else "")


def edge(w: Writer, name: str, edges: bool) -> str:
    """The name, or its GradientEdge."""
    return f"mt.autograd.graph.get_gradient_edge({name})" if edges else name


def backward(w: Writer) -> None:
    """A pass that accumulates."""
    if w.is_inside("inference_mode"):
        return  # torch adds later gradients first, and raises afterwards
    names, gradients = roots(w)
    rest = options(w, 0.08)
    if w.chance(0.3):
        edges = w.chance(0.1)
        inputs = [edge(w, w.tensor(requires_grad), edges) for _ in range(w.choice([1, 1, 2]))]
        rest += f", inputs=[{', '.join(inputs)}]"
    if len(names) == 1 and w.chance(0.7):
        first = gradients[0]
        if first == "None" and w.value(names[0]).numel() != 1:
            first = "mt.ones(2)"
        w.do(f"{names[0]}.backward({first}{rest})" if first != "None" else f"{names[0]}.backward({rest[2:]})")
    else:
        w.do(f"mt.autograd.backward([{', '.join(names)}], [{', '.join(gradients)}]{rest})")


def grad(w: Writer) -> None:
    """A pass that returns gradients."""
    if w.is_inside("inference_mode"):
        return
    names, gradients = roots(w)
    edges = w.chance(0.08)
    inputs = [edge(w, w.tensor(requires_grad), edges) for _ in range(w.choice([1, 1, 2, 3]))]
    rest = options(w, 0.25)
    rest += w.weighted((5, ", allow_unused=True"), (2, ", materialize_grads=True"), (2, ""))
    results = [w.new("g") for _ in inputs]
    w.do(
        f"{', '.join(results)}{',' if len(results) == 1 else ''} = mt.autograd.grad([{', '.join(names)}], "
        f"[{', '.join(inputs)}], [{', '.join(gradients)}]{rest})"
    )
    made = w.session.names
    if "create_graph=True" in rest and all(name in made for name in results):
        for name in results:
            if made[name] is not None:
                w.do(f"{name} = {name} * 1")


def write_gradient(w: Writer) -> None:
    """A write into a `.grad`, or into what `grad` returned."""
    found = [name for name in w.names() if name.startswith("g") and not w.value(name).requires_grad]
    found += [f"{name}.grad" for name in w.names(lambda one: one.is_leaf and one.grad is not None)]
    if found and not w.is_inside("inference_mode"):
        source = f"{w.choice(found)}.{w.choice(['mul_(2)', 'zero_()', 'add_(1)'])}"
        if w.chance(0.8):
            w.within("with mt.no_grad():", lambda: w.do(source))
        else:
            w.do(source)


def assign_gradient(w: Writer) -> None:
    """A `.grad` that is set, to None or to a tensor that others hold too."""
    leaf = w.tensor(lambda one: one.is_leaf and one.requires_grad)
    if w.is_inside("inference_mode") or not w.is_leaf(leaf) or w.value(leaf).is_inference():
        return
    shape = w.value(leaf).shape
    alike = w.names(lambda one: one.shape == shape and not one.requires_grad)
    alike = [name for name in alike if not w.value(name).is_inference()]
    if w.chance(0.5) or not alike:
        w.do(f"{leaf}.grad = None")
    else:
        w.do(f"{leaf}.grad = {w.choice(alike)}")


STATEMENTS = [(9, backward), (5, grad), (3, write_gradient), (2, assign_gradient)]

"""`unused` computes no gradient: it follows the nodes from the loss. `slopes` applies the chain
rule by hand for x.
"""

import microtape as mt


def unused(loss, named):
    nodes, found = [loss.grad_fn], set()
    while nodes:
        node = nodes.pop()
        if node is None or id(node) in found:
            continue
        found.add(id(node))
        found.add(id(getattr(node, "variable", None)))
        nodes += [following for following, _ in node.next_functions]
    return [name for name, one in named.items() if not {id(one), id(one.grad_fn)} & (found - {id(None)})]


def slopes(f, g, x):
    h = f(x)
    (for_h,) = mt.autograd.grad(g(h), h, retain_graph=True)
    (of_f,) = mt.autograd.grad(h, x)
    return for_h.item(), (for_h * of_f).item()

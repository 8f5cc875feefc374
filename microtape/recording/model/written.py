"""How operands without a name are written in the source: `y.sum()` in `x / y.sum()`, `x - y` in `net(x - y)`."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping

from microtape.recording.model.model import Place, Recording, TensorRef
from microtape.recording.model.source import expression, tree_of


def written_operands(recording: Recording) -> Mapping[TensorRef, str]:
    """The texts of operands of arithmetic, and of the only argument of a call that takes nothing else from outside."""
    found: dict[TensorRef, str] = {}
    given: dict[Place, set[TensorRef]] = {}  # operands that no recorded operation has computed, by call
    computed = {output for node in recording.nodes for output in node.outputs}
    for node in recording.nodes:
        refs = [one.ref for one in node.operands]
        if node.place is None:
            continue
        if len(refs) == 2 and len(node.edges) == 2:
            for ref, text in zip(refs, _sides(expression(recording, node.place)), strict=False):
                if ref is not None:
                    found.setdefault(ref, text)
        given.setdefault(node.place, set()).update(
            one for one in refs if one is not None and one not in computed and not recording.tensors[one.tensor].name
        )
    for place, several in given.items():
        if len(several) == 1 and (argument := _only_argument(expression(recording, place))):
            found.setdefault(several.pop(), argument)
    return found


def _sides(text: str) -> tuple[str, ...]:
    """The two sides of arithmetic, which computes element by element."""
    top = _top(text)
    if not isinstance(top, ast.BinOp) or isinstance(top.op, ast.MatMult):
        return ()
    return ast.unparse(top.left), ast.unparse(top.right)


def _only_argument(text: str) -> str:
    """The only argument of a call, if it is computed there: else it has a name."""
    top = _top(text)
    if not isinstance(top, ast.Call) or len(top.args) != 1 or top.keywords:
        return ""
    return ast.unparse(top.args[0]) if isinstance(top.args[0], ast.BinOp | ast.Call) else ""


@functools.lru_cache(maxsize=1024)
def _top(text: str) -> ast.expr | None:
    tree = tree_of(text)
    only = tree.body[0] if tree is not None and len(tree.body) == 1 else None
    return only.value if isinstance(only, ast.Expr) else None

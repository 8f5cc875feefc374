"""A program: a list of statements, each of which is Python source. Only `import ... as mt` differs between the modules.

A statement that raises does not end the program, so a printed program has a `try` around it.
"""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import TypeAlias

THREAD = "thread"
"""The header of a block that runs in a thread, which is joined before the next statement."""


@dataclass(frozen=True)
class Block:
    """Statements inside of a context manager (`header` is `with ...:`), or in a thread."""

    header: str
    body: tuple[Statement, ...]


Statement: TypeAlias = "str | Block"
Program: TypeAlias = "tuple[Statement, ...]"

HEAD = """\
import threading
import {module} as mt
{imports}
fw, checkpoint = mt.autograd.forward_ad, mt.utils.checkpoint.checkpoint

"""
HELPERS = {
    "log": """
def log(label, *seen):
    print(label, *seen, mt.is_grad_enabled())
""",
    "show": """
def show(x):
    print(x, x.requires_grad, x.is_leaf, x._version, x._is_view(), x.grad_fn)
""",
    "plus": """
def plus(a, b):
    return b if a is None else a + b
""",
    "watch_nodes": """
def watch_nodes(root):
    nodes, stack = {}, [root.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node not in nodes:
            nodes[node] = label = f"node {len(nodes)} {node.name()}"
            node.register_prehook(lambda gradients, label=label: print(label))
            stack.extend(to for to, _ in reversed(node.next_functions))
""",
    "in_thread": """
def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
""",
}
"""The functions that a program may call."""


@lru_cache(maxsize=2000)
def compiled(source: str) -> tuple[CodeType, tuple[str, ...]]:
    """The code of a statement, and the names that it assigns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as that of an int that is called, in a shrunk program
        tree = ast.parse(source)
        code = compile(tree, "<program>", "exec")
    names = [
        node.id
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return code, tuple(names)


def statements(program: Program) -> Iterator[str]:
    """The statements of a program and the headers of its blocks, in the order in which they run."""
    for statement in program:
        if isinstance(statement, Block):
            yield statement.header
            yield from statements(statement.body)
        else:
            yield statement


def listing(program: Program, module: str, raising: Collection[int] = ()) -> str:
    """The program as a Python script; the numbers of the statements that raise are given to put a `try` around them."""
    imports = "import torch.utils.checkpoint\n" if module == "torch" else ""
    lines, _ = _lines(program, set(raising), 0)
    body = "\n".join(lines) + "\n"
    helpers = "".join(f"{text}\n" for name, text in HELPERS.items() if f"{name}(" in body)
    return f"{HEAD.format(module=module, imports=imports)}{helpers}\n{body}"


def _lines(program: Program, raising: set[int], number: int) -> tuple[list[str], int]:
    """The lines of the statements, of which the first has this number, and the number of the next statement."""
    lines: list[str] = []
    for statement in program:
        this = number
        number += 1
        if isinstance(statement, str):
            written = statement.splitlines()
        else:
            body, number = _lines(statement.body, raising, number)
            written = [textwrap.indent(line, "    ") for line in body or ["pass"]]
            if statement.header == THREAD:
                names = sorted({name for one in statement.body if isinstance(one, str) for name in compiled(one)[1]})
                written = ["def work():", *([f"    global {', '.join(names)}"] if names else []), *written]
                written.append("in_thread(work)")
            else:
                written.insert(0, statement.header)
        if this in raising:
            written = ["try:", *textwrap.indent("\n".join(written), "    ").splitlines()]
            written += ["except Exception as error:", "    print(repr(error))"]
        lines += written
    return lines, number

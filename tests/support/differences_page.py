"""docs/differences.md: where microtape differs from PyTorch and why, out of the tables of the parity tests.

Write it again with `python -m tests.support.differences_page`.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

from tests.parity import programs, random_programs, rows
from tests.parity_ops import table, test_dtypes

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"

BY_DESIGN = [
    "Engine errors are subclasses of the exceptions that PyTorch raises, have its text (with `microtape` for `torch`), "
    "and end with your own lines: where something was saved, where it was overwritten.",
    "What PyTorch warns of once in a process is warned of as Python's warning filters say.",
    "There are no Modules and optimisers, no devices but the CPU, no sparse or quantized tensors, no `bfloat16`.",
    "A backward pass runs in the thread that calls it, and sequence numbers count up through the whole process. "
    "PyTorch counts for each thread apart.",
    "A recorded backward pass (`create_graph=True`) leaves other nodes in the graph than PyTorch's, as it records the "
    "formulas that you can read. Values, flags and errors are the same.",
    "`is_grads_batched=True` and `vectorize=True` run one pass after the other, where PyTorch runs all as one.",
    "`conj()` copies; PyTorch's is a view. From one seed, PyTorch's `bernoulli_(p)` and `dropout` draw other numbers "
    "on Intel's processors than elsewhere; here they are those of elsewhere on all of them.",
    "`(x * 3).grad_fn._saved_other` is the 3.0 that was computed with, PyTorch's the 3 that was written. A node that "
    "is called checks the shapes of what it is given and makes; PyTorch's does not.",
    "What an unpack hook gives back in another shape than it was saved in fails as numpy's ValueError where a formula "
    "cannot compute with it; PyTorch's is a RuntimeError.",
    "`fill_` and `masked_fill_` of whole numbers with a value that requires grad are not recorded; PyTorch records "
    "them, and its backward fails.",
    "A `GradientEdge` has two fields, PyTorch's a third one that keeps the graph alive, which the node does here. "
    "There are no in-place views (`t_`, `unsqueeze_`, ...).",
    "`.grad._version` counts the writes to a `.grad`; PyTorch's may also count how gradients were added up before.",
]

HEAD = """# Known differences from PyTorch

A program whose first line is `import torch as mt` does the same with microtape: its values, flags, messages and the
order in which nodes are evaluated are compared with PyTorch 2.13, program by program. This page lists what is known to
differ, and why. It is written by `python -m tests.support.differences_page` out of the tables that the tests use;
each entry about autograd and the operations belongs to a test that fails as soon as it no longer differs.
"""


def sections() -> dict[str, list[str]]:
    """The page's headings, and what stands under each."""
    for module in pkgutil.iter_modules(programs.__path__, programs.__name__ + "."):
        importlib.import_module(module.name)
    autograd = [(name.split(" ", 1)[1].rpartition(": ")[0], how) for name, how in rows.DIFFERENCES.items()]
    operations: dict[str, list[str]] = {}
    for row in table.ROWS:
        if row.differs:
            operations.setdefault(row.differs, []).append(row.name.removeprefix("wrong: "))
    return {
        "By design": BY_DESIGN,
        "Autograd": [f"`{name}`: {sentence(how)}" for name, how in autograd],
        "Operations": [f"{listed(names)}: {sentence(how)}" for how, names in operations.items()],
        "Operations on other dtypes": [
            f"{listed(matching(dtypes))}: {sentence(how)}" for (dtypes, _), how in test_dtypes.DIFFERENCES.items()
        ],
        "In programs made at random": [sentence(how) for how in random_programs.LENIENT],
    }


def sentence(text: str) -> str:
    """The text as a sentence of the page: names as code, a capital letter where it begins with a word, a full stop."""
    text = re.sub(r"\btorch\b", "PyTorch", text)
    text = re.sub(r"(?<![`\w])@?\w*_\w*(\(\))?", r"`\g<0>`", text) if "`" not in text else text
    return text[0].upper() + text[1:].removesuffix(".") + "."


def listed(names: list[str]) -> str:
    """Names in a row."""
    return ", ".join(f"`{name}`" for name in names)


def matching(dtypes: str) -> list[str]:
    """The dtypes that a pattern means."""
    return [dtype for dtype in test_dtypes.DTYPES if re.fullmatch(dtypes, dtype)]


def page() -> str:
    """The whole text."""
    parts = [HEAD]
    for heading, entries in sections().items():
        parts.append(f"\n## {heading}\n\n" + "".join(f"- {entry}\n" for entry in entries))
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE}: {sum(map(len, sections().values()))} differences")

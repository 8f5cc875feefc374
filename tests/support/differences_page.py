"""docs/differences.md: how microtape differs from PyTorch and why, from the tables of the parity tests.

Regenerate it with `python -m tests.support.differences_page`.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

from tests.parity import programs, rows
from tests.parity.random.known import LENIENT
from tests.parity_ops import table, test_dtypes

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"

BY_DESIGN = [
    "Engine errors are subclasses of the exceptions that PyTorch raises and have its text (with `microtape` for "
    "`torch`), followed by lines of your program, such as those that saved a tensor and overwrote it.",
    "Where PyTorch warns once per process, microtape follows Python's warning filters.",
    "Of PyTorch's modules, those of a first course exist. There are no devices but the CPU, no sparse or quantized "
    "tensors, no `bfloat16`. `vmap` calls the function once for each slice. `get_rng_state` gives an object, "
    "PyTorch's a tensor of bytes.",
    "Optimisers ignore `foreach` and `fused`, and have no `differentiable` or `capturable` steps. AdamW writes to a "
    "parameter once in a step, PyTorch's twice, so that versions differ. A DataLoader loads all data in one process, "
    "whatever `num_workers` is.",
    "A backward pass runs in the thread that calls it, or continues on a new one if it is deep inside of others. "
    "Sequence numbers count through the whole process; PyTorch counts separately in each thread.",
    "A recorded backward pass (`create_graph=True`) leaves other nodes in the graph than PyTorch's, as it records the "
    "formulas that you can read. Values, flags and errors are the same.",
    "`is_grads_batched=True` and `vectorize=True` run the passes one by one; PyTorch runs them as one.",
    "`conj()` copies; PyTorch's is a view. From the same seed, PyTorch's `bernoulli_(p)` and `dropout` draw other "
    "numbers on Intel's processors than elsewhere; microtape draws the latter everywhere.",
    "What no gradient needs is not saved: a write to the operand of a pooling layer, of `gather` or of `cdist` is no "
    "error, and the gradient is right; PyTorch refuses it. `logaddexp`, `erfinv`, `polar`, `kron` and attention save "
    "other tensors than PyTorch's, so that other writes are refused.",
    "`(x * 3).grad_fn._saved_other` is 3.0, the number used in the computation; PyTorch's is 3, as written. Calling a "
    "node checks the shapes of its arguments and results; PyTorch does not check them.",
    "If an unpack hook returns a tensor of another shape than the saved one, and a formula cannot use it, numpy's "
    "ValueError is raised; PyTorch raises a RuntimeError.",
    "`fill_` and `masked_fill_` of an integer tensor with a value that requires grad are not recorded; PyTorch records "
    "them, and its backward fails.",
    "A `GradientEdge` has two fields; PyTorch's has a third, which keeps the graph alive, as the node does here. After "
    "`t_`, `unsqueeze_` and the like, views that were made before raise an error where their history is needed, and a "
    "tensor with a tangent refuses them.",
    "A tensor that `pickle` or `copy` made is at version 0; PyTorch's is at 1.",
    "A write to `.grad` in a post-accumulate hook reaches the gradient that hooks of AccumulateGrad see afterwards, if "
    "`.grad` was None and no tensor hook or pre-hook is registered. In PyTorch it depends on who else "
    "holds the gradient.",
    "`stride()` may differ: a result computed from an operand that is not row-major is row-major more often here, and "
    "of dimensions of size 0 and 1 the strides mean nothing. Where PyTorch's result is contiguous, ours is, apart from "
    "`rms_norm` and products of expanded tensors; so `view` takes it. `inv`, `solve` and `cholesky` give row-major "
    "matrices here.",
]

HEAD = """# Known differences from PyTorch

A program whose first line is `import torch as mt` does the same with `import microtape as mt`: the tests compare
values, flags, messages and the order in which nodes are evaluated with PyTorch 2.13, program by program. This page
lists the known differences and their reasons. `python -m tests.support.differences_page` generates it from the tables
of the tests; each entry about autograd and the operations belongs to a test that fails when the difference disappears.
"""


def sections() -> dict[str, list[str]]:
    """The headings of the page, and the entries under each."""
    for module in pkgutil.iter_modules(programs.__path__, programs.__name__ + "."):
        importlib.import_module(module.name)
    autograd = [(name.split(" ", 1)[1].rpartition(": ")[0], how) for name, how in rows.DIFFERENCES.items()]
    operations: dict[str, list[str]] = {}
    for row in table.ROWS:
        if row.differs:
            operations.setdefault(row.differs, []).append(row.name.removeprefix("wrong: "))
    return {
        "By design": BY_DESIGN,
        "Autograd": list(dict.fromkeys(f"`{name}`: {_sentence(how)}" for name, how in autograd)),
        "Operations": [f"{_listed(names)}: {_sentence(how)}" for how, names in operations.items()],
        "Operations on other dtypes": [
            f"{_listed(_matching(dtypes))}: {_sentence(how)}" for (dtypes, _), how in test_dtypes.DIFFERENCES.items()
        ],
        "In randomly generated programs": [_sentence(how) for how in LENIENT],
    }


def _sentence(text: str) -> str:
    """The text as a sentence of the page: names as code, an initial capital and a full stop."""
    text = re.sub(r"\btorch\b", "PyTorch", text)
    text = re.sub(r"(?<![`\w])@?\w*_\w*(\(\))?", r"`\g<0>`", text) if "`" not in text else text
    return text[0].upper() + text[1:].removesuffix(".") + "."


def _listed(names: list[str]) -> str:
    """The names as code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def _matching(dtypes: str) -> list[str]:
    """The dtypes that a pattern matches."""
    return [dtype for dtype in test_dtypes.DTYPES if re.fullmatch(dtypes, dtype)]


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for heading, entries in sections().items():
        parts.append(f"\n## {heading}\n\n" + "".join(f"- {entry}\n" for entry in entries))
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE}: {sum(map(len, sections().values()))} differences")

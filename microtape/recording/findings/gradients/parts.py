"""Parts of models that no gradient reaches, and programs that use some parts of a model by themselves."""

from __future__ import annotations

import re
from itertools import takewhile

from microtape.recording.findings.program import Program


def unused_part(program: Program, leaf: str) -> str:
    """The part of a model that holds all leaves around one which no gradient has reached: `encoder` or `encoder.pool`.

    Of the outermost part without any gradient, the innermost one that holds all of its leaves.
    """
    parts = leaf.split(".")
    paths = (".".join(parts[:length]) for length in range(1, len(parts)))
    unused = next((one for one in paths if not any(name.startswith(f"{one}.") for name in program.used_leaves)), leaf)
    around = [one.name.split(".") for one in program.leaves if one.name.startswith(f"{unused}.")]
    return ".".join(one[0] for one in takewhile(lambda one: len(set(one)) == 1, zip(parts, *around, strict=False)))


def takes_parts(program: Program, unused: str) -> bool:
    """Whether the program uses other parts of the model around a part by themselves, and so perhaps not all of them.

    It calls them, `encoder.blocks(x)`, and never the model, or a hook gives it what a layer inside has computed.
    """
    owner = unused.rpartition(".")[0]
    name = re.escape(owner.rpartition(".")[2])
    if not name:
        return False
    text = "\n".join(program.recording.sources.values())
    if "register_forward_hook(" in text:
        return True
    called = {*re.findall(rf"\b{name}\.(\w+)\(", text)}
    used = any(leaf.startswith(f"{owner}.{part}.") for part in called for leaf in program.used_leaves)
    return used and not re.search(rf"(?<![\w.])(?:self\.)?{name}\(", text)

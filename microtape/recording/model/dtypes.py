"""What the name of a dtype says. PyTorch has floating dtypes that numpy lacks, such as bfloat16."""

from __future__ import annotations

import re

_NAME = re.compile(r"(bool|int|uint|b?float|complex)(\d{0,3})(_\w+)?")
_KINDS = {"bool": "b", "int": "i", "uint": "u", "float": "f", "bfloat": "f", "complex": "c"}


def kind_of(dtype: str) -> str:
    """Numpy's letter for the kind of a dtype: b, i, u, f or c; V for another name."""
    match = _NAME.fullmatch(dtype)
    return _KINDS[match[1]] if match else "V"


def bits_of(dtype: str) -> int:
    """How many bits an element has; 0 for bool and other names."""
    match = _NAME.fullmatch(dtype)
    return int(match[2] or 0) if match else 0

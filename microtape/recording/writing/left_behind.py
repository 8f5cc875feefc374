"""What passes leave behind: results that nobody but the recording holds, and whose values it has copied.

It keeps every tensor, so that no id is used twice. If it kept their arrays, each value would be in memory twice, and a
loop would need new memory in each round.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from weakref import getweakrefcount

import numpy as np

from microtape.recording.writing.tape_entries import TensorEntry
from microtape.tape.tensor_state import is_leaf, version_number

_held = [object()]
_ONE_HOLDER = sys.getrefcount(_held[0])  # what Python counts for an object that one other object holds


def free_arrays(entries: Sequence[TensorEntry]) -> None:
    """Free the arrays of results that nobody else holds: the recording's copy takes the place of each."""
    for entry in entries:
        objects = entry.objects
        for i in range(len(objects)):  # a variable for the tensor would be one more who holds it
            if sys.getrefcount(objects[i]) != _ONE_HOLDER or sys.getrefcount(objects[i].array) != _ONE_HOLDER:
                continue
            tensor = objects[i]
            copy = entry.values.get(version_number(tensor))
            if isinstance(copy, np.ndarray) and not is_leaf(tensor) and not getweakrefcount(tensor):
                tensor.array = copy

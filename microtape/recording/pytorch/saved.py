"""What a node of torch has saved for its backward, read without disturbing it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import torch
from torch._C import _autograd
from torch._C._autograd import _get_sequence_nr as next_sequence_nr

from microtape.basics.replaced import Replaced
from microtape.recording.model.model import Value
from microtape.recording.pytorch.node_text import About
from microtape.recording.pytorch.notes import SeenTensor
from microtape.recording.pytorch.tensors import DTYPES, Tensors, grad_fn_of, unknown, version_of

VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
_WRITTEN_UNCOUNTED = ("_saved_running_mean", "_saved_running_var")
"""Batch norm writes into its running statistics without counting a version."""
_FREED = ("second time", "after they have already been freed", "already been freed")


_SavedTensor: Any = _autograd.SavedTensor
TELLS_HOOKS = hasattr(_SavedTensor, "unpack_hook")
"""Whether a saved tensor tells if hooks have packed it: since torch 2.10."""
_WITH_HOOKS = _SavedTensor if TELLS_HOOKS else None


class PackedRanges:
    """A context that notes which nodes are made under saved-tensor hooks, for versions of torch that do not tell."""

    def __init__(self) -> None:
        self._ranges: list[tuple[int, int]] = []
        self._open: list[int] = []
        self._replaced: list[Replaced] = []

    def __enter__(self) -> None:
        if TELLS_HOOKS:
            return
        hooks: Any = torch.autograd.graph.saved_tensors_hooks
        enter, leave = Replaced(hooks, "__enter__"), Replaced(hooks, "__exit__")

        def entered(context: Any) -> Any:
            self._open.append(next_sequence_nr())
            return enter.before(context)

        def left(context: Any, *error: Any) -> Any:
            if self._open:
                self._ranges.append((self._open.pop(), next_sequence_nr()))
            return leave.before(context, *error)

        self._replaced = [enter.put(entered), leave.put(left)]

    def __exit__(self, *error: object) -> None:
        for one in self._replaced:
            one.restore()
        self._replaced = []

    def __contains__(self, sequence_nr: int) -> bool:
        if self._open and sequence_nr >= self._open[0]:
            return True
        return any(first <= sequence_nr < end for first, end in self._ranges)


class Saved(NamedTuple):
    """A saved tensor at the version that was saved, its value then, and its version now."""

    name: str
    tensor: SeenTensor
    version: int
    value: Value | None
    now: int

    @property
    def is_overwritten(self) -> bool:
        """Whether somebody has written into it since."""
        return self.now != self.version


def saved_by(node: Any, about: About, tensors: Tensors) -> list[Saved] | None:
    """The saved tensors of a node; None if a pass has freed them.

    One that hooks have packed is left out: only its unpack hook could read it. Its own result is detached for this.
    """
    found: list[Saved] = []
    for attribute, raw, name in about.saved:
        try:
            packed = getattr(node, raw)
            if (packed.unpack_hook is not None) if type(packed) is _WITH_HOOKS else _is_packed(packed):
                continue
            value = getattr(node, attribute)
            if value is None:
                continue
        except (RuntimeError, AttributeError) as error:
            message = str(error)
            if any(words in message for words in _FREED):
                return None
            if (versions := VERSIONS.search(message)) is not None:
                now, saved = int(versions[1]), int(versions[2])
                overwritten = _overwritten(node, raw, tensors, saved, now)
                if overwritten is not None:
                    found.append(Saved(name, overwritten, saved, overwritten.values.get(saved), now))
            continue
        if isinstance(value, torch.Tensor):
            seen, version = _seen(value, tensors)
            if attribute in _WRITTEN_UNCOUNTED:
                seen.values[version] = tensors.values.of(value)
            found.append(Saved(name, seen, version, seen.values.get(version), version))
        elif isinstance(value, list | tuple):
            for i, one in enumerate(value):
                if isinstance(one, torch.Tensor):
                    seen, version = _seen(one, tensors)
                    found.append(Saved(f"{name}[{i}]", seen, version, seen.values.get(version), version))
    return found


def _is_packed(raw: Any) -> bool:
    """Whether reading a saved tensor would run an unpack hook of the program's."""
    if type(raw) is _SavedTensor:
        return TELLS_HOOKS and raw.unpack_hook is not None
    if isinstance(raw, list | tuple):
        return any([_is_packed(one) for one in raw])
    return getattr(raw, "unpack_hook", None) is not None


def _seen(tensor: torch.Tensor, tensors: Tensors) -> tuple[SeenTensor, int]:
    """What is known of a tensor that was unpacked: an output comes out as another object than the program's."""
    seen = tensors.find(tensor)
    if seen is None and (grad_fn := grad_fn_of(tensor)) is not None:
        node, output_nr = tensors.node(grad_fn), tensor.output_nr
        known = node.outputs.get(output_nr) or node.inner.get(output_nr)
        version = version_of(tensor)
        if known is None:
            known = node.note_inner(output_nr, unknown(tensor), version)
            known[0].requires_grad = True
        if version not in known[0].values:
            known[0].values[version] = tensors.copied(tensor)
        return known[0], version
    if seen is None and not tensor.dim() and not tensor.requires_grad:  # most likely a number: nothing else holds it
        seen = SeenTensor((), DTYPES[tensor.dtype])
        seen.values[0] = tensors.values.of(tensor)
        return seen, 0
    return tensors.read(tensor)


def _overwritten(node: Any, attribute: str, tensors: Tensors, version: int, now: int) -> SeenTensor | None:
    """The tensor behind a saved one that cannot be unpacked any more, because it was overwritten."""
    known = tensors.node(node)
    if not TELLS_HOOKS:  # before torch 2.10: an operand or a result whose versions are these
        operands = known.operation.operands if known.operation is not None else ()
        for seen, then in (*operands, *known.outputs.values()):
            if then == version and (alive := seen.tensor) is not None and version_of(alive) == now:
                return seen
        return None
    raws = getattr(node, attribute)
    for raw in raws if isinstance(raws, list | tuple) else (raws,):
        tensor = getattr(raw, "data", None)
        if isinstance(tensor, torch.Tensor):
            storage, found = tensor.untyped_storage()._cdata, None
            for seen in tensors.alive():
                alive = seen.tensor
                if alive is None or alive.untyped_storage()._cdata != storage:
                    continue
                if alive.shape == tensor.shape:
                    return seen
                if seen.base is None:  # what is saved is a view of it, such as the transposed weight of a layer
                    found = seen
            if found is not None:
                return found
            if 0 in known.outputs:
                return known.outputs[0][0]
    return None

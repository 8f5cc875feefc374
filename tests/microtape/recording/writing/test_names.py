"""Whatever holds a program's tensors and modules: only tensors get a name, and the name leads to the tensor."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from microtape import nn
from microtape.recording.writing.names.module_names import names_in_frames, our_kinds


class Holder(nn.Module):
    """A module that keeps some of what it uses where `parameters()` does not look."""

    def __init__(self, kept: list[Any]) -> None:
        super().__init__()
        self.own = nn.Parameter(mt.ones(2))
        self.kept = kept


def holders(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inside, max_size=3)
    return (
        several
        | several.map(tuple)
        | several.map(Holder)
        | st.dictionaries(st.sampled_from(["a", "b"]), inside)
        | st.builds(SimpleNamespace, part=inside, parts=several)
    )


tensors = st.builds(lambda: mt.ones(2, requires_grad=True))
values = st.recursive(tensors | st.builds(lambda: nn.Linear(1, 1)) | st.integers(), holders, max_leaves=8)


@given(values, values)
def test_only_tensors_have_names_and_each_leads_to_its_tensor(first: Any, second: Any) -> None:
    variables = {"first": first, "second": second}
    for name, tensor in names_in_frames(sys._getframe(), our_kinds()):
        assert type(tensor) in (mt.Tensor, nn.Parameter)
        if name.startswith(("first", "second")):  # the others are variables of hypothesis
            assert eval(name, {}, variables) is tensor

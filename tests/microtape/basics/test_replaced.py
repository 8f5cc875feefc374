"""An attribute that several replace is what it has been when all of them have given it back, in any order."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.basics.replaced import Replaced


def owners() -> list[Callable[[], Any]]:
    class Base:
        @staticmethod
        def attribute() -> list[int]:
            return []

    class Own(Base):
        @classmethod
        def attribute(cls) -> list[int]:  # type: ignore[override]
            return []

    class Inheriting(Base):
        pass

    module = types.ModuleType("module")
    module.attribute = list  # type: ignore[attr-defined]
    return [lambda: Own, lambda: Inheriting, lambda: module]


def called(found: Any, owner: Any) -> Any:
    return found.__get__(None, owner)() if hasattr(found, "__get__") and isinstance(owner, type) else found()


def one_more(owner: Any, number: int) -> Replaced:
    replaced = Replaced(owner, "attribute")

    def attribute() -> list[int]:
        return [*called(replaced.before, owner), number]

    return replaced.put(staticmethod(attribute) if isinstance(owner, type) else attribute)


@pytest.mark.parametrize("owner_of", owners())
@given(events=st.lists(st.integers(0, 5), max_size=14))
def test_those_that_are_left_are_called_in_order(owner_of: Callable[[], Any], events: list[int]) -> None:
    owner, live = owner_of(), dict[int, Replaced]()
    before = dict(vars(owner))
    for number in events:  # each begins, or ends
        if number in live:
            live.pop(number).restore()
        else:
            live[number] = one_more(owner, number)
        assert owner.attribute() == list(live)
    for one in live.values():
        one.restore()
    assert dict(vars(owner)) == before


@pytest.mark.parametrize("owner_of", owners())
def test_who_is_hidden_comes_back_with_those_above(owner_of: Callable[[], Any]) -> None:
    owner = owner_of()
    below, above = one_more(owner, 0), one_more(owner, 1)
    below.hide()
    assert owner.attribute() == []
    below.show()
    assert owner.attribute() == [0, 1]
    below.hide()
    above.restore()
    below.show()
    assert owner.attribute() == [0]
    below.restore()
    assert owner.attribute() == []


@pytest.mark.parametrize("owner_of", owners())
def test_what_the_program_has_put_there_stays(owner_of: Callable[[], Any]) -> None:
    owner = owner_of()
    before = vars(owner).get("attribute")
    ours = one_more(owner, 0)
    held = owner.attribute
    owner.attribute = theirs = lambda: [*held(), "theirs"]
    assert ours.restore() is False
    assert owner.attribute is theirs
    assert owner.attribute()[-1] == "theirs"
    if before is None:
        del owner.attribute
    else:
        owner.attribute = before


def test_the_code_of_a_function() -> None:
    def function() -> str:
        return "before"

    def other() -> str:
        return "after"

    code = function.__code__
    first, second = Replaced(function, "__code__").put(other.__code__), Replaced(function, "__code__")
    second.put((lambda: "last").__code__)
    assert first.restore() is False
    assert function() == "last"
    assert second.before is code
    assert second.restore() is True
    assert function() == "before"

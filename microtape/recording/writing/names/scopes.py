"""The scopes in which operations ran: the names that a user gives to parts of the program, and modules."""

from __future__ import annotations

from microtape.basics.scope import Scope
from microtape.recording.model.model import ScopeRecord


class Scopes:
    """Numbers scopes in the order in which they are seen, and makes their records."""

    def __init__(self) -> None:
        self.records: list[ScopeRecord] = []
        self._numbers: dict[Scope, int] = {}

    @property
    def objects(self) -> tuple[Scope, ...]:
        """The scopes, by number."""
        return tuple(self._numbers)

    def number_of(self, scope: Scope) -> int:
        """The scope's number; the enclosing scopes have smaller numbers."""
        unknown: list[Scope] = []
        outer: Scope | None = scope
        while outer is not None and outer not in self._numbers:
            unknown.append(outer)
            outer = outer.outer
        for one in reversed(unknown):
            before = None if one.outer is None else self._numbers[one.outer]
            number = self._numbers[one] = len(self.records)
            self.records.append(ScopeRecord(number, one.name, before))
        return self._numbers[scope]

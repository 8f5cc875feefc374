"""Changes of records: each keeps the types, so that the file can be written, but no longer what the records mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from random import Random
from typing import Any

import numpy as np

from microtape.recording.model.model import Recording, Summary
from tests.mutations import variants


class RecordMutator:
    """Changes recordings; a record is also replaced by one of the same type of any of the given recordings."""

    def __init__(self, recordings: list[Recording]) -> None:
        self._pool: dict[type, list[Any]] = {}
        for one in recordings:
            for name in fields(one):
                self._collect(getattr(one, name.name))

    def _collect(self, item: Any) -> None:
        if isinstance(item, np.ndarray) or hasattr(item, "_fields"):
            self._pool.setdefault(type(item), []).append(item)
        if isinstance(item, tuple | Mapping):
            for one in item.values() if isinstance(item, Mapping) else item:
                self._collect(one)

    def changed(self, recording: Recording, random: Random) -> Recording:
        """The recording with a change somewhere."""
        name = random.choice([one.name for one in fields(recording) if one.name not in ("options", "sources")])
        found = getattr(recording, name)
        return replace(recording, **{name: self._changed(found, random)}) if found else recording

    def _changed(self, item: Any, random: Random) -> Any:
        if isinstance(item, Summary | np.ndarray):
            return random.choice(self._pool[np.ndarray]) if random.random() < 0.3 else variants.array(random)
        if hasattr(item, "_fields"):
            if random.random() < 0.15:
                return random.choice(self._pool.get(type(item), [item]))
            at = random.choice(item._fields)
            if random.random() < 0.3:
                other = random.choice(self._pool.get(type(item), [item]))
                return item._replace(**{at: getattr(other, at)})
            return item._replace(**{at: self._changed(getattr(item, at), random)})
        if isinstance(item, Mapping):
            return self._changed_mapping(dict(item), random)
        if isinstance(item, tuple):
            return self._changed_tuple(list(item), random)
        return self._changed_leaf(item, random)

    def _changed_tuple(self, items: list[Any], random: Random) -> tuple[Any, ...]:
        if not items:
            return ()
        at, other = random.randrange(len(items)), random.randrange(len(items))
        kind = random.randrange(9)
        if kind == 0:
            del items[at]
        elif kind == 1:
            items.insert(other, items[at])
        elif kind == 2:
            items[at], items[other] = items[other], items[at]
        elif kind == 3:
            items[at] = items[other]
        elif kind == 4 and random.random() < 0.2:
            items = []
        elif kind == 5 and random.random() < 0.2:
            items *= 40
        else:
            items[at] = self._changed(items[at], random)
        return tuple(items)

    def _changed_mapping(self, items: dict[Any, Any], random: Random) -> dict[Any, Any]:
        if not items:
            return items
        key = random.choice(list(items))
        kind = random.randrange(3)
        if kind == 0:
            del items[key]
        elif kind == 1:
            items[self._changed_leaf(key, random)] = items.pop(key)
        else:
            items[key] = self._changed(items[key], random)
        return items

    def _changed_leaf(self, item: Any, random: Random) -> Any:
        if isinstance(item, bool):
            return not item
        if isinstance(item, int):
            return variants.number(random, item)
        if isinstance(item, str):
            return variants.text(random, item)
        if isinstance(item, float):
            return random.choice(variants.REALS)
        return item  # None: what else may be there, other records tell

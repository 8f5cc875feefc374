"""When a task comes back: what was missed comes at once, and then after ever longer times, until it is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

DAYS = (1, 3, 7, 21)  # between right answers, one after the other; after the last one, the task is known


@dataclass(frozen=True)
class Review:
    """What is remembered of one task."""

    answers: int = 0  # given so far; the seed of the next numbers
    streak: int = 0  # right answers since it was last missed, each when it was due
    due: str | None = None  # when it comes back, in ISO 8601; None if it does not

    def is_due(self, now: datetime) -> bool:
        """Whether the task comes back now."""
        when = self.when
        return when is not None and when <= now

    @property
    def when(self) -> datetime | None:
        """When it comes back; None if it does not."""
        return datetime.fromisoformat(self.due) if self.due is not None else None

    def missed(self, now: datetime) -> Review:
        """Afterwards, if an answer of the same idea was missed somewhere: it comes back, if it is not due already."""
        return self if self.is_due(now) else replace(self, streak=0, due=_text(now))

    def answered(self, right: bool, now: datetime) -> Review:
        """Afterwards, with one answer more. A right one counts only if the task was due: practice moves nothing."""
        later = replace(self, answers=self.answers + 1)
        if not right:
            return replace(later, streak=0, due=_text(now))
        if not self.is_due(now):
            return later
        wait = DAYS[self.streak : self.streak + 1]
        return replace(later, streak=self.streak + 1, due=_text(now + timedelta(days=wait[0])) if wait else None)


def now() -> datetime:
    """The present moment, with its time zone."""
    return datetime.now().astimezone()


def review_in(entry: Any) -> Review:
    """The review in an entry of the progress file, whatever the entry holds."""
    if not isinstance(entry, dict):
        return Review()
    counts = {name: entry.get(name) for name in ("answers", "streak")}
    return Review(
        due=_moment(entry.get("due")),
        **{name: count if type(count) is int and count >= 0 else 0 for name, count in counts.items()},
    )


def _moment(value: Any) -> str | None:
    try:
        return _text(datetime.fromisoformat(value).astimezone())
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")

"""Waiting in tests of the terminal program: for a condition, never for a time."""


async def until(pilot, condition):
    """Wait for a worker: a script is recorded or checked in a process of its own, an array is searched in a thread."""
    for _ in range(4000):
        await pilot.pause(0.02)
        if condition():
            return
    raise AssertionError("it never happened")

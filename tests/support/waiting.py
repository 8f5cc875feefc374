"""Waiting in tests of the terminal program: for a condition, never for a fixed time."""


async def until(pilot, condition):
    """Wait for background work: scripts are recorded and checked in other processes, arrays searched in threads."""
    for _ in range(4000):
        await pilot.pause(0.02)
        if condition():
            return
    raise AssertionError("the condition never became true")

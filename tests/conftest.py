import gc
import signal

import pytest

COLLECTOR = gc.get_threshold()


def pytest_configure():
    """Heed Ctrl-C: a shell that runs tests in the background has them ignore it, and what they start inherits that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    """Undo what the stepper does to the garbage collector, which is meant for a process of its own.

    Frozen objects are never collected, and `gc.get_freeze_count` visits each of them whenever a recording is made,
    saved or loaded: after some hundred steppers that took a second.
    """
    gc.unfreeze()
    gc.set_threshold(*COLLECTOR)
    gc.enable()

import asyncio
import gc
import os
import signal
import sys
import tempfile
from collections import Counter
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

from microtape.recording.findings import find
from microtape.recording.writing import faults
from microtape.tape.watch import watch

COLLECTOR = gc.get_threshold()
TRACE = sys.gettrace()
DATA = tempfile.TemporaryDirectory(prefix="microtape-tests-")  # of this process, and of what its tests start
os.environ["MICROTAPE_DATA"] = DATA.name  # the user's own files stay as they are

FAULTS = []  # of microtape, in this test

UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a machine may be busy
settings.register_profile("quick", max_examples=20, **UNTIMED)
settings.register_profile("full", max_examples=40, **UNTIMED)  # .ci/run: 60 with those of the README's command
settings.register_profile("long", max_examples=2_000, **UNTIMED)  # .ci/long
settings.load_profile("quick")


def pytest_configure():
    """Heed Ctrl-C and the end of a terminal: a shell that runs tests in the background has them ignore these signals.

    What the tests start inherits that. And begin without an event loop: pytest-asyncio would make one, and put it back
    after each test until an `asyncio.run` drops it, and nobody closes it.
    """
    asyncio.set_event_loop(None)
    default = {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL, "SIGQUIT": signal.SIG_DFL}
    for name, handler in default.items():
        number = getattr(signal, name, None)  # Windows has only the first
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def noted(error, described=faults.described):
    FAULTS.append(described(error))
    return FAULTS[-1]


faults.described = find.described = noted


@pytest.fixture(autouse=True)
def _no_faults(request):
    """Fail where microtape has failed: it makes a line or a notice of that, so that the user's program goes on."""
    FAULTS.clear()
    yield
    assert not FAULTS or request.node.get_closest_marker("faults"), f"microtape failed: {set(FAULTS)}"


@pytest.hookimpl(tryfirst=True)  # before -m is heeded
def pytest_collection_modifyitems(items):
    """Of a test that is `sampled(n)`, mark all cases slow but the first and every n-th after it."""
    seen = Counter()
    for item in items:
        if sampled := item.get_closest_marker("sampled"):
            test = item.nodeid.partition("[")[0]
            if seen[test] % sampled.args[0]:
                item.add_marker("slow")
            seen[test] += 1


def pytest_runtest_setup(item):
    """Skip what is marked `parity` where there is no torch, or let it fail if MICROTAPE_REQUIRE_TORCH=1."""
    if item.get_closest_marker("parity") and find_spec("torch") is None:
        if os.environ.get("MICROTAPE_REQUIRE_TORCH") == "1":
            pytest.fail("torch is not installed, and MICROTAPE_REQUIRE_TORCH=1 forbids skipping the parity tests")
        pytest.skip("torch is not installed (pip install 'microtape[parity]')")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    """Undo what the stepper does to the garbage collector, which is meant for a process of its own.

    Frozen objects are never collected, and `gc.get_freeze_count` visits each of them whenever a recording is made,
    saved or loaded: after some hundred steppers that took a second.
    """
    gc.unfreeze()
    gc.set_threshold(*COLLECTOR)
    gc.enable()
    left = [one for one in watch.watchers if type(one).__name__ != "_Packer"]  # a thread may end within its hooks
    watch.set(())
    assert not left, f"a recorder goes on after its test: {left}"
    trace = sys.gettrace()
    sys.settrace(TRACE)
    assert trace is TRACE, f"a trace function goes on after its test, and frames hold what they name: {trace}"
    if (overrides := sys.modules.get("torch.overrides")) is not None:
        modes = overrides._get_current_function_mode_stack()
        for _ in modes:
            overrides._pop_mode()
        assert not modes, f"a mode of torch's goes on after its test: {modes}"

import os
from importlib.util import find_spec
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """Mark the tests of this folder. Without torch they are skipped, or fail if MICROTAPE_REQUIRE_TORCH=1."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.parity)


def pytest_runtest_setup(item):
    if item.get_closest_marker("parity") and find_spec("torch") is None:
        if os.environ.get("MICROTAPE_REQUIRE_TORCH") == "1":
            pytest.fail("torch is not installed, and MICROTAPE_REQUIRE_TORCH=1 forbids skipping the parity tests")
        pytest.skip("torch is not installed (pip install 'microtape[parity]')")

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """Mark the tests of this folder."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.parity)

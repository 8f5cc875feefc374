from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """Mark the tests of this folder. torch itself imports what it calls deprecated, such as `torch.jit.script`."""
    here = Path(__file__).parent
    ours = {path for path in {item.path for item in items} if here in path.parents}
    for item in items:
        if item.path in ours:
            item.add_marker(pytest.mark.parity)
            item.add_marker(pytest.mark.filterwarnings("ignore:.*torch.jit.script"))

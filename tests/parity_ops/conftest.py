import pytest

from tests.parity.conftest import pytest_runtest_setup  # noqa: F401 - the same rule about a missing torch holds here


@pytest.fixture(scope="session")
def torch():
    """torch in one thread: its others take longer to wake up than these small calls to compute."""
    import torch

    torch.set_num_threads(1)
    return torch

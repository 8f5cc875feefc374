import pytest


@pytest.fixture(scope="session")
def torch():
    """torch in one thread: its others take longer to wake up than these small calls to compute."""
    import torch

    torch.set_num_threads(1)
    return torch

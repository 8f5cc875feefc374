import pytest


@pytest.fixture
def torch():
    """The module torch: imported when a test asks for it, not when tests are collected."""
    import torch

    return torch

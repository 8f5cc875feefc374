import pytest

from tui.guarded.app import GuardedApp


@pytest.fixture(autouse=True)
def _no_app_survives_an_error(monkeypatch):
    """Let an error in an app end its test; a user's app tells of it, and goes on."""
    monkeypatch.setattr(GuardedApp, "SURVIVES", False)

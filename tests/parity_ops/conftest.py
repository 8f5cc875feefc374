from parity.conftest import pytest_runtest_setup  # noqa: F401 - the same rule about a missing torch holds here

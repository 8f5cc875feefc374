"""How places in notebooks and in sessions of IPython are named."""

import sys
import types

import pytest

from microtape.basics.call_site import CallSite, file_and_line, in_cell, session_cell


@pytest.fixture
def session(monkeypatch):
    """A session that has run a cell as `In [3]`."""
    compiler = types.SimpleNamespace(_filename_map={"/tmp/ipykernel_1/12.py": 3})
    ipython = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(compile=compiler))
    monkeypatch.setitem(sys.modules, "IPython", ipython)


@pytest.mark.usefixtures("session")
def test_a_cell_of_a_session_is_named_by_its_number():
    assert session_cell("/tmp/ipykernel_1/12.py") == "cell 3"
    assert session_cell("model.py") == ""
    code = compile("1 + 1", "/tmp/ipykernel_1/12.py", "exec")
    assert CallSite(code, 0).describe().startswith("cell 3, line 1")


@pytest.mark.parametrize("module", [None, types.ModuleType("IPython"), types.SimpleNamespace(get_ipython=lambda: None)])
def test_without_a_session_there_are_no_cells(monkeypatch, module):
    monkeypatch.setitem(sys.modules, "IPython", module)
    assert session_cell("/tmp/ipykernel_1/12.py") == ""


def test_a_line_of_a_cell_is_named_with_a_word():
    assert file_and_line("cell 3", 2) == file_and_line("book.ipynb: cell 3", 2) == "cell 3, line 2"
    assert file_and_line("model.py", 2) == "model.py:2"
    assert in_cell("cell 3.py") == in_cell("a cell 3") == ""

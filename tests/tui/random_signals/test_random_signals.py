"""Random signals under a shell spoil nothing; and what once did is played again."""

import shlex
import sys

import pytest

from tests.support.pseudo_terminal import needs_terminal
from tests.tui.random_signals import play as playing
from tests.tui.random_signals.__main__ import in_a_folder
from tests.tui.random_signals.plan import Event, Plan, random_plan

pytestmark = [needs_terminal, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]

ONCE_WRONG = {
    "Ctrl+Z on a page over the stepper": ("example mlp", "keys n enter ?, Ctrl+Z, keys escape, Ctrl+Z"),
    "a stop that nobody announced, and keys": ("example mlp", "keys right, SIGSTOP, keys right, SIGSTOP bg, Ctrl+Z"),
    "continued, though it goes on": ("example mlp", "SIGCONT, keys right, SIGCONT"),
    "a lesson whose terminal was too small": ("typed matmul", "typed, size 10x4, size 80x24, typed, SIGTSTP, typed"),
}  # fmt: skip
CARELESS = """
import signal, sys, time
print("\\x1b[?1049h\\x1b[?25l\\x1b[1;1H", flush=True)
time.sleep(600)
"""


def events(text):
    return [Event(*one.split(" ", 1)) for one in text.split(", ")]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ONCE_WRONG)
def test_what_once_went_wrong(name):
    subject, text = ONCE_WRONG[name]
    assert in_a_folder(Plan(subject, events(text), "SIGTERM process", early=False, returns=False)) is None


@pytest.mark.slow
@pytest.mark.parametrize("how", ["SIGINT job", "SIGTERM job", "SIGQUIT group", "SIGHUP process", "closed"])
@pytest.mark.parametrize("subject", ["example mlp", "program endless"])
def test_each_end_while_a_page_is_open(how, subject):
    assert in_a_folder(Plan(subject, events("keys right, keys ?, SIGTSTP"), how, early=False, returns=False)) is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_signals(seed):
    assert in_a_folder(random_plan(seed, 12)) is None


def test_equal_seeds_give_equal_plans():
    assert random_plan(3, 50) == random_plan(3, 50) != random_plan(4, 50)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("happens", "ending", "wrong"),
    [
        ("SIGTSTP", "SIGTERM process", "the terminal is not whole (event 0, SIGTSTP )"),
        ("pause 0", "SIGTERM process", "the terminal is not whole"),
        ("SIGSTOP", "SIGTERM process", "it does not take the terminal again (event 0, SIGSTOP )"),
    ],
)
def test_a_careless_program_is_found_out(monkeypatch, happens, ending, wrong):
    monkeypatch.setattr(playing, "_command", lambda subject, folder: shlex.join([sys.executable, "-c", CARELESS]))
    monkeypatch.setattr(playing, "PATIENCE", 3.0)
    found = in_a_folder(Plan("example mlp", events(happens), ending, early=False, returns=False))
    assert found is not None
    assert found.partition("\n")[0] == wrong  # then, where its threads are

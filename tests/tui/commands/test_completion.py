"""`microtape completion` prints a script by which each shell completes commands, options, their values and files."""

import os
import shutil
import subprocess

import pytest

from tui.commands.cli import main
from tui.shell.exits import Exit

BASH = """
eval "$(cat completion)"
words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _shtab_microtape; echo "${COMPREPLY[*]}"; }
"""
FISH = """
source completion
function complete_words; complete -C "$argv" | string replace -r '\\t.*' '' | string join ' '; end
"""
ASKED = (
    ("microtape d", "demo diagnose diff draw"),
    ("microtape step --the", "--theme"),
    ("microtape trace --eng", "--engine"),
    ("microtape step --theme li", "light"),
    ("microtape demo ml", "mlp"),
    ("microtape completion z", "zsh"),
    ("microtape step tra", "train.py"),
    ("microtape draw train.py --out gra", "graph.svg"),
)


def needs(shell):
    missing = not os.environ.get("MICROTAPE_NO_SKIP") and not shutil.which(shell)
    return pytest.mark.skipif(missing, reason=f"{shell} is not installed")


@pytest.fixture
def answers(tmp_path, capfd):
    """A function that runs a program in a shell, in a folder with some files and the completion for this shell."""

    def run(shell, *program):
        assert main(["completion", shell]) == Exit.OK
        (tmp_path / "completion").write_text(capfd.readouterr().out)
        for name in ("train.py", "graph.svg"):
            (tmp_path / name).touch()
        environment = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        done = subprocess.run(
            [shell, *program], capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120
        )
        assert not done.stderr
        return done.stdout.splitlines()

    return run


def in_any_order(lines):
    return [sorted(line.split()) for line in lines]


@needs("bash")
def test_bash_completes_commands_options_values_and_files(answers):
    asked = "\n".join(f"words {words}" for words, _ in ASKED)
    assert in_any_order(answers("bash", "--norc", "-c", BASH + asked)) == in_any_order(one for _, one in ASKED)


@needs("fish")
def test_fish_completes_commands_options_values_and_files(answers):
    asked = "\n".join(f"complete_words '{words}'" for words, _ in ASKED)
    assert in_any_order(answers("fish", "-c", FISH + asked)) == in_any_order(one for _, one in ASKED)


@needs("zsh")
def test_zsh_takes_the_script_for_the_completion_of_the_command(answers):
    program = 'autoload -U compinit; compinit -u -D; eval "$(cat completion)"; echo $_comps[microtape]'
    assert answers("zsh", "-f", "-c", program) == ["_shtab_microtape"]


def test_another_shell_is_refused_in_one_line(capfd):
    assert main(["completion", "csh"]) == Exit.BAD_INPUT
    said = capfd.readouterr().err
    assert "invalid choice: 'csh'" in said
    assert said.count("\n") == 1

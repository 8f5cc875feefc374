"""The process in which files are checked ends with the one that has asked for it."""

import os
import select
import signal
import subprocess
import sys

import pytest

from tests.support.pseudo_terminal import PATIENCE, ROOT

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs signals")
CHECKER = """
import sys
from lessons.checking.checking_process import CheckingProcess
job = {"memory": 1 << 33, "check": sys.argv[1], "files": [(sys.argv[2], None)], "names": [], "seeds": [], "right": {}}
CheckingProcess().run(job, 1000, last=True)
"""
ENDLESS = """
import os
os.write(os.open({fifo!r}, os.O_WRONLY), b".")
while True:
    pass
"""


@POSIX
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGHUP"])
def test_a_file_that_never_ends_does_not_outlive_the_checker(name, tmp_path):
    fifo, check, mine = (str(tmp_path / name) for name in ("alive", "check.py", "mine.py"))
    os.mkfifo(fifo)
    (tmp_path / "check.py").touch()
    (tmp_path / "mine.py").write_text(ENDLESS.format(fifo=fifo))
    alive = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    command = [sys.executable, "-c", CHECKER, check, mine]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}) as checker:
        assert select.select([alive], [], [], PATIENCE)[0]
        assert os.read(alive, 1) == b"."
        checker.send_signal(getattr(signal, name))
    assert select.select([alive], [], [], PATIENCE)[0], "the file is still running"
    assert os.read(alive, 1) == b""
    os.close(alive)

"""The sessions of `microtape serve`: what a page may send, how a stepper ends, how many there may be."""

import asyncio
import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from microtape import save
from tests.reliability.sessions import has_ended, memory, sessions_of
from tests.support.recordings import handmade
from tests.support.serving import PATIENCE, free_port, serving
from tui.shell.exits import Exit
from tui.stepper.launch import command_line

INSTALLED = importlib.util.find_spec("textual_serve") is not None
pytestmark = pytest.mark.skipif(
    not INSTALLED and not os.environ.get("MICROTAPE_NO_SKIP"), reason="the extra `serve` is not installed"
)


@pytest.fixture(autouse=True)
def no_trouble(tmp_path, monkeypatch):
    """A page that is closed is nobody's mistake: no stepper reports trouble."""
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path / "data"))
    yield
    reports = sorted((tmp_path / "data" / "troubles").glob("*"))
    assert not reports, reports[0].read_text()


ECHO = """\
import os

def say(data):
    os.write(1, b"D" + len(data).to_bytes(4, "big") + data)

os.write(1, b"__GANGLION__\\n")
say("{COLUMNS}x{ROWS}".format_map(os.environ).encode())
while (data := os.read(0, 1 << 16)) and b'"quit"' not in data:
    say(data)
"""
STUCK = "import os, time; os.write(1, b'__GANGLION__\\n'); time.sleep(1e6)"
ENDS = "import os; os.write(1, b'__GANGLION__\\n')"
MALFORMED = [
    "", "{", "7", "null", "[]", "{}", '{"a": 1}', '"resize"', "[7]", "[[]]",
    '["stdin"]', '["stdin", 7]', '["stdin", null]',
    '["resize"]', '["resize", 7]', '["resize", {}]', '["resize", {"width": "80", "height": 24}]',
    '["resize", {"width": 1e999, "height": 24}]', '["resize", {"width": NaN, "height": 24}]',
    '["ping"]', '["ping", {}]',
    '["focus", 1, 2]', '["quit"]', '["nothing", {}]', "[" * 100_000, b"\xff\xfe", b'["stdin", 7]', "1" * 5000,
]  # fmt: skip


@contextlib.asynccontextmanager
async def page(program, query=""):
    """A socket to a server whose steppers are replaced by a program, as a page has it."""
    from aiohttp import ClientSession, web

    from tui.commands.serve import StepperServer

    made = StepperServer([sys.executable, "-c", program], free_port(), "run.py")
    runner = web.AppRunner(made.application())
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", made.port).start()
        async with ClientSession() as client:
            origin = {"Origin": f"http://127.0.0.1:{made.port}"}
            async with client.ws_connect(f"{made.url}ws{query}", headers=origin) as socket:
                yield socket
    finally:
        await runner.cleanup()


async def heard(socket, part):
    """All that arrives up to a message with this part."""
    said = b""
    async with asyncio.timeout(PATIENCE):
        while part not in said:
            data = await socket.receive()
            assert isinstance(data.data, (bytes, str)), data
            said += data.data if isinstance(data.data, bytes) else data.data.encode()
    return said


@pytest.mark.parametrize(
    ("query", "size"),
    [
        ("?width=99999999&height=99999999", b"500x200"),
        ("?width=-5&height=0", b"1x1"),
        ("?width=x&height=" + "9" * 5000, b"80x24"),
        ("", b"80x24"),
    ],
)
async def test_a_stepper_begins_with_a_size_within_bounds(query, size):
    async with page(ECHO, query) as socket:
        assert await heard(socket, b"x") == size


async def test_a_stepper_is_resized_within_bounds():
    async with page(ECHO) as socket:
        for width, height in ((99999999, 99999999), (-7, 10**30), (120, 40)):
            await socket.send_json(["resize", {"width": width, "height": height}])
        said = await heard(socket, b'"width": 120, "height": 40')
        assert b'"width": 500, "height": 200' in said
        assert b'"width": 1, "height": 200' in said
        assert b"9999" not in said


async def test_malformed_messages_are_left_out_without_a_word(capfd, caplog):
    async with page(ECHO) as socket:
        await heard(socket, b"80x24")
        for message in MALFORMED:
            await (socket.send_bytes if isinstance(message, bytes) else socket.send_str)(message)
        await socket.send_json(["stdin", "after\ud800wards"])
        assert await heard(socket, b"wards") == b"D\0\0\0\nafterwards"
        await socket.send_json(["ping", "1" * 1000])
        assert json.loads(await heard(socket, b"pong")) == ["pong", "1" * 64]
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


async def test_a_message_without_end_closes_the_socket_and_nothing_else(capfd):
    async with page(ECHO) as socket:
        await heard(socket, b"80x24")
        await socket.send_str("x" * (2 << 20))
        async with asyncio.timeout(PATIENCE):
            assert (await socket.receive()).data == 1009, "too big"
    assert capfd.readouterr() == ("", "")


async def test_a_request_that_opens_no_socket_is_refused(capfd, caplog):
    from aiohttp import ClientSession

    async with page(ECHO) as socket:
        url = str(socket._response.url)
        async with ClientSession() as client:
            answer = await client.get(url, headers={"Origin": url.rpartition("/")[0].rpartition("/")[0]})
            assert answer.status == 400
    assert "Traceback" not in "".join(capfd.readouterr()) + caplog.text


async def test_when_the_stepper_ends_its_page_is_closed():
    async with page(ENDS) as socket, asyncio.timeout(PATIENCE):
        assert (await socket.receive()).data == 1000


async def test_so_it_is_when_the_stepper_has_ended_before_anybody_listens(monkeypatch):
    from tui.shell.web_session import Session

    open_process = Session._open_app_process

    async def opened_and_ended(self, width=80, height=24):
        process = await open_process(self, width, height)
        await process.wait()
        while not process.stdout._eof:
            await asyncio.sleep(0.01)
        return process

    monkeypatch.setattr(Session, "_open_app_process", opened_and_ended)
    async with page(ENDS) as socket, asyncio.timeout(PATIENCE):
        assert (await socket.receive()).data == 1000


@pytest.mark.parametrize("program", [STUCK, "import time; time.sleep(1e6)"])
async def test_a_stepper_that_does_not_quit_is_ended_with_its_page(monkeypatch, capfd, caplog, program):
    monkeypatch.setattr("tui.shell.web_session.GRACE", 0.1)
    async with page(program) as socket, asyncio.timeout(PATIENCE):
        await socket.close()
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_stepper_ends_when_its_server_was_killed(tmp_path):
    save(handmade.diamond(), tmp_path / "run.tape")
    from tui.shell.web_session import DRIVER

    environment = {**os.environ, "TEXTUAL_DRIVER": DRIVER, "MICROTAPE_REMEMBER": "0"}
    with subprocess.Popen(
        command_line("step", str(tmp_path / "run.tape")),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
    ) as stepper:  # fmt: skip
        try:
            assert stepper.stdout.readline() == b"__GANGLION__\n"
            stepper.stdin.close()  # what the death of a server does
            while os.read(stepper.stdout.fileno(), 1 << 16):
                pass
            assert stepper.wait(PATIENCE) in (0, 1)
        finally:
            stepper.kill()


async def open_page(client, url, pages):
    """Open a page, with its first screen; a task of `pages` reads on, because a page that is silent is closed."""

    async def read_on():
        async for _ in socket:
            pass

    origin = {"Origin": f"http://{urlsplit(url).netloc}"}
    socket = await client.ws_connect(f"{url}ws?width=120&height=40", headers=origin)
    await heard(socket, b"step 0 of 5")
    pages.create_task(read_on())


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux")
@pytest.mark.slow
@pytest.mark.parametrize(("count", "ending"), [(2, signal.SIGINT), (20, signal.SIGKILL)])
async def test_all_steppers_end_with_their_server(tmp_path, count, ending, record_property):
    from aiohttp import ClientSession

    with serving(tmp_path) as (url, server):
        async with ClientSession() as client, asyncio.TaskGroup() as pages:
            for _ in range(count):
                await open_page(client, url, pages)
            sessions = sessions_of(server.pid)
            assert len(sessions) == count
            megabytes = sum(map(memory, (server.pid, *sessions))) / 1e6
            record_property("megabytes", megabytes)
            print(f"{count} sessions: {megabytes:,.0f} MB")
            assert megabytes / count < 200
            server.send_signal(ending)
            end = time.monotonic() + PATIENCE
            while not all(map(has_ended, sessions)):
                assert time.monotonic() < end
                await asyncio.sleep(0.05)
        assert server.wait(PATIENCE) == (Exit.OK if ending == signal.SIGINT else -ending)

"""`microtape serve`: the stepper in a browser, for this machine and this user alone."""

import http.client
import importlib.util
import os
import signal
import socket
import sys
import time
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from microtape import save
from tests.support.browser import Browser, needs_browser
from tests.support.recordings import handmade
from tests.support.serving import serving
from tui.commands.cli import main
from tui.shell.exits import Exit

INSTALLED = importlib.util.find_spec("textual_serve") is not None
pytestmark = pytest.mark.skipif(
    not INSTALLED and not os.environ.get("MICROTAPE_NO_SKIP"), reason="the extra `serve` is not installed"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address that a server of the diamond prints."""
    with serving(tmp_path_factory.mktemp("serve")) as (url, server):
        yield url
        server.send_signal(signal.SIGINT)
        said = server.communicate(timeout=120)[1]
        assert said == "microtape: open this address in a browser on this machine; Ctrl-C stops the server\n"
        assert server.returncode == Exit.OK


def ask(url, **headers):
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection("127.0.0.1", parts.port, timeout=120)) as connection:
        connection.request("GET", parts.path, headers={name.replace("_", "-"): text for name, text in headers.items()})
        with connection.getresponse() as answer:
            page = "" if answer.status == 101 else answer.read().decode("utf-8", "replace")
            return answer.status, answer.getheader("Content-Security-Policy") or "", page


SOCKET = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


def test_the_page_comes_with_its_own_font_and_script_and_may_load_nothing_else(address):
    status, policy, page = ask(address)
    assert status == 200
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    hosts = {part.split("/")[2] for part in page.replace('"', " ").split() if "://" in part}
    assert hosts == {urlsplit(address).netloc}


@pytest.mark.parametrize("path", ["", "x", "static/js/textual.js", "ws"])
def test_without_the_token_nobody_comes_in(address, path):
    origin = address.rpartition("/")[0].rpartition("/")[0]
    assert ask(f"{origin}/{path}")[0] == 403
    assert ask(f"{origin}/wrong/{path}")[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1"])
def test_another_name_for_this_machine_is_refused(address, host):
    assert ask(address, Host=host)[0] == 403


def test_a_socket_is_opened_by_our_own_page_alone(address):
    origin = "http://" + urlsplit(address).netloc
    assert ask(address + "ws", **SOCKET)[0] == 403, "no page at all"
    assert ask(address + "ws", **SOCKET, Origin="http://evil.example")[0] == 403
    assert ask(address + "ws", **SOCKET, Origin="null")[0] == 403
    assert ask(address + "ws", **SOCKET, Origin=origin)[0] == 101


@needs_browser
def test_in_a_browser_it_is_the_stepper_which_takes_keys_without_a_click(address, tmp_path):
    browser = Browser(tmp_path)
    try:
        browser.open(address)
        end = time.monotonic() + 30
        while "-first-byte" not in browser.evaluate("document.body.className"):
            assert time.monotonic() < end
            time.sleep(0.1)
        assert browser.evaluate("document.activeElement.tagName") == "TEXTAREA"
        while "-closed" not in browser.evaluate("document.body.className"):
            assert time.monotonic() < end
            time.sleep(0.1)
            browser.press("q")
        assert {urlsplit(one).netloc for one in browser.requests if one.startswith("http")} == {
            urlsplit(address).netloc
        }
        assert not [one for one in browser.complaints if "Security" in one or "Refused" in one]
    finally:
        browser.close()


def test_a_port_that_is_taken_is_one_line(tmp_path, capfd):
    save(handmade.diamond(), tmp_path / "run.tape")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        port = one.getsockname()[1]
        assert main(["serve", str(tmp_path / "run.tape"), "--port", str(port)]) == Exit.BAD_INPUT
    assert capfd.readouterr().err.startswith(f"microtape: port {port} cannot be used: ")
    assert main(["serve", str(tmp_path / "run.tape"), "--port", "0"]) == Exit.BAD_INPUT


def test_without_the_extra_it_says_what_to_install(tmp_path, capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    monkeypatch.delitem(sys.modules, "tui.commands.serve", raising=False)
    assert main(["serve", "run.tape"]) == Exit.BAD_INPUT
    assert capfd.readouterr().err == "microtape: serve needs more packages: pip install 'microtape[serve]'\n"

"""`microtape serve`: the stepper in a browser on this machine, through textual-serve.

Note [Who may come in]
  Whoever drives the stepper can write files and start an editor. textual-serve lets in every page and every name: a web
  page from anywhere could open its socket, in the user's own browser. So it listens on the loopback address alone, and
  before anything else of a request is looked at, its Host has to be that address (a name that somebody has pointed
  there is refused, and so is "localhost"), its address has to begin with a token that is made anew each time, and a
  socket has to come from a page of ours, by its Origin. The page has a font and a script of its own, and is told to
  load nothing from elsewhere.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import socket
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from tui.shell.exits import CommandError, say
from tui.shell.opening import Origin, choose_passes, open_origin
from tui.stepper.launch import command_line

try:
    import aiohttp_jinja2
    import jinja2
    from aiohttp import web
    from textual_serve.server import Server
except ImportError:
    raise CommandError("serve needs more packages: pip install 'microtape[serve]'") from None

LOOPBACK = "127.0.0.1"
PAGE = Path(__file__).parent / "web"
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self' ws://{host}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def serve(arguments: argparse.Namespace) -> int:
    """Record the script, if it is one, and serve the stepper on the recording until Ctrl-C."""
    from microtape.recording.file.tape_file import save

    _check_free(arguments.port)
    recording, code = open_origin(Origin.asked_for(arguments), quiet=True)
    passes = choose_passes(recording, arguments.passes, arguments.until)
    with tempfile.TemporaryDirectory(prefix="microtape-") as folder:
        path = os.path.join(folder, f"{Path(recording.title).stem or 'run'}.tape")
        save(recording, path)
        options = ["--pass", str(recording.passes[passes[0]].index + 1)] if len(passes) == 1 else []
        options += [f"--theme={arguments.theme}"] if arguments.theme else []
        options += ["--ascii"] if arguments.ascii else []
        made = StepperServer(command_line("step", path, *options), arguments.port, recording.title)
        print(made.url, flush=True)
        say("open this address in a browser on this machine; Ctrl-C ends it")
        web.run_app(made.application(), host=LOOPBACK, port=arguments.port, print=None, access_log=None)
    return code


def _check_free(port: int) -> None:
    """Before a script runs: it may take an hour."""
    if not 0 < port < 65536:
        raise CommandError(f"--port {port}: a port is a number from 1 to 65535")
    with socket.socket() as one:
        if os.name != "nt":
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((LOOPBACK, port))
        except OSError as error:
            raise CommandError(f"port {port} cannot be used: {error.strerror}; --port takes another") from None


class StepperServer(Server):
    """textual-serve's server, behind a door. See Note [Who may come in]."""

    def __init__(self, command: list[str], port: int, title: str) -> None:
        shell = subprocess.list2cmdline(command) if os.name == "nt" else shlex.join(command)
        super().__init__(shell, host=LOOPBACK, port=port, title=title, templates_path=PAGE)
        self.token = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        """The address of the page, with the token."""
        return f"{self.public_url}/{self.token}/"

    def application(self) -> web.Application:
        """The same routes as textual-serve's, behind the token."""
        app = web.Application(middlewares=[self.door])
        aiohttp_jinja2.setup(app, loader=jinja2.FileSystemLoader(PAGE), autoescape=True)
        start = f"/{self.token}"
        app.add_routes(
            [
                web.get(f"{start}/", self.handle_index, name="index"),
                web.get(f"{start}/ws", self.handle_websocket, name="websocket"),
                web.get(f"{start}/download/{{key}}", self.handle_download, name="download"),
                web.static(f"{start}/static", self.statics_path, name="static"),
            ]
        )
        return app

    @web.middleware
    async def door(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let in who may come in, and tell the page what it may load."""
        host = f"{LOOPBACK}:{self.port}"
        given = request.path.split("/")[1]
        if request.host != host:
            raise web.HTTPForbidden(text=f"This is served to this machine alone, as http://{host}.\n")
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            raise web.HTTPForbidden(text="Open the whole address that `microtape serve` printed, its token included.\n")
        is_socket = request.path.endswith("/ws")
        if (is_socket or "Origin" in request.headers) and request.headers.get("Origin") != f"http://{host}":
            raise web.HTTPForbidden(text="Only the page of this server may talk to it.\n")
        response = await handler(request)
        if not response.prepared:
            response.headers["Content-Security-Policy"] = POLICY.format(host=host)
            response.headers["Referrer-Policy"] = "no-referrer"
            response.headers["X-Content-Type-Options"] = "nosniff"
            response.headers["Cache-Control"] = "no-store"
        return response

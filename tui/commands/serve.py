"""`microtape serve`: the stepper in a browser on this machine, through textual-serve.

Note [Access control]
  A person in control of the stepper can write files and start an editor. textual-serve accepts requests from every web
  page and for every host name: any page open in the user's browser could connect to its socket. Our server therefore
  listens on the loopback address alone and checks each request first. Its Host must be that address (other names that
  resolve to it are refused, "localhost" included). Its path must begin with a token that is new in every run. A
  WebSocket must have our page as its Origin. The page brings its own font and script, and its Content-Security-Policy
  forbids loading anything else.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import socket
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from tui.shell.exits import CommandError, say
from tui.shell.opening import Origin, choose_passes, open_origin
from tui.shell.printing import put
from tui.stepper.launch import command_line

try:
    import aiohttp_jinja2
    import jinja2
    from aiohttp import web
    from textual_serve.server import Server, to_int

    from tui.shell.web_session import MOST_CHARACTERS, Session
except ImportError:
    raise CommandError("serve needs more packages: pip install 'microtape[serve]'") from None

LOOPBACK = "127.0.0.1"
PAGE = Path(__file__).parent / "web"
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self' ws://{host}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def run(arguments: argparse.Namespace) -> int:
    """Run the command: serve the stepper on the recording until Ctrl-C."""
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
        put(made.url, flush=True)
        say("open this address in a browser on this machine; Ctrl-C stops the server")
        web.run_app(made.application(), host=LOOPBACK, port=arguments.port, print=None, access_log=None)
    return code


def _check_free(port: int) -> None:
    """Raise CommandError if the port cannot be used. Called before the script runs, which may take an hour."""
    if not 0 < port < 65536:
        raise CommandError(f"--port {port}: a port is a number from 1 to 65535")
    with socket.socket() as one:
        if os.name != "nt":
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((LOOPBACK, port))
        except OSError as error:
            raise CommandError(
                f"port {port} cannot be used: {error.strerror}; choose another port with --port"
            ) from None


class StepperServer(Server):
    """textual-serve's server with access control; see Note [Access control]."""

    def __init__(self, command: list[str], port: int, title: str) -> None:
        super().__init__("", host=LOOPBACK, port=port, title=title, templates_path=PAGE)
        self.token = secrets.token_urlsafe(24)
        self._words = command
        self._sessions: set[Session] = set()

    @property
    def url(self) -> str:
        """The address of the page, with the token."""
        return f"{self.public_url}/{self.token}/"

    def application(self) -> web.Application:
        """The routes of textual-serve, below the token."""
        app = web.Application(middlewares=[self.guard])
        app.on_shutdown.append(self.stop_sessions)
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

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Run a stepper for a page, as long as the page is open."""
        page = web.WebSocketResponse(heartbeat=15, max_msg_size=MOST_CHARACTERS)
        if not page.can_prepare(request):
            raise web.HTTPBadRequest(text="Only the page connects here.\n")
        await page.prepare(request)
        session = Session(self._words, page, self.download_manager)
        self._sessions.add(session)
        try:
            width, height = (request.query.get(name, "") for name in ("width", "height"))
            await session.start(to_int(width, 80), to_int(height, 24))
            await session.follow()
        finally:
            await session.stop()
            self._sessions.discard(session)
        return page

    async def stop_sessions(self, app: web.Application) -> None:
        """End all steppers; else the server would wait for their pages."""
        await asyncio.gather(*(session.stop() for session in self._sessions))

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse forbidden requests, and restrict what our page may load."""
        host = f"{LOOPBACK}:{self.port}"
        given = request.path.split("/")[1]
        if request.host != host:
            raise web.HTTPForbidden(text=f"This server can be reached only from this machine, as http://{host}.\n")
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            raise web.HTTPForbidden(text="Open the whole address that `microtape serve` printed, with its token.\n")
        is_socket = request.path.endswith("/ws")
        if (is_socket or "Origin" in request.headers) and request.headers.get("Origin") != f"http://{host}":
            raise web.HTTPForbidden(text="Only this server's own page may connect.\n")
        response = await handler(request)
        if not response.prepared:
            response.headers["Content-Security-Policy"] = POLICY.format(host=host)
            response.headers["Referrer-Policy"] = "no-referrer"
            response.headers["X-Content-Type-Options"] = "nosniff"
            response.headers["Cache-Control"] = "no-store"
        return response

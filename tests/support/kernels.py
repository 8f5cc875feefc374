"""Notebooks, run as Jupyter runs them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import nbclient
import nbformat

A_CELL = 600  # seconds at most: a loaded machine needs several to import


def execute(book: nbformat.NotebookNode, folder: Path, *, allow_errors: bool = False) -> None:
    """Run the cells of `book` in a new kernel that stands in `folder`; their outputs are in the cells afterwards.

    In an event loop of its own: `NotebookClient.execute` leaves one behind that nobody closes.
    """
    client = nbclient.NotebookClient(
        book,
        timeout=A_CELL,
        kernel_name="python3",
        allow_errors=allow_errors,
        resources={"metadata": {"path": str(folder)}},
    )
    asyncio.run(client.async_execute())

"""`microtape.save` and `microtape.load`: recordings as `.tape` files, tensors and containers of them as others."""

from __future__ import annotations

import os
import zipfile
from typing import Any

from microtape.basics.devices import check_device
from microtape.errors import RecordingError
from microtape.recording.file import objects, tape_file
from microtape.recording.file.archive import Refused, check_size, reason, unpacked, write_whole
from microtape.recording.file.journal import in_its_place
from microtape.recording.file.json_records import Damaged
from microtape.recording.model.displayed import Displayed, recording_of
from microtape.recording.model.model import Recording


def save(obj: Any, f: Any, **budgets: int) -> None:
    """Write a recording, or tensors and nested containers of them, to a file, whole or not at all.

    Args:
        obj: a Recording, or the `r` of `with microtape.record() as r`; or tensors, arrays, numbers, strings, None, and
            lists, tuples, sets and dicts of such.
        f: a path, or a binary file that is open for writing.
        budgets: of a recording, `element_budget` and `total_budget`; see `tape_file.save`.

    Raises:
        RecordingError: the file cannot be written, or it cannot hold the object. Nothing is pickled.
    """
    if isinstance(obj, Displayed):
        obj = recording_of(obj)
    if isinstance(obj, Recording) and not hasattr(f, "write"):
        tape_file.save(obj, f, **budgets)
        return
    data = tape_file.to_bytes(obj, **budgets) if isinstance(obj, Recording) else objects.object_to_bytes(obj)
    if hasattr(f, "write"):
        f.write(data)
        return
    path = os.fspath(f)
    try:
        write_whole(path, data)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written: {reason(error)}") from None


def load(
    f: Any, map_location: Any = None, *, weights_only: bool | None = None, size_limit: int = tape_file.SIZE_LIMIT
) -> Any:
    """Read what `save` has written: a recording, or an object. It runs no code, so the file need not be trusted.

    Args:
        f: a path, or a binary file that is open for reading.
        map_location: the CPU or None.
        weights_only: accepted; files hold no code.
        size_limit: the number of bytes that the file may unpack to.

    Raises:
        RecordingError: the file is missing, unreadable, damaged, too large, of another version, or of another kind.
        RuntimeError: another device than the CPU is asked for.
    """
    if not callable(map_location) and not isinstance(map_location, dict):
        check_device(map_location)
    path = "the file" if hasattr(f, "read") else in_its_place(os.fspath(f))
    try:
        names = _members_of(f if hasattr(f, "read") else path)
        if objects.JSON not in names:
            if any([name.endswith("/data.pkl") for name in names]):
                raise RecordingError(
                    f"{path}: a file of PyTorch's, which is a pickle. Load it with torch, save "
                    "{name: x.numpy()} with numpy.savez, and read that with numpy.load"
                )
            return tape_file.load(f, size_limit=size_limit)
        with zipfile.ZipFile(f) as archive:
            check_size(archive.infolist(), archive.start_dir, size_limit)
            if len(set(names)) != len(names):
                raise Damaged("repeated members")
            members = _unpacked(archive)
        return objects.read_object(members)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {reason(error)}") from None
    except Refused as refused:
        raise RecordingError(f"{path}: {refused}") from None
    except Damaged as damage:
        raise RecordingError(f"{path}: damaged file ({damage})") from None


def _members_of(f: Any) -> list[str]:
    """The names of the members of a zip; none of a file that is no zip. Raises OSError if it cannot be read."""
    try:
        with zipfile.ZipFile(f) as archive:
            return archive.namelist()
    except OSError:
        raise
    except Exception:  # zipfile raises a dozen kinds for damaged bytes
        return []
    finally:
        if hasattr(f, "seek"):
            f.seek(0)


def _unpacked(archive: zipfile.ZipFile) -> dict[str, bytearray]:
    """The members by name. Raises Damaged if they cannot be unpacked."""
    try:
        return {one.filename: unpacked(archive, one) for one in archive.infolist()}
    except Damaged:
        raise
    except Exception as error:  # as above
        raise Damaged("its zip archive is cut off or altered") from error


__all__ = ["load", "save"]

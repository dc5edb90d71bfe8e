"""Finds libwattle.so.1 and gives its functions their signatures.

Looked at in this order: the file that WATTLE_LIBRARY names; beside this package; the folders above
an installed package (PREFIX/lib/python3/dist-packages/wattle: PREFIX/lib); build/*/ of the source
tree this package lies in; the system's own places.
"""
from __future__ import annotations

import os
from ctypes import CDLL
from pathlib import Path
from typing import Iterator

from . import _native

NAME = f"libwattle.so.{_native.WT_VERSION_MAJOR}"
VERSION = f"{_native.WT_VERSION_MAJOR}.{_native.WT_VERSION_MINOR}.{_native.WT_VERSION_PATCH}"


class LibraryError(ImportError):
    """The C library is missing, older than this package, or cannot be loaded."""


def _places() -> Iterator[str]:
    here = Path(__file__).resolve().parent
    yield str(here / NAME)
    for folder in here.parents:
        if folder.name in ("lib", "lib64"):
            yield str(folder / NAME)
            yield from sorted(map(str, folder.glob(f"*-linux-gnu/{NAME}")))
    tree = here.parent.parent / "build"
    # a build for sanitizers cannot be loaded by a Python without them
    built = [path for path in tree.glob(f"*/{NAME}") if path.parent.name != "sanitize"]
    yield from sorted(map(str, built), key=lambda path: (f"{os.sep}release{os.sep}" not in path, path))


def _find() -> str:
    given = os.environ.get("WATTLE_LIBRARY")
    if given:
        return given
    return next((path for path in _places() if os.path.exists(path)), NAME)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def load() -> _native.Library:
    """The library, or one sentence that says what to do."""
    path = _find()
    try:
        library = CDLL(path)
    except OSError as error:
        missing = NAME in str(error) and "No such file" in str(error)
        raise LibraryError(
            f"{path} cannot be loaded ({error}): " if not missing else f"{path} was not found: "
            f"build Wattle (./quickstart), install it, or set WATTLE_LIBRARY to the library's file") from None
    try:
        native = _native.bind(library)
        found = native.wt_version().decode()
    except AttributeError as error:
        raise LibraryError(f"{path} is older than this package, {VERSION} ({error}): build or install Wattle "
                           f"{VERSION}, or set WATTLE_LIBRARY to its library") from None
    if not _numbers(VERSION) <= _numbers(found) < (_native.WT_VERSION_MAJOR + 1,):
        raise LibraryError(f"{path} is version {found}, this package needs {VERSION} or a later "
                           f"{_native.WT_VERSION_MAJOR}.x: build or install it, or set WATTLE_LIBRARY")
    return native


lib = load()

"""What is inside array files."""
from __future__ import annotations

import os
from ctypes import byref, c_void_p
from typing import Any, Dict, List, Tuple

from ._arrays import Owned
from ._context import FilePath, path_bytes, session
from ._fields import sized
from ._library import lib
from ._native import wt_summary
from ._result import Result
from ._table import Table

ARRAY = ("name", "type", "shape", "order", "count", "bytes", "min", "max", "mean", "nan", "inf")


class FileInfo(Result):
    """A file's format, bytes, arrays (a table: names, types, shapes and what the values are) and metadata."""

    path: str
    format: str
    bytes: int
    arrays: Table
    metadata: Dict[str, str]

    def __repr__(self) -> str:
        lines = [f"{self.path}: {self.format}, {len(self.arrays)} arrays, {self.bytes} bytes", repr(self.arrays)]
        return "\n".join(lines + [f"{key}: {value}" for key, value in self.metadata.items()])

    def _repr_html_(self) -> str:
        return self.arrays._repr_html_()


def info(path: FilePath) -> FileInfo:
    """What is inside a file of arrays, npy, npz or safetensors; all of it is read and checked: `wattle info`.

    >>> import numpy as np, wattle as wt, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "data.npz")
    >>> np.savez(path, y=np.arange(3.0))
    >>> wt.info(path).arrays.records()[0]["mean"]
    1.0
    """
    out = c_void_p()
    rows: List[Tuple[Any, ...]] = []
    with session() as work:
        work(lib.wt_file_open, path_bytes(path), byref(out))
        file = Owned(out.value, lib.wt_file_free)
        for i in range(lib.wt_file_count(file.handle)):
            array = lib.wt_file_at(file.handle, i)
            about, summary = array.contents, sized(wt_summary)
            work(lib.wt_file_summarise, file.handle, array, byref(summary))
            rows.append((about.name.decode("utf-8", "replace"), lib.wt_type_name(about.type).decode(),
                         tuple(about.shape[k] for k in range(about.rank)), "F" if about.fortran else "C", about.count,
                         about.bytes, summary.min, summary.max, summary.mean, summary.nan, summary.inf))
        pairs = [lib.wt_file_metadata_at(file.handle, i).contents
                 for i in range(lib.wt_file_metadata_count(file.handle))]
        return FileInfo(path=os.fspath(path), format=lib.wt_file_format(file.handle).decode(),
                        bytes=lib.wt_file_bytes(file.handle), arrays=Table.of(ARRAY, rows),
                        metadata={pair.key.decode(): pair.value.decode("utf-8", "replace") for pair in pairs})

"""Keyword arguments and the library's structs of options, by the library's own tables of fields.

A function names the tables it takes keywords of, writes them out in its signature, and fills structs
from its own arguments:

    @options("wt_teacher_fields")
    def teacher(*, heads: int = 2, dim: int = 8, ..., seed: int = 0) -> Layer:
        given = locals()
        with session() as work:
            spec = fill(work, "wt_teacher_fields", wt_teacher_options, given)

A test holds every such signature against the tables: names and defaults are those of the command's
options, with _ for -, and `penalty` for `lambda`, which is a word of Python's. The docstring gets the
help of every field. signature("wt_train_fields") is the lines to write.
"""
from __future__ import annotations

import functools
import inspect
import textwrap
from ctypes import Structure, byref, c_size_t, sizeof
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple, Type, TypeVar, Union, cast

import numpy as np

from . import _errors, _native
from ._context import encode
from ._library import lib

S = TypeVar("S", bound=Structure)
F = TypeVar("F", bound=Callable[..., Any])

#: One value of a list option or several: 64, "16:1024:x2", [16, 32], an array.
Values = Union[str, float, Sequence[Union[str, float]], "np.ndarray[Any, Any]"]

WHOLE = _native.WT_GRID_WHOLE
KIND = _native.wt_field_kind
RENAMED = {"lambda": "penalty", "lambda_path": "penalty_path"}
ELSEWHERE = {"alpha": "penalty", "learning_rate": "lr", "epochs": "steps"}  # names of other packages
TYPES = {KIND.WT_FIELD_KIND_WORD: "str", KIND.WT_FIELD_KIND_TEXT: "str", KIND.WT_FIELD_KIND_COUNT: "int",
         KIND.WT_FIELD_KIND_NATURAL: "int", KIND.WT_FIELD_KIND_REAL: "float",
         KIND.WT_FIELD_KIND_CHOICE: "Union[float, str]", KIND.WT_FIELD_KIND_FLAG: "bool"}


class Field:
    """A row of a table, as Python sees it."""

    def __init__(self, pointer: Any) -> None:
        row = pointer.contents
        self.pointer = pointer
        self.kind = KIND(row.kind)
        self.help = row.help.decode() if row.help else ""
        self.words = row.value.decode() if row.value and "|" in row.value.decode() else ""
        self.list = bool(row.list)
        self.number = not self.list and self.kind not in (KIND.WT_FIELD_KIND_WORD, KIND.WT_FIELD_KIND_TEXT,
                                                          KIND.WT_FIELD_KIND_FLAG)
        name = lib.wt_field_option(pointer).decode().replace("-", "_")
        self.keyword = RENAMED.get(name, name)
        self.default = self.read(None if row.fallback is None else row.fallback.decode())

    def read(self, text: "str | None") -> Any:
        """A fallback as a Python value; None = must be given."""
        if text is None:
            return None
        if self.kind == KIND.WT_FIELD_KIND_FLAG:
            return text == "yes"
        if self.kind in (KIND.WT_FIELD_KIND_COUNT, KIND.WT_FIELD_KIND_NATURAL):
            return int(text)
        if self.kind in (KIND.WT_FIELD_KIND_REAL, KIND.WT_FIELD_KIND_CHOICE) and not self.list:
            try:
                number = float(text)
            except ValueError:
                return text
            return int(number) if number == int(number) and "e" not in text else number
        return text

    def type(self) -> str:
        return "Values" if self.list else TYPES[self.kind]


_tables: Dict[str, Dict[str, Field]] = {}
_starts: Dict[Type[Structure], Any] = {}  # wt_train_spec_init and its like


def table(name: str) -> Dict[str, Field]:
    """The fields of `wt_train_fields` and its like, by keyword."""
    if name not in _tables:
        count = c_size_t()
        first = getattr(lib, name)(byref(count))
        fields = [Field(lib.wt_field_at(first, count.value, i)) for i in range(count.value)]
        _tables[name] = {field.keyword: field for field in fields}
    return _tables[name]


def spell(value: Any, keyword: str) -> str:
    """A value as it would be written in a command."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    if not isinstance(value, (bytes, dict)) and (hasattr(value, "__iter__") or hasattr(value, "__array__")):
        listed = value.tolist() if hasattr(value, "tolist") else value
        if isinstance(listed, (bool, int, float, str)):  # of an array without a shape
            return spell(listed, keyword)
        items = [spell(item, keyword) for item in listed]
        if items and not any(isinstance(item, (list, tuple)) for item in items):
            return ",".join(items)
    raise TypeError(f"{keyword}: a number, a word or a list of them is expected, not {_errors.told(value)}")


def differs(value: Any, usual: Any) -> bool:
    """Whether an argument says something: it is there, and not the default; an array always does."""
    return value is not None and not (isinstance(value, (str, int, float, np.generic)) and value == usual)


def start(kind: Type[S], initialise: Callable[[Any, int], None]) -> S:
    """A struct with its size and defaults: WT_INIT."""
    struct = kind()
    initialise(byref(struct), sizeof(struct))
    return struct


def sized(kind: Type[S]) -> S:
    """A struct that the library fills in: WT_SIZED."""
    struct = kind()
    struct.size = sizeof(struct)
    return struct


def fill(work: Any, name: str, kind: Type[S], given: Mapping[str, Any], renamed: Mapping[str, str] = {}) -> S:
    """The options of a table from keyword arguments; texts live as long as the session `work`.

    `renamed` maps the table's keywords to a function's own where these differ.
    """
    initialise = _starts.get(kind)
    if initialise is None:
        initialise = _starts[kind] = getattr(lib, f"{kind.__name__}_init")
    struct = start(kind, initialise)
    place = byref(struct)
    for keyword, field in (_tables.get(name) or table(name)).items():
        own = renamed.get(keyword, keyword) if renamed else keyword
        item = given.get(own)
        usual = field.default
        if item is None or item is usual or (type(item) is type(usual) and item == usual):
            continue
        if field.number and (type(item) is int or type(item) is float) and -WHOLE <= item <= WHOLE:
            value = _native.wt_value(item)
            status = lib.wt_field_check(work.handle, field.pointer, value)
        else:
            text, value = encode(spell(item, own), own), _native.wt_value()
            work.keep.append(text)
            status = lib.wt_field_parse(work.handle, field.pointer, text, byref(value))
        if status != 0:
            raise _errors.UsageError(f"{own}: {work.context.message()}")
        lib.wt_field_set(field.pointer, value, place)
    work.keep.append(struct)
    return struct


# ---- signatures -----------------------------------------------------------------------------------

#: Functions that take the fields of tables: tables, renamed keywords, keywords left out.
described: List[Tuple[Callable[..., Any], Tuple[str, ...], Mapping[str, str], Tuple[str, ...]]] = []


def options(*names: str, renamed: Mapping[str, str] = {}, without: Sequence[str] = ()) -> Callable[[F], F]:
    """Says that a function takes the fields of these tables, and adds them to its docstring."""

    def describe(function: F) -> F:
        described.append((function, names, renamed, tuple(without)))
        lines = []
        for keyword, field in ((k, f) for name in names for k, f in table(name).items() if k not in without):
            lines += textwrap.wrap(f"{renamed.get(keyword, keyword)}: {field.help}", 100, initial_indent="    ",
                                   subsequent_indent="        ")
        function.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nOptions:\n" + "\n".join(lines) + "\n"
        return helpful(function, renamed)

    return describe


def helpful(function: F, renamed: Mapping[str, str]) -> F:
    """The function, which tells the nearest name of a keyword that it does not have."""
    names = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except TypeError:
            unknown = next((word for word in keywords if word not in names), None)
            if unknown is None:
                raise
        spelled = unknown.replace("-", "_")
        spelled = renamed.get(spelled, RENAMED.get(spelled, spelled))
        spelled = ELSEWHERE.get(spelled, spelled)
        raise TypeError(f"{function.__name__}() has no option {unknown}" + _errors.hint(spelled, names))

    return cast(F, call)


def signature(name: str) -> str:
    """The lines of a signature for the fields of a table."""
    return "\n".join(f"    {keyword}: {field.type()} = {field.default!r}," for keyword, field in table(name).items())

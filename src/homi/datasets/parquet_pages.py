"""Sizes of the pages of a Parquet file, from the headers of the pages themselves.

A reader allocates what a page's header says. The footer may say less, so memory is
charged by the headers. Both are structs of the Thrift compact protocol and read here:
pyarrow's own access to a column's metadata aborts the process for some damaged files.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import pyarrow as pa

from homi.budget import Refused

#: Bytes that a header usually has, and may have: statistics in it hold two values.
_USUAL, _MOST = 2**10, 2**20

#: Numbers of fields: of the file, a row group, a column chunk, a header.
_GROUPS, _COLUMNS, _CHUNK = 4, 1, 3
_CHUNK_VALUES, _SIZE, _DATA_PAGE, _DICTIONARY_PAGE = 5, 7, 9, 11
_UNCOMPRESSED, _COMPRESSED = 2, 3
#: Headers of data pages of either version in the header of a page; their first field is
#: the number of values.
_DATA_HEADERS, _VALUES = (5, 8), 1

#: What a damaged struct raises.
_DAMAGE = (
    OSError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    RecursionError,
)


def page_bytes(source: IO[bytes] | pa.NativeFile) -> list[int]:
    """Return the bytes that the pages of each row group decompress to."""
    with _damage():
        return [
            sum(n_bytes for c in columns for n_bytes, _ in _chunk_pages(source, c))
            for columns in _chunks(source)
        ]


def page_values(source: IO[bytes] | pa.NativeFile, *, stated: bool = False) -> int:
    """Return the number of values of all pages: a row of a list has any number.

    With `stated`, return what the footer says, which is quicker.
    """
    with _damage():
        chunks = [chunk for columns in _chunks(source) for chunk in columns]
        if stated:
            return sum(chunk[_CHUNK_VALUES] for chunk in chunks)
        return sum(n for chunk in chunks for _, n in _chunk_pages(source, chunk))


@contextmanager
def _damage() -> Iterator[None]:
    try:
        yield
    except Refused:
        raise
    except _DAMAGE as error:
        raise Refused("has a damaged footer.") from error


def _chunks(source: IO[bytes] | pa.NativeFile) -> list[list[dict[int, Any]]]:
    """Return the columns of each row group, as the footer describes them."""
    n_bytes = source.seek(0, io.SEEK_END)
    source.seek(n_bytes - 8)
    footer = int.from_bytes(source.read(4), "little")
    source.seek(n_bytes - 8 - footer)
    groups = _struct(io.BytesIO(source.read(footer)))[_GROUPS]
    return [[chunk[_CHUNK] for chunk in group[_COLUMNS]] for group in groups]


def _chunk_pages(
    source: IO[bytes] | pa.NativeFile, chunk: dict[int, Any]
) -> Iterator[tuple[int, int]]:
    place = min(chunk[_DATA_PAGE], chunk.get(_DICTIONARY_PAGE) or chunk[_DATA_PAGE])
    end = place + chunk[_SIZE]
    while place < end:
        uncompressed, n_values, step = _page(source, place)
        yield uncompressed, n_values
        place += step


def _page(source: IO[bytes] | pa.NativeFile, place: int) -> tuple[int, int, int]:
    """Return the uncompressed size, the values, and the bytes to the next page."""
    for most in (_USUAL, _MOST):
        try:
            source.seek(place)
            header = io.BytesIO(source.read(most))
            fields = _struct(header)
            sizes = fields[_UNCOMPRESSED], fields[_COMPRESSED]
            if min(sizes) < 0:
                raise Refused(f"has a page of negative size at byte {place:,}.")
            data = [fields[n] for n in _DATA_HEADERS if n in fields]
            n_values = sum(max(0, page[_VALUES]) for page in data)
            return sizes[0], n_values, header.tell() + sizes[1]
        except Refused:
            raise
        except _DAMAGE as error:
            damage = error
    raise Refused(f"has a damaged page at byte {place:,}.") from damage


def _struct(data: io.BytesIO) -> dict[int, Any]:
    """Return integers, structs and lists of a struct by field; leave out the rest."""
    fields: dict[int, Any] = {}
    number = 0
    while head := data.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else _integer(data)
        # A boolean field is in its type.
        if head & 15 > 2:
            fields[number] = _value(data, head & 15)
    return fields


def _value(data: io.BytesIO, kind: int) -> Any:
    if kind in (4, 5, 6):
        return _integer(data)
    if kind == 12:
        return _struct(data)
    if kind in (9, 10):
        return _list(data)
    # Booleans of a list, bytes, doubles, and strings with their length before them.
    if kind not in (1, 2, 3, 7, 8):
        raise ValueError(f"no type of the protocol: {kind}")
    data.seek({7: 8}.get(kind, 1) if kind != 8 else _varint(data), io.SEEK_CUR)
    return None


def _list(data: io.BytesIO) -> list[Any]:
    head = data.read(1)[0]
    count = head >> 4 if head >> 4 < 15 else _varint(data)
    found = []
    for _ in range(count):
        found.append(_value(data, head & 15))
        if data.tell() > len(data.getbuffer()):
            raise ValueError("a list that is longer than the data")
    return found


def _varint(data: io.BytesIO) -> int:
    value = shift = 0
    while shift < 64:
        byte = data.read(1)[0]
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value
    raise ValueError("a number of more than 64 bits")


def _integer(data: io.BytesIO) -> int:
    value = _varint(data)
    return (value >> 1) ^ -(value & 1)

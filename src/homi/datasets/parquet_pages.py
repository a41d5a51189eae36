"""Sizes of the pages of a Parquet file, from the headers of the pages themselves.

A reader allocates what a page's header says. The footer may say less, so memory is
charged by the headers: structs of the Thrift compact protocol.
"""

from __future__ import annotations

import io
from typing import IO, Any

import pyarrow as pa

from homi.budget import Refused

#: Bytes that a header usually has, and may have: statistics in it hold two values.
_USUAL, _MOST = 2**10, 2**20

#: Fields of a page's header.
_UNCOMPRESSED, _COMPRESSED = 2, 3


def page_bytes(source: IO[bytes] | pa.NativeFile, group: Any) -> int:
    """Return the bytes that the pages of a row group decompress to."""
    chunks = (group.column(j) for j in range(group.num_columns))
    return sum(_chunk_bytes(source, chunk) for chunk in chunks)


def _chunk_bytes(source: IO[bytes] | pa.NativeFile, chunk: Any) -> int:
    place = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset is not None:
        place = min(place, chunk.dictionary_page_offset)
    end, total = place + chunk.total_compressed_size, 0
    while place < end:
        uncompressed, step = _page(source, place)
        total, place = total + uncompressed, place + step
    return total


def _page(source: IO[bytes] | pa.NativeFile, place: int) -> tuple[int, int]:
    """Return the uncompressed size of a page, and the bytes to the next one."""
    for most in (_USUAL, _MOST):
        try:
            source.seek(place)
            header = io.BytesIO(source.read(most))
            fields = _struct(header)
            sizes = fields[_UNCOMPRESSED], fields[_COMPRESSED]
        except (OSError, ValueError, KeyError, IndexError, RecursionError) as error:
            damage = error
            continue
        if min(sizes) < 0:
            raise Refused(f"has a page of negative size at byte {place:,}.")
        return sizes[0], header.tell() + sizes[1]
    raise Refused(f"has a damaged page at byte {place:,}.") from damage


def _struct(data: io.BytesIO) -> dict[int, int]:
    """Return the integers of a struct by field; read over everything else."""
    fields: dict[int, int] = {}
    number = 0
    while head := data.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else _integer(data)
        kind = head & 15
        if kind in (4, 5, 6):
            fields[number] = _integer(data)
        else:
            _skip(data, kind)
    return fields


def _skip(data: io.BytesIO, kind: int) -> None:
    if kind in (1, 2):  # booleans are in their type
        return
    if kind in (3, 7):
        data.seek({3: 1, 7: 8}[kind], io.SEEK_CUR)
    elif kind in (4, 5, 6):
        _varint(data)
    elif kind == 8:
        data.seek(_varint(data), io.SEEK_CUR)
    elif kind == 12:
        _struct(data)
    elif kind in (9, 10):
        _skip_list(data)
    else:
        raise ValueError(f"no type of a page header: {kind}")


def _skip_list(data: io.BytesIO) -> None:
    head = data.read(1)[0]
    count = head >> 4 if head >> 4 < 15 else _varint(data)
    for _ in range(min(count, _MOST)):
        # A boolean of a list has a byte of its own.
        _skip(data, 3 if head & 15 in (1, 2) else head & 15)


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

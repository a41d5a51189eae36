"""Sizes of pages are those of their headers, whatever the footer says."""

import contextlib
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homi.datasets import read
from homi.datasets.parquet_pages import page_bytes

OPTIONS = [
    {},
    {"compression": "zstd"},
    {"compression": "none", "use_dictionary": False},
    {"compression": "gzip", "data_page_version": "2.0"},
    {"data_page_size": 5000, "write_page_checksum": True},
    {"row_group_size": 700},
]


def written(table, **options):
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_headers_and_footer_agree_in_a_sound_file(options):
    rng = np.random.default_rng(0)
    columns = {
        "number": rng.normal(size=2000),
        "word": [f"w{i % 500}" for i in range(2000)],
        "list": [[1, 2]] * 2000,
        "gap": pa.array([None, 1.5] * 1000),
    }
    buffer = written(pa.table(columns), **options)
    metadata = pq.ParquetFile(buffer).metadata
    sizes = page_bytes(buffer)
    assert len(sizes) == metadata.num_row_groups
    for i, size in enumerate(sizes):
        # The footer counts the headers as well.
        stated = metadata.row_group(i).total_byte_size
        assert 0.9 * stated < size <= stated


def varint(value, length=None):
    """A zigzag number of the Thrift compact protocol, padded to a length."""
    value, out = value << 1, bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    for _ in range((length or 0) - len(out)):
        out[-1] |= 128
        out.append(0)
    return bytes(out)


def test_a_footer_that_understates_its_pages_is_not_believed(tmp_path):
    n = 10_000_000
    table = pa.table({"x": np.zeros(n), "y": np.zeros(n, np.int8)})
    data = bytearray(
        written(
            table, compression="zstd", use_dictionary=False, data_page_size=2**30
        ).getvalue()
    )
    assert len(data) < 1_000_000
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    group = metadata.row_group(0)
    sizes = [group.column(j).total_uncompressed_size for j in range(2)]
    footer = int.from_bytes(data[-8:-4], "little")
    head, tail = bytes(data[: -8 - footer]), bytes(data[-8 - footer :])
    for told in {n, group.total_byte_size, *sizes}:
        tail = tail.replace(varint(told), varint(2, len(varint(told))))
    path = tmp_path / "lie.parquet"
    path.write_bytes(head + tail)
    assert pq.ParquetFile(path).metadata.num_rows == 2
    with pytest.raises(ValueError, match=r"its pages .* more than the 50 MB"):
        read(path, ["y"], max_memory=50e6)


@pytest.mark.parametrize("byte", [0x00, 0x1B, 0x1F, 0xF5, 0xFF])
def test_a_damaged_header_is_one_sentence(byte, tmp_path):
    table = pa.table({"x": np.arange(50.0), "y": np.arange(50) % 2})
    data = bytearray(written(table, compression="none").getvalue())
    data[4:24] = bytes([byte]) * 20
    path = tmp_path / "damaged.parquet"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"damaged\.parquet: has a|cannot be read"):
        read(path, ["y"])


def test_a_column_that_pyarrow_aborts_on(tmp_path):
    """A histogram of levels in a column that says it has none."""
    table = pa.table({"x": pa.array([None, 1.0] * 25), "y": np.arange(50) % 2})
    data = written(table, compression="none").getvalue()
    optional, required = b"\x25\x02\x18\x01x", b"\x25\x00\x18\x01x"
    assert data.count(optional) == 1
    path = tmp_path / "odd.parquet"
    path.write_bytes(data.replace(optional, required))
    # An abort would end this process. Older pyarrow writes no histograms.
    with contextlib.suppress(ValueError):
        read(path, ["y"])

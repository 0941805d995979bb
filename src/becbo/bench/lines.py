"""JSON lines that survive what happens to files, plain or compressed (`.xz`).

A line is written at once and never changed. In a compressed file each line is an xz stream of its
own, so that adding one leaves the bytes before it alone; `xzcat` prints the lines. What was cut
short (power cut, full disk, interrupted copy) is left out with a message.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from becbo.errors import InvalidInput

FORMAT = 1
COMPRESSED = ".xz"

_MAGIC = b"\xfd7zXZ\x00"  # how an xz stream begins
# A small dictionary, because lines have kilobytes; numbers in text have no alignment (pb).
_FILTERS: list[dict[str, int]] = [
    {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 20, "pb": 0}
]


def append_line(path: Path, content: Mapping[str, Any]) -> None:
    """Adds one line to a file, at once."""
    text = json.dumps({"format": FORMAT, **content}, separators=(",", ":")).encode() + b"\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+", buffering=0) as file:
        if path.suffix == COMPRESSED:
            line = lzma.compress(text, check=lzma.CHECK_CRC32, filters=_FILTERS)
        else:
            line = text if _ends_well(file) else b"\n" + text  # after a line cut short
        if file.write(line) != len(line):
            raise OSError(f"could not write to {path}: is the disk full?")
        os.fsync(file.fileno())


def _ends_well(file: BinaryIO) -> bool:
    if not file.tell():
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def read_lines(path: Path, complaints: list[str]) -> Iterator[dict[str, Any]]:
    """The readable lines of a file; the others are complained about."""
    data = path.read_bytes()
    lines = _streams(data) if path.suffix == COMPRESSED else data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if line == b"":
            continue
        try:
            content = json.loads(line or "cut short")
        except ValueError:  # also raised for bytes that are not text
            complaints.append(
                f"{path}, line {number} is cut short and ignored: it counts as not there"
            )
            continue
        if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
            raise InvalidInput(f"{path}, line {number} is not a record of format {FORMAT}")
        yield content


def _streams(data: bytes) -> Iterator[bytes | None]:
    """What each stream holds; None for one that is damaged, after which the next is looked for."""
    begin = 0
    while begin < len(data):
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        try:
            text = stream.decompress(data[begin:])
        except lzma.LZMAError:
            text = None
        if text is not None and stream.eof:
            yield text
            begin = len(data) - len(stream.unused_data)
        else:
            yield None
            following = data.find(_MAGIC, begin + 1)
            begin = following if following >= 0 else len(data)

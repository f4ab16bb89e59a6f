#!/usr/bin/env python3
"""Writes crates/input/src/tokens/claude-3.pieces from the package ctok (Python 3.12, `pip install ctok==1.3.0`): the pieces of ASCII characters, sorted.

Each entry is one more than the number of bytes that it shares with the one before, the others, and a zero.
"""

import os.path
import pathlib

from ctok.main import _model

MARKERS = {"\ufdd0": "\x01", "\ufdd1": "\x02", "\ufdd3": "\x03", "\ufdd4": "\x04"}


def packed(pieces):
    before = b""
    for piece in pieces:
        shared = len(os.path.commonprefix([before, piece]))
        yield bytes([shared + 1]) + piece[shared:] + b"\0"
        before = piece


plain = [piece for piece in _model("v3").vocab if all(it in MARKERS or ord(it) < 128 for it in piece)]
pieces = sorted("".join(MARKERS.get(it, it) for it in piece).encode() for piece in plain)
path = pathlib.Path(__file__).resolve().parents[1] / "crates/input/src/tokens/claude-3.pieces"
path.write_bytes(b"".join(packed(pieces)))
print(f"{len(pieces)} pieces, {path.stat().st_size} bytes")

"""Text files in several encodings, as one stream of UTF-8.

UTF-8 is taken for granted; others are declared. Only encodings in which a record cannot change how others are read:
those with one byte a character, UTF-8 (whose line ends are never part of another character), and UTF-16. In UTF-16, one
record of an odd number of bytes leaves the file with an odd number of them, which is refused at its end; between two of
them others could be swallowed, so who declares UTF-16 vouches that a program wrote the file, whole characters alone.
Encodings that shift states, or whose characters may swallow a line end, are refused.
"""

import codecs
from pathlib import Path

import pyarrow as pa

from knoll.privacy.errors import DataError

_UTF8 = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_KNOWN = {
    "utf-8", "ascii", "utf-16", "utf-16-le", "utf-16-be", "mac-roman", "koi8-r",
    *(f"iso8859-{i}" for i in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16)),
    *(f"cp125{i}" for i in range(9)), "cp437", "cp850",
}  # fmt: skip
_BLOCK = 2**20


def check_encoding(encoding: str | None) -> None:
    """Refuse an encoding that is not among those above."""
    if encoding is None:
        return
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError):
        name = ""
    if name not in _KNOWN and name != "utf-8-sig":
        raise DataError(
            f"encoding={str(encoding)[:40]!r} is not known, or one record could change how others are read in it; use "
            "utf-8, utf-16, latin-1, cp1252 or another with one byte a character, or save the file as UTF-8"
        )


class Utf8Stream:
    """The bytes of a text file in UTF-8, without a byte order mark.

    Parameters
    ----------
    path : Path
        The file, compressed or not.
    encoding : str, optional
        Its encoding, if declared.
    """

    def __init__(self, path: Path, encoding: str | None = None):
        self._name = path.name
        self._stream = pa.input_stream(str(path))
        self._begun = self._stream.read(3)
        name = "utf-8" if encoding is None else codecs.lookup(encoding).name
        if encoding is None and self._begun.startswith(_UTF16):
            self._stream.close()
            raise DataError(
                f'{path.name} looks like UTF-16. If a program wrote it, say so: encoding="utf-16" (--encoding utf-16); '
                "half a character in one record could change how others are read. Or save it as UTF-8"
            )
        if name in ("utf-8", "utf-8-sig"):
            self._begun = self._begun.removeprefix(_UTF8)
        plain = name in ("utf-8", "utf-8-sig", "ascii")
        self._decoder = None if plain else codecs.getincrementaldecoder(name)()
        self._encoding = name
        self._ready, self._ended = b"", False

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, no more than asked for; none at the end."""
        size = _BLOCK if size < 0 else size
        while not self._ready and not self._ended:
            piece = self._begun + self._stream.read(max(1, size - len(self._begun)))
            self._begun, self._ended = b"", not piece
            self._ready = piece if self._decoder is None else self._recode(piece)
        piece, self._ready = self._ready[:size], self._ready[size:]
        return piece

    def _recode(self, piece: bytes) -> bytes:
        """Return bytes of the file as UTF-8; at its end, refuse half a character."""
        assert self._decoder is not None
        try:
            return self._decoder.decode(piece, not piece).encode("utf-8")
        except UnicodeError:
            raise DataError(f"{self._name} holds text that is not {self._encoding}") from None

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

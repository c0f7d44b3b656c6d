"""What kind of file the first bytes show, whatever its name says."""
from __future__ import annotations

import gzip

from ..errors import Error

OTHER = {  # files that are not UTF-8 text, by their first bytes: what each is, and the way out
    b"\xff\xfe": ("is UTF-16", "convert it, for example with iconv -f UTF-16 -t UTF-8"),
    b"\xfe\xff": ("is UTF-16", "convert it, for example with iconv -f UTF-16 -t UTF-8"),
    b"PAR1": ("is Parquet", "give it the ending .parquet"),
    b"\x1f\x8b": ("is packed with gzip", "give it the ending .gz after its own, or unpack it"),
    b"BZh": ("is packed with bzip2", "unpack it"),
    b"\xfd7zXZ": ("is packed with xz", "unpack it"),
    b"\x28\xb5\x2f\xfd": ("is packed with Zstandard", "unpack it"),
    b"PK\x03\x04": ("is a ZIP archive or a spreadsheet", "unpack it, or save it as CSV"),
}


def is_gzip_name(place: str) -> bool:
    return place.lower().endswith(".gz")


def check_text(place: str, name: str) -> None:
    """Raises headwater.Error, which calls the file `name`, if it does not begin like UTF-8 text."""
    opened = gzip.open if is_gzip_name(place) else open
    with opened(place, "rb") as file:
        first = file.read(8)
    for mark, (found, way_out) in OTHER.items():
        if first.startswith(mark):
            raise Error(f"{name}: {found}, expected text in UTF-8; {way_out}")

"""Includes point down only. The tables are the architecture; a new folder of the engine needs a row."""
import re
from pathlib import Path

from . import is_cpp, lines, tracked

# folder of headwater/: folders that it may include
MAY_SEE = {
    "core": {"core"},
    "kernel": {"core", "kernel"},
    "source": {"core", "kernel", "source"},
    "layer": {"core", "kernel", "source", "layer"},
    "result": {"core", "source", "layer", "result"},
    "method": {"core", "kernel", "source", "layer", "result", "method"},
    "model": {"core", "kernel", "source", "model"},
    "output": {"core", "result", "output"},
}

# include of a library, where it may be, and what it is called
LIBRARIES = [
    (re.compile(r"hwy/"), ("headwater/kernel/cpu/",), "Highway"),
    (re.compile(r"CLI/"), ("cli/parse.cpp",), "CLI11"),
    (re.compile(r"boost/"), ("server/server.cpp", "server/connection.h"), "Boost"),
    (re.compile(r"nanobind/"), ("python/binding/",), "nanobind"),
    (re.compile(r"(cairo|pango|glib)"), ("headwater/output/",), "Cairo and Pango"),
    (re.compile(r"(png|jpeglib|jerror)[.]h"), ("headwater/model/image/",), "libpng and libjpeg"),
    (re.compile(r"(utf8proc|oniguruma)[.]h"), ("headwater/model/tokenizer/",), "utf8proc and Oniguruma"),
    (re.compile(r"zlib[.]h"), ("headwater/core/", "headwater/output/", "tests/"), "zlib"),
]

INCLUDE = re.compile(r'\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')


def breach(path, included, quoted):
    """What is wrong with this include, or None."""
    for pattern, places, name in LIBRARIES:
        if pattern.match(included):
            at_home = str(path).startswith(places)
            return None if at_home else f"{name} is included only in {' and '.join(places)}"
    if path.parts[0] != "headwater" or len(path.parts) < 3:
        return None  # cli, tests, bench, examples and what lies in headwater/ itself see everything
    folder = path.parts[1]
    if folder not in MAY_SEE:
        return f"headwater/{folder} has no row in tools/checks/includes.py"
    if not included.startswith("headwater/"):
        return "write includes of this tree from its root: headwater/..." if quoted else None
    seen = Path(*Path(included).parts[1:])
    if seen.parts[0] not in MAY_SEE[folder]:
        return f"headwater/{folder} must not see headwater/{seen}"
    return None


def public_headers(header="headwater/headwater.h", seen=None):
    """All that headwater.h includes, directly or not."""
    seen = set() if seen is None else seen
    if header not in seen:
        seen.add(header)
        for line in lines(Path(header)):
            if (found := INCLUDE.match(line)) and found[2]:
                public_headers(found[2], seen)
    return seen


def check_public(report):
    text = Path("headwater/CMakeLists.txt").read_text()
    installed = {f"headwater/{name}" for name in re.search(r"FILE_SET HEADERS[^)]*FILES([^)]*)", text)[1].split()}
    for name in sorted(public_headers() ^ installed):
        report.fail(f"headwater/CMakeLists.txt: {name}: " + (
            "is installed, but headwater.h does not include it" if name in installed else
            "is included by headwater.h, but not installed"))
    for name in sorted(installed):
        for number, line in enumerate(lines(Path(name)), 1):
            if (found := INCLUDE.match(line)) and found[1] and ("/" in found[1] or "." in found[1]):
                report.fail(f"{name}:{number}: {line.strip()}: a public header needs the standard library alone")


def check(report):
    """each folder includes only what lies below it, and what is public is installed"""
    check_public(report)
    for path in filter(is_cpp, tracked()):
        for number, line in enumerate(lines(path), 1):
            if found := INCLUDE.match(line):
                if why := breach(path, found[1] or found[2], quoted=found[2] is not None):
                    report.fail(f"{path}:{number}: {line.strip()}: {why}")

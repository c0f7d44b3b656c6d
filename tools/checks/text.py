"""What can be seen by reading files. The patterns are written so that this file passes them itself."""
import re

from . import ROOT, is_cpp, lines, tracked

FORBIDDEN = [
    (re.compile(r"(?<![\w.~-])/(?:work|home|root|Users)/|\bC:[\\]"), "absolute path of one machine"),
    (re.compile(r"pypi[.]org|pythonhosted[.]org|deb[.]debian[.]org|npm[j]s"), "name of a package host"),
    (re.compile(r"[.]{2}/shared\b|\bseed 0{2}", re.IGNORECASE), "refers to a document outside this tree"),
    (re.compile(r"march[=]native"), "a build for one machine only; the kernels dispatch at run time"),
]


def portable(report):
    """no paths of one machine, package hosts, documents elsewhere, builds for one processor"""
    for path in tracked():
        for number, line in enumerate(lines(path), 1):
            for pattern, why in FORBIDDEN:
                if found := pattern.search(line):
                    report.fail(f"{path}:{number}: '{found[0]}': {why}")


def ascii_only(report):
    """C++ files hold ASCII only"""
    for path in filter(is_cpp, tracked()):
        for number, line in enumerate(lines(path), 1):
            if not line.isascii():
                strange = next(c for c in line if not c.isascii())
                report.fail(f"{path}:{number}: '{strange}' (U+{ord(strange):04X}) is not ASCII")


MAX_LINES = 400
LONGER = set()  # files that may be longer, with a reason behind each
WRITTEN = {".cpp", ".h", ".py", ".md", ".cmake", ".txt", ".ts", ".tsx", ".mjs"}


def length(report):
    """no file that a person writes is longer than 400 lines"""
    for path in tracked():
        written = path.suffix in WRITTEN or path.parts[0] in {"tools", ".ci"} or path.name == "Makefile"
        if written and str(path) not in LONGER and len(lines(path)) > MAX_LINES:
            report.fail(f"{path}: {len(lines(path))} lines, at most {MAX_LINES}; split it by idea")


MAX_BYTES = 1_000_000
MAX_MODELS = 16_000_000


def size(report):
    """no tracked file is larger than 1 MB, but for the models, which together have at most 16 MB"""
    models = 0
    for path in tracked():
        bytes_ = (ROOT / path).stat().st_size
        if path.parts[0] == "models":
            models += bytes_
        elif bytes_ > MAX_BYTES:
            report.fail(f"{path}: {bytes_ / 1e6:.1f} MB, at most 1 MB")
    if models > MAX_MODELS:
        report.fail(f"models: {models / 1e6:.1f} MB, at most 16 MB")


# Stems and endings, American to British. "sanitizer" and "tokenizer" are names and stay.
BRITISH = {f"{stem}iz{end}": f"{stem}is{end}"
           for stem in ("normal", "renormal", "initial", "serial", "optim", "quant", "visual", "summar",
                        "minim", "maxim", "recogn", "organ", "parallel", "real", "special", "general")
           for end in ("e", "ed", "es", "er", "ing", "ation")}
BRITISH |= {f"{word}{end}": f"{british}{end}"
            for word, british in (("color", "colour"), ("behavior", "behaviour"), ("neighbor", "neighbour"),
                                  ("center", "centre"), ("gray", "grey"))
            for end in ("", "s", "ed", "ing", "map", "bar", "scale")}
BRITISH |= {"analyze": "analyse", "analyzed": "analysed", "favor": "favour", "canceled": "cancelled",
            "labeled": "labelled"}

# Names that other people gave.
NOT_OURS = re.compile(
    r"\b(?:NO_COLOR|FORCE_COLOR|CLICOLOR\w*|(?:cairo|pango|CAIRO|PANGO|Pango|Cairo)\w+|(?:np|torch|plt|ax)[.][\w.]+"
    r"|stop-color|color-scheme|color-interpolation\w*|text-anchor=\S+"
    r"|(?:utf8proc|onig)_\w+|\w*[Nn]ormalizers?(?:_\w+)?"  # "normalizer" is a word of tokenizer.json
    r"|(?:png|PNG|JCS)_\w+|out_color_space|(?:do_)?center_crop|do_normalize|normalize_(?:before|embedding)"  # libpng, libjpeg, transformers
    r"|initializer_\w+|quantization_config"
    r"|Beyond Attention Visualization)"  # the title of a paper
    r"|\"(?:normalized|Normalize|behavior|quantization)\\?\"")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def spelling(report):
    """British spelling in C++ and documents: normalise, colour"""
    for path in tracked():
        if is_cpp(path) or path.suffix == ".md":
            for number, line in enumerate(lines(path), 1):
                for word in WORD.findall(NOT_OURS.sub("", line)):
                    if british := BRITISH.get(word.lower()):
                        report.fail(f"{path}:{number}: '{word}' is spelt '{british}' here")

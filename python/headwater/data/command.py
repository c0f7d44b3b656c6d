"""The commands of the package: what they take, and the one place that prints an error and ends."""
from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import re
import signal
import sys
from types import ModuleType
from typing import NoReturn, Sequence

from ..errors import Error
from .settings import BadUsage

EXAMPLE = "headwater attribute my-bert/ reviews.parquet -o out/ --method relevance --keep label"


class Parser(argparse.ArgumentParser):
    """Raises instead of printing, and names the nearest option."""

    def error(self, message: str) -> NoReturn:
        raise BadUsage(f"{message}; see '{self.prog} --help'")

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        found, left = self.parse_known_args(words)
        if left:
            known = [name for action in self._actions for name in action.option_strings if name.startswith("--")]
            near = difflib.get_close_matches(left[0].split("=")[0], known, 1)
            raise BadUsage(f"unknown option '{left[0]}'" + (f"; did you mean '{near[0]}'?" if near else "; see --help"))
        return found


def attribute_parser() -> Parser:
    parser = Parser(prog="headwater attribute", allow_abbrev=False, epilog=f"Example: {EXAMPLE}",
                    description="Attribution of a data set. Finished blocks are kept: run the same line again to continue.")
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model directory, or the name of a model")
    add("inputs", metavar="INPUT", nargs="+", help="rows: .parquet, .jsonl, .json (lines, or an array of objects), .csv "
        "or .tsv (with a first line of names) or .txt (one text per line), also with .gz; a folder of such files; or -, "
        "standard input")
    add("-o", "--output", metavar="OUT/", required=True, help="the folder for the blocks of results, made if missing; "
        "their columns starts and ends are bytes of the text")
    rows = parser.add_argument_group("Rows")
    rows.add_argument("--format", choices=("jsonl", "csv", "tsv", "txt", "parquet"), default="jsonl", help="of standard "
                      "input (default: jsonl); that of a file is its ending")
    rows.add_argument("--column", metavar="NAME", default="text", help="the column of texts (default: text)")
    rows.add_argument("--id", metavar="NAME", help="the column that names rows (default: the number of the row)")
    rows.add_argument("--keep", metavar="A,B,...", default="", help="columns that go into the result too")
    rows.add_argument("--block", metavar="ROWS", type=int, default=1000, help="rows of a block (default: 1000)")
    rows.add_argument("--shard", metavar="i/n", help="only part i of n, from 0; /n takes i from the environment. Without "
                      "it, RANK and WORLD_SIZE, SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT are read; "
                      "0/1 does all of it, regardless of the environment")
    rows.add_argument("--truncate", action="store_true", help="cut texts that are too long for the model")
    rows.add_argument("--strict", action="store_true", help="exit status 1 if a row failed")
    rows.add_argument("--dry-run", action="store_true", help="count rows, tokens and blocks, estimate the time, write "
                      "nothing")
    method = parser.add_argument_group("Method")
    method.add_argument("--method", default="relevance", help="relevance (default), rollout, flow, average, raw or gradient")
    method.add_argument("--row", help="the output token: a number, cls, last, mask or mean")
    method.add_argument("--target", default="best", help="the class or word that is asked about (default: best)")
    method.add_argument("--against", default="", help="a class or word to compare it with")
    method.add_argument("--rule", help="of relevance (frozen, attnlrp, integrated) or gradient (gradient, "
                        "gradient-rollout, chefer)")
    method.add_argument("--layer", type=int, default=-1, help="the layer, for method raw")
    method.add_argument("--top", metavar="K", type=int, help="only the K largest values, regardless of sign")
    options = parser.add_argument_group("Options, as in headwater rollout")
    for name in ("preset", "fuse", "order", "empty", "divide", "layers"):
        options.add_argument(f"--{name}")
    options.add_argument("--head", type=int)
    for name in ("residual", "discard"):
        options.add_argument(f"--{name}", type=float)
    machine = parser.add_argument_group("Machine")
    machine.add_argument("--threads", metavar="N", type=int, help="how many threads (default: all cores)")
    machine.add_argument("--ignore-code", action="store_true", help="run a model whose folder brings code of its own, "
                         "without that code")
    return parser


def summarise_parser() -> Parser:
    parser = Parser(prog="headwater summarise", allow_abbrev=False,
                    epilog="Example: headwater summarise out/ --by label",
                    description="Which tokens, positions and parts of a data set matter most, from the output of 'headwater "
                    "attribute' wrote.")
    add = parser.add_argument
    add("results", metavar="OUT/", nargs="+", help="a folder of 'headwater attribute', or a summary saved as .json; "
        "several are merged")
    add("--by", metavar="NAME", help="for each value of this column: one that was kept with --keep, or target, row, length")
    add("--parts", metavar="NAME", help="the share of each part of a text, by a kept column of spans in bytes, as "
        '{"question": [0, 20]}')
    add("--against", metavar="OTHER/", help="what has changed in another run, with the same options: the surest differences")
    add("--tokens", action="store_true", help="only the tokens")
    add("--positions", action="store_true", help="only the positions")
    add("--texts", action="store_true", help="only sums and concentration")
    add("--least", metavar="N", type=int, default=5, help="only tokens that occur N times (default: 5)")
    add("--count", metavar="N", type=int, default=20, help="how many lines of a table (default: 20)")
    add("--partial", action="store_true", help="accept folders with missing blocks")
    add("-o", "--output", metavar="FILE", help="write all of it to a .parquet, or to a .json that can be merged")
    return parser


def spelled(message: str) -> str:
    """A message in the words of the command: `text_pair` is --text-pair."""
    return re.sub(r"`([a-z_]+)`", lambda found: "--" + found[1].replace("_", "-"), message)


def done(words: Sequence[str]) -> int:
    if words[:1] == ["help"] and words[1:2] in (["attribute"], ["summarise"]):
        return done([words[1], "--help"])
    if not words:
        raise BadUsage("no command was given, expected attribute or summarise; see 'headwater --help'")
    if words[0] == "attribute":
        from .attribute import attribute
        return attribute(attribute_parser().parse(words[1:]), os.environ)
    if words[0] == "summarise":
        from .summarise import summarise_command
        return summarise_command(summarise_parser().parse(words[1:]))
    raise BadUsage(f"unknown command '{words[0]}'; see 'headwater --help'")


def done_and_printed(words: Sequence[str]) -> int:
    """Raises an OSError if some of the output could not be written."""
    try:
        try:
            status = done(words)
        except SystemExit as asked:  # by --help
            status = int(asked.code or 0)
        sys.stdout.flush()
    except OSError:
        # Leftover output would fail again when the interpreter exits, with another exit status.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise
    return status


def run(words: Sequence[str]) -> int:
    """Runs `headwater WORDS...` and returns its exit status."""
    try:
        return done_and_printed(words)
    except Error as wrong:
        return say(spelled(str(wrong)), 2 if isinstance(wrong, BadUsage) else 1)
    except KeyboardInterrupt:
        return say("interrupted; run the same line again to continue", 130)
    # These are failures for which our readers and writers have no better sentence.
    except OSError as wrong:
        return say(f"{wrong.filename or 'output'}: {wrong.strerror or one_line(wrong)}; check the place, then run the "
                   "same line again", 1)
    except ImportError as wrong:
        return say(f"{wrong.name or 'a package'}: could not be loaded ({one_line(wrong)}); install it again", 1)
    except Exception as wrong:
        if is_out_of_memory(wrong):
            raise
        arrow = sys.modules.get("pyarrow")
        if arrow is not None and isinstance(wrong, arrow.lib.ArrowException):
            return say(f"Arrow, which reads and writes Parquet, failed ({one_line(wrong)}); run the same line again", 1)
        # For example OpenSSL's ValueError, which does not mention memory at all.
        return say(f"{type(wrong).__name__} in {place_of(wrong)} was not expected ({one_line(wrong)}); run the same line "
                   "again, and report it if it comes back", 1)


def one_line(wrong: BaseException) -> str:
    return " ".join(str(wrong).split())


def place_of(wrong: BaseException) -> str:
    """The file and line that raised it."""
    at = wrong.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return f"{os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}" if at else "headwater"


def say(message: str, status: int) -> int:
    try:
        print(f"headwater: {message}", file=sys.stderr)
    except OSError:  # there is nobody left to tell
        pass
    return status


def fill_closed() -> None:
    """Opens what the caller closed of standard input, output and error: files of ours would take their places."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if descriptor == 1 else os.O_RDWR)  # printing still fails
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


class NoPandas:
    """Finds no pandas: pyarrow would load it, a third of a second, only to check whether a list is a Series."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not used by this command", name=name)


def is_out_of_memory(wrong: BaseException | None) -> bool:
    """Python 3.11 raises SystemError where its own stack cannot grow, and RuntimeError where a lock of an import cannot.
    What a package raises while it handles one of these has the same cause."""
    while wrong is not None:
        if isinstance(wrong, (MemoryError, SystemError)) or str(wrong) == "can't allocate lock":
            return True
        wrong = wrong.__cause__ or wrong.__context__
    return False


def say_unraisable(wrong: sys.UnraisableHookArgs) -> None:
    """Keeps a finaliser that ran out of memory from printing: it changes no result."""
    if not is_out_of_memory(wrong.exc_value):
        sys.__unraisablehook__(wrong)


def main(words: Sequence[str] | None = None) -> None:
    """For `headwater attribute` and `python -m headwater.data.command attribute`."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as headwater_command leaves it while packages load
        signal.signal(signal.SIGINT, signal.default_int_handler)
    fill_closed()
    sys.meta_path.insert(0, NoPandas)
    sys.unraisablehook = say_unraisable
    try:
        sys.exit(run(list(sys.argv[1:] if words is None else words)))
    except Exception as wrong:
        if not is_out_of_memory(wrong):
            raise
        # Shutting down the interpreter needs memory too, and would print an error.
        os.write(2, b"headwater: out of memory, expected room for a block of rows; take fewer with --block\n")
        os._exit(1)


if __name__ == "__main__":
    main()

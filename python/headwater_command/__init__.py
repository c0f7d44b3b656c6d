"""Starts the command that the package brings. Apart from the package, so that nothing else is imported first."""
import os
import signal
import sys
from importlib.util import find_spec

IN_PYTHON = ("attribute", "summarise")  # commands for data sets, which read and write Parquet with pyarrow


def main() -> None:
    words = sys.argv[2:3] if sys.argv[1:2] == ["help"] else sys.argv[1:2]
    if words and words[0] in IN_PYTHON:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # packages that are interrupted as they load have words of their own
        from headwater.data.command import main as run
        run()
    package = find_spec("headwater").submodule_search_locations[0]  # finds it, does not import it
    command = os.path.join(package, "bin", "headwater")
    os.execv(command, [command, *sys.argv[1:]])

"""Starts the command that the package brings. Apart from the package, so that nothing else is imported first."""
import os
import sys
from importlib.util import find_spec


def main() -> None:
    package = find_spec("headwater").submodule_search_locations[0]  # finds it, does not import it
    command = os.path.join(package, "bin", "headwater")
    os.execv(command, [command, *sys.argv[1:]])

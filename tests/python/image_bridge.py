"""Asks the engine what it makes of an image, through a program that the tests build."""
import os
import subprocess
from pathlib import Path

import numpy as np

from command import HEADWATER

PROGRAM = os.environ.get("HEADWATER_IMAGE", str(Path(HEADWATER).with_name("headwater_image")))


class EngineError(Exception):
    """The one sentence of an Error."""


class Engine:
    """One process for many questions; `folder` is for what passes between."""

    def __init__(self, folder):
        self.out = folder / "out.raw"
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0

    def ask(self, job, image, *words):
        self.process.stdin.write("\t".join(map(str, [job, image, self.out, *words])) + "\n")
        self.process.stdin.flush()
        kind, _, rest = self.process.stdout.readline().rstrip("\n").partition(" ")
        if kind == "error":
            raise EngineError(rest)
        assert kind == "ok", f"headwater_image ended on {image}"
        return [float(number) for number in rest.split()]

    def read(self, image):
        width, height = map(int, self.ask("read", image))
        return np.fromfile(self.out, np.uint8).reshape(height, width, 3)

    def resize(self, image, width, height, resample):
        assert self.ask("resize", image, width, height, int(resample)) == [width, height]
        return np.fromfile(self.out, np.uint8).reshape(height, width, 3)

    def pixels(self, image, folder):
        """The planes, and what of the image they show."""
        width, height, *seen = self.ask("process", image, folder)
        return np.fromfile(self.out, np.float32).reshape(3, int(height), int(width)), seen

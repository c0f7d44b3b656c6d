"""A page in the browser for a model: type a text, and see where its output comes from."""
from __future__ import annotations

import atexit
import os
import threading
from typing import TYPE_CHECKING, Callable, Sequence, TypeAlias

from . import _engine
from .errors import Error

if TYPE_CHECKING:
    from torch.nn import Module

    from .protocols import TextTokenizer

USUAL_PORT = 8020
Progress: TypeAlias = Callable[[str, int, int], bool]  # what, how many are done, of how many: whether to go on


class Server:
    """A server on 127.0.0.1, which runs until `.stop()` or until Python ends. `url` is what to open.

    The address holds a secret that only this server knows: without it, nothing is answered.
    """

    def __init__(self, engine: _engine.Server):
        self._engine: _engine.Server | None = engine
        self.url: str = engine.url
        self._ended = threading.Event()
        self._thread = threading.Thread(target=run, args=(engine, self._ended), name="headwater-serve", daemon=True)
        self._thread.start()
        atexit.register(self.stop)  # a thread in the engine must end before Python does

    def stop(self) -> None:
        """Ends the server, and cancels the current computation."""
        atexit.unregister(self.stop)
        if self._engine is not None:
            self._engine.stop()
            self._thread.join()
            self._engine = None  # closes all connections

    def wait(self) -> None:
        """Returns when the server is stopped, or on Ctrl-C."""
        try:
            # Not join(): in Python 3.11, an interrupted join() considers the thread ended.
            while not self._ended.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.stop()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "stopped" if self._engine is None else self.url
        return f"<headwater.Server {state}>"


def serve(model: Module | str | os.PathLike[str] | Sequence[str], tokenizer: TextTokenizer | None = None, *,
          name: str | None = None, port: int | None = None, block: bool = True) -> Server:
    """Serves a page on 127.0.0.1 where you type a text and see what the model's output comes from.

    `model` is a PyTorch model of transformers with its `tokenizer`, which runs here when the page asks; or the names or
    folders of models, which headwater runs itself, as `headwater serve` does. `name` is what the page calls the model.
    `port` is 8020, or any free one if that is taken. With `block=False` it returns at once; else when you press Ctrl-C.
    Raises headwater.Error.
    """
    chosen, any_port = (USUAL_PORT, True) if port is None else (port, False)
    if isinstance(model, (str, os.PathLike)):
        model = [os.fspath(model)]
    if isinstance(model, Sequence):
        if tokenizer is not None or name is not None:
            raise Error("serve: models by name bring their own, expected no `tokenizer` and no `name`; leave them out")
        engine = _engine.Server([os.fspath(one) for one in model], chosen, any_port)
    else:
        from .torch.live_model import LiveModel
        live = LiveModel(model, tokenizer, name)
        engine = _engine.Server(live.menu(), live.answer, chosen, any_port)
    server = Server(engine)
    del engine  # so that stop() ends the last one
    if block:
        try:
            print(f"Open {server.url} in a browser. Ctrl-C ends the server.", flush=True)
            server.wait()
        except KeyboardInterrupt:
            server.stop()
    return server


def run(engine: _engine.Server, ended: threading.Event) -> None:
    """Serves until somebody stops it."""
    engine.run()
    ended.set()


class Cancelled(Exception):
    """Nobody is waiting for the answer any more."""


def check(progress: Progress, what: str, done: int, total: int) -> None:
    """Says how far the work is, and ends it if nobody waits."""
    if not progress(what, done, total):
        raise Cancelled

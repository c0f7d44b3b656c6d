"""The one error that headwater raises for bad input."""


class Error(ValueError):
    """What was found, what was expected, what to do: one sentence."""

    __module__ = "headwater"

"""Words of messages."""


def counted(count: int, noun: str) -> str:
    """'1 row', '2 rows'."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

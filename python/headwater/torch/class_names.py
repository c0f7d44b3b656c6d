"""Classes by their names in a model's config."""
from __future__ import annotations

from typing import Any

from ..errors import Error


def class_number(model: Any, name: str, count: int) -> int:
    """The number of the class that `id2label` of the model's config calls so, of `count`. Raises if it is not one."""
    labels = getattr(getattr(model, "config", None), "id2label", None) or {}
    found = [int(number) for number, label in labels.items() if label == name]
    if len(found) > 1:
        raise Error(f"`target` '{name}': is the name of {len(found)} classes, {', '.join(map(str, found))}, expected one; "
                    "give its number")
    if found and found[0] < count:
        return found[0]
    there = ", ".join(str(label) for label in list(labels.values())[:12]) or "none"
    raise Error(f"`target` '{name}': is no class of the model's config; there are {there}, and 'best'")

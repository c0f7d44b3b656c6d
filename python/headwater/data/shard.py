"""Which part of the work belongs to this process, as given or as its launcher says in the environment."""
from __future__ import annotations

import dataclasses
import re
from typing import Mapping

from ..errors import Error
from .settings import BadUsage


@dataclasses.dataclass(frozen=True)
class Shard:
    """Part `index` of `count`. Block b belongs to part b modulo count."""

    index: int = 0
    count: int = 1
    said_by: str = ""

    def has(self, block: int) -> bool:
        return block % self.count == self.index

    def __str__(self) -> str:
        return f"shard {self.index} of {self.count}" + (f" ({self.said_by})" if self.said_by else "")


def number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name)
    if text is None or text == "":
        return None
    if not re.fullmatch(r"[0-9]+", text):
        raise Error(f"{name} '{text}': is set in the environment, expected a whole number; unset it, or give --shard i/n")
    return int(text)


def checked(index: int, count: int, said_by: str) -> Shard:
    if not 0 <= index < count:
        raise Error(f"{said_by}: says part {index} of {count}, expected 0 to {count - 1}; correct it")
    return Shard(index, count, said_by)


def find_shard(given: str | None, environment: Mapping[str, str]) -> Shard:
    """`given` is i/n, or /n for an i from the environment. Without it, the environment says both, or there is one part.

    torchrun sets RANK and WORLD_SIZE, a Slurm array SLURM_ARRAY_TASK_ID, _COUNT, _MIN and _STEP, an indexed job of
    Kubernetes JOB_COMPLETION_INDEX, which says nothing of how many there are.
    """
    count = None
    if given is not None:
        match = re.fullmatch(r"([0-9]*)/([0-9]+)", given)
        if not match or int(match[2]) == 0:
            raise BadUsage(f"--shard '{given}': expected i/n, part i of n, from 0; for example --shard 0/4")
        count = int(match[2])
        if match[1]:
            return checked(int(match[1]), count, "--shard")
    rank, world = number(environment, "RANK"), number(environment, "WORLD_SIZE")
    if rank is not None and (world or count) is not None:
        return checked(rank, count or world or 1, "RANK, WORLD_SIZE")
    task, tasks = number(environment, "SLURM_ARRAY_TASK_ID"), number(environment, "SLURM_ARRAY_TASK_COUNT")
    if task is not None and (tasks or count) is not None:
        first, step = number(environment, "SLURM_ARRAY_TASK_MIN") or 0, number(environment, "SLURM_ARRAY_TASK_STEP") or 1
        return checked((task - first) // step, count or tasks or 1, "SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT")
    index = number(environment, "JOB_COMPLETION_INDEX")
    if index is not None:
        if count is None:
            raise Error(f"JOB_COMPLETION_INDEX {index}: is set without a total, expected the number of "
                        f"completions; give --shard /N")
        return checked(index, count, "JOB_COMPLETION_INDEX")
    if count is not None:
        raise Error(f"--shard '{given}': leaves the part to the environment, which sets none of RANK, "
                    f"SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX; give --shard i/{count}")
    return Shard()

"""Devices and streams as the engine takes them."""
from __future__ import annotations

import torch


def number_of(device: torch.device) -> int:
    return torch.cuda.current_device() if device.index is None else device.index


def stream_of(number: int) -> int:
    """The address of the stream that torch uses now on a device."""
    return int(torch._C._cuda_getCurrentRawStream(number))

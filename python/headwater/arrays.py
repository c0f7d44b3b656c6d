"""What kind of arrays went in, so that the same kind can come out: torch, JAX, NumPy or anything with DLPack."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._engine import Error


def is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_jax(value: Any) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.Array)


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or is_torch(value) or hasattr(value, "__dlpack__")


def on_cpu(value: Any) -> bool:
    if is_torch(value):
        return value.device.type == "cpu"
    if isinstance(value, np.ndarray):
        return True
    return value.__dlpack_device__()[0] in (1, 3)  # CPU, and memory of the CPU that a GPU sees


class Kind:
    """How results go back: as torch tensors on a device, as JAX arrays, or as NumPy arrays."""

    def __init__(self, example: Any = None):
        self.name = "torch" if is_torch(example) else "jax" if is_jax(example) else "numpy"
        self.device = (example.device if self.name == "torch" else
                       min(example.devices(), key=str) if self.name == "jax" else None)

    def back(self, values: np.ndarray) -> Any:
        """A NumPy array as this kind; without a copy where the memory is the CPU's."""
        if self.name == "torch":
            tensor = sys.modules["torch"].from_numpy(values)
            return tensor if self.device.type == "cpu" else tensor.to(self.device)
        if self.name == "jax":
            return sys.modules["jax"].device_put(values, self.device)
        return values

    def stack(self, values: list[Any]) -> Any:
        if len({tuple(one.shape) for one in values}) > 1:
            return values
        if self.name == "torch":
            return sys.modules["torch"].stack(values)
        return self.back(np.stack([np.asarray(one) for one in values]))


def common_device(layers: list[Any], name: str) -> Any:
    """The device that all tensors lie on; None where they are no tensors."""
    devices = {layer.device for layer in layers if is_torch(layer)}
    if len(devices) > 1:
        found = " and ".join(sorted(map(str, devices)))
        raise Error(f"{name}: has layers on {found}, expected one device; move them with .to(device)")
    return devices.pop() if devices else None


def for_engine(array: Any) -> Any:
    """The array as the engine can borrow it: on the CPU, in C order. Copies only what is neither."""
    if is_torch(array):
        return array.detach().cpu().contiguous()
    if not isinstance(array, np.ndarray) and hasattr(array, "__dlpack__"):
        if on_cpu(array):
            try:
                return np.ascontiguousarray(np.from_dlpack(array))
            except RuntimeError:  # bfloat16, which NumPy has not and the engine takes
                return array
        array = np.asarray(array)
    if isinstance(array, np.ndarray):
        if array.dtype.name == "bfloat16":  # of ml_dtypes, as JAX gives it; the engine could not borrow it
            array = array.astype(np.float32)
        if array.dtype.kind not in "fiub":
            raise Error(f"memory: holds {array.dtype}, expected numbers, f16, bf16, f32 or f64; convert it first")
        return np.ascontiguousarray(array)
    return np.ascontiguousarray(array, dtype=np.float32)


def to_numpy(array: Any) -> np.ndarray:
    if is_torch(array):
        array = array.detach().cpu()
        return (array.float() if array.dtype.is_floating_point and array.element_size() < 4 else array).numpy()
    return np.asarray(array)

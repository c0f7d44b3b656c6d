"""What kind of arrays went in, so that the same kind comes out: torch, JAX, NumPy or anything with DLPack."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Mapping, Sequence, TypeAlias

import numpy as np
import numpy.typing as npt

from ._engine import fuse_heads
from .errors import Error
from .protocols import DLPackArray, Recorded, WithAttentions

if TYPE_CHECKING:
    from torch import device

Array: TypeAlias = Any  # of the library whose arrays went in: a union would have to be narrowed before every use
NumPyArray: TypeAlias = npt.NDArray[Any]
CPU_MEMORY = (1, 3)  # of DLPack: the CPU's own, and the CPU's pinned for a GPU


def is_torch(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_jax(value: object) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.Array)


def is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) or is_torch(value) or isinstance(value, DLPackArray)


def on_cpu(value: Array) -> bool:
    if is_torch(value):
        return bool(value.device.type == "cpu")
    return isinstance(value, np.ndarray) or value.__dlpack_device__()[0] in CPU_MEMORY


def lies_on_device(attention: object, asked: Mapping[str, Any]) -> bool:
    """Whether attention is in torch tensors that are not on the CPU; `asked` says which part of a capture is meant."""
    if isinstance(attention, Recorded):
        return attention._on_device(**asked)
    first: object = attention
    if isinstance(attention, WithAttentions):
        attention = attention.attentions
    if isinstance(attention, (list, tuple)) and attention:
        first = attention[0]
    return is_torch(first) and not on_cpu(first)


class Kind:
    """How results are returned: as torch tensors on a device, as JAX arrays, or as NumPy arrays."""

    def __init__(self, example: Array = None):
        self.name = "torch" if is_torch(example) else "jax" if is_jax(example) else "numpy"
        self.device: Any = (example.device if self.name == "torch" else
                            min(example.devices(), key=str) if self.name == "jax" else None)

    def back(self, values: NumPyArray) -> Array:
        """A NumPy array as this kind, without a copy if the memory is the CPU's."""
        if self.name == "torch":
            tensor = sys.modules["torch"].from_numpy(values)
            return tensor if self.device.type == "cpu" else tensor.to(self.device)
        if self.name == "jax":
            return sys.modules["jax"].device_put(values, self.device)
        return values

    def stack(self, values: list[Array]) -> Array:
        """One array with a leading axis, or the list itself if shapes differ."""
        if len({tuple(one.shape) for one in values}) > 1:
            return values
        if self.name == "torch":
            return sys.modules["torch"].stack(values)
        return self.back(np.stack([np.asarray(one) for one in values]))

    def __getstate__(self) -> dict[str, Any]:
        # Devices of JAX cannot be pickled: its default device takes their place.
        return dict(name=self.name, device=self.device if self.name == "torch" else None)


def refuse_unreadable(array: Array) -> None:
    """Raises for a tensor of torch whose numbers cannot be read."""
    if not is_torch(array):
        return
    if array.device.type == "meta":
        raise Error("attention: is a tensor on the device 'meta', which holds no numbers; make it on another device")
    if str(array.layout) != "torch.strided":
        raise Error(f"attention: is a tensor of layout {array.layout}, expected a dense one; call .to_dense()")


def common_device(layers: Sequence[Array], name: str) -> device | None:
    """The device of all torch tensors among the layers; None if there are none."""
    devices: set[device] = {layer.device for layer in layers if is_torch(layer)}
    if len(devices) > 1:
        found = " and ".join(sorted(map(str, devices)))
        raise Error(f"{name}: has layers on {found}, expected one device; move them with .to(device)")
    return devices.pop() if devices else None


def for_engine(array: Array) -> Array:
    """The array as the engine can borrow it: on the CPU, in C order. Copies only if it is not."""
    if is_torch(array):
        return array.detach().cpu().contiguous()
    if not isinstance(array, np.ndarray) and isinstance(array, DLPackArray):
        if on_cpu(array):
            try:
                return np.ascontiguousarray(np.from_dlpack(array))
            except RuntimeError:  # bfloat16, which the engine takes and NumPy does not
                return array
        array = np.asarray(array)
    if isinstance(array, np.ndarray):
        if array.dtype.name == "bfloat16":  # of ml_dtypes, as JAX has it; the engine cannot borrow it
            array = array.astype(np.float32)
        if array.dtype.kind not in "fiub":
            raise Error(f"memory: holds {array.dtype}, expected numbers, f16, bf16, f32 or f64; convert it first")
        return np.ascontiguousarray(array)
    return np.ascontiguousarray(array, dtype=np.float32)


def to_numpy(array: Array) -> NumPyArray:
    if is_torch(array):
        array = array.detach().cpu()
        array = (array.float() if array.dtype.is_floating_point and array.element_size() < 4 else array).numpy()
    return np.asarray(array)


def fused_on_cpu(heads: Array, fuse: str) -> npt.NDArray[np.float32]:
    """[H, rows, columns] to [rows, columns], by the engine; heads on a GPU are fused there first."""
    if is_torch(heads) and not on_cpu(heads):
        from .torch.device import fused
        return to_numpy(fused(heads, fuse))
    out = np.empty(tuple(heads.shape[1:]), dtype=np.float32)
    fuse_heads(for_engine(heads), out, fuse)
    return out


def same_values(a: Array, b: Array) -> bool:
    """Whether two arrays, or lists of arrays, hold the same numbers of the same type."""
    if isinstance(a, list) or isinstance(b, list):
        return (isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and
                all(same_values(one, other) for one, other in zip(a, b)))
    return type(a) is type(b) and a.dtype == b.dtype and np.array_equal(to_numpy(a), to_numpy(b))

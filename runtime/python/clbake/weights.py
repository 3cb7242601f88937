"""Packed weights on the host: what B of a product like half-q4-half is made of (kernels/WEIGHTS.md). Needs numpy.

    packed = clbake.weights.quantize(matrix)                      # k x n floats; 4 bits, groups of 32
    packed = clbake.weights.from_gguf(blocks, k, n)               # Q4_0's bytes, without loss
    problem = clbake.Problem(1, n, k, clbake.mixed(Precision.HALF, Element.Q4, Precision.HALF))

Arrays of packed weights are of uint8. Every failure raises clbake.Error.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import _header as h
from ._header import Argument, Code
from ._problem import Error, checked_size

__all__ = ["Format", "from_awq", "from_gguf", "from_gptq", "inspect", "load", "pack", "quantize", "unpack"]


class Format(NamedTuple):
    """A matrix of packed weights, k x n; clbake/weights/pack.h."""

    k: int
    n: int
    bits: int = 4
    group: int = 32
    has_zeros: bool = False

    def _struct(self) -> h.WeightFormatStruct:
        struct = h.WeightFormatStruct()
        for name, value in self._asdict().items():
            setattr(struct, name, checked_size(value, Argument.OTHER))
        return struct


_loaded: ctypes.CDLL | None = None


def load(path: str | os.PathLike[str] | None = None) -> None:
    """Loads libclbake_weights.so: the file at `path`, or the one beside this module, or the installed one. Needed only
    to name a path, before anything else is called. Raises OSError."""
    global _loaded
    beside = Path(__file__).with_name("libclbake_weights.dll" if sys.platform == "win32" else "libclbake_weights.so")
    found = path or (beside if beside.exists() else ctypes.util.find_library("clbake_weights"))
    if not found:
        raise OSError(f"{beside.name} is neither beside the module nor installed: clbake.weights.load(path) loads it")
    library = ctypes.CDLL(os.fspath(found))
    for name, (result, arguments) in h.WEIGHT_FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    _loaded = library


def _call(name: str, *arguments: Any) -> None:
    if _loaded is None:
        load()
    error = h.ErrorStruct()
    code = getattr(_loaded, name)(*arguments, ctypes.byref(error))
    if code != Code.OK:
        raise Error(Code(code), error.message.decode(errors="replace"), Argument(error.argument), error.opencl_code)


def _input(array: Any, dtype: str) -> tuple[Any, int, int]:
    """The array, contiguous and of this type; its address and its length."""
    flat = np.ascontiguousarray(array)
    if flat.dtype != dtype:
        raise Error(Code.INVALID_ARGUMENT, f"an array has {flat.dtype}, not {dtype}", Argument.OTHER)
    return flat, flat.ctypes.data, flat.size


def _packed(name: str, format: Format, *inputs: Any) -> np.ndarray:
    struct, size = format._struct(), ctypes.c_size_t()
    _call("clbake_weights_bytes", ctypes.byref(struct), ctypes.byref(size))
    packed = np.empty(size.value, np.uint8)
    _call(name, ctypes.byref(struct), *inputs, packed.ctypes.data, packed.size)
    return packed


def pack(format: Format, codes: Any, scales: Any, zeros: Any = None) -> np.ndarray:
    """The weights (code - zero) * scale. codes: uint8, k x n; scales: float16, k / group x n; zeros: uint8, as scales."""
    of_codes, of_scales = _input(codes, "uint8"), _input(scales, "float16")
    of_zeros = _input(np.empty(0, np.uint8) if zeros is None else zeros, "uint8")
    return _packed("clbake_weights_pack", format, *of_codes[1:], *of_scales[1:], *of_zeros[1:])


def quantize(weights: Any, bits: int = 4, group: int = 32) -> np.ndarray:
    """The nearest weights to float32 numbers, k x n."""
    k, n = np.shape(weights)
    floats = _input(weights, "float32")
    return _packed("clbake_weights_quantize", Format(k, n, bits, group), *floats[1:])


def inspect(packed: Any) -> Format:
    """Checks packed weights and tells their format."""
    array, struct = _input(packed, "uint8"), h.WeightFormatStruct()
    _call("clbake_weights_inspect", *array[1:], ctypes.byref(struct))
    return Format(struct.k, struct.n, struct.bits, struct.group, struct.has_zeros != 0)


def unpack(packed: Any) -> np.ndarray:
    """Packed weights as float32, k x n."""
    format, array = inspect(packed), _input(packed, "uint8")
    weights = np.empty((format.k, format.n), np.float32)
    _call("clbake_weights_unpack", *array[1:], weights.ctypes.data, weights.size)
    return weights


def from_gguf(blocks: Any, k: int, n: int, bits: int = 4) -> np.ndarray:
    """GGUF's blocks, uint8, n rows along k: Q4_0, or with 8 bits Q8_0. Without loss."""
    array = _input(blocks, "uint8")
    return _packed("clbake_weights_pack_gguf", Format(k, n, bits), *array[1:])


def _words(qweight: Any, qzeros: Any, scales: Any) -> tuple[list[Any], list[int]]:
    arrays = [_input(np.asarray(words).view("uint32"), "uint32") for words in (qweight, qzeros)]
    arrays.append(_input(scales, "float16"))
    return arrays, [number for array in arrays for number in array[1:]]


def from_gptq(qweight: Any, qzeros: Any, scales: Any, group: int = 128, minus_one: bool = True) -> np.ndarray:
    """GPTQ of 4 bits in sequential order: int32 words k / 8 x n and groups x n / 8, float16 groups x n. minus_one: the
    zero points are stored less one. Without loss."""
    rows, n = np.shape(qweight)
    _keep, numbers = _words(qweight, qzeros, scales)
    return _packed("clbake_weights_pack_gptq", Format(8 * rows, n, 4, group, True), *numbers, int(minus_one))


def from_awq(qweight: Any, qzeros: Any, scales: Any, group: int = 128) -> np.ndarray:
    """AWQ of 4 bits: int32 words k x n / 8 and groups x n / 8, float16 groups x n. Without loss."""
    k, columns = np.shape(qweight)
    _keep, numbers = _words(qweight, qzeros, scales)
    return _packed("clbake_weights_pack_awq", Format(k, 8 * columns, 4, group, True), *numbers)

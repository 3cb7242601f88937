"""Problems, from sizes or from arrays, and the exception of this module."""

from __future__ import annotations

import operator
from typing import Any, Sequence, Union

from . import _header as h
from ._header import Activation, Argument, Bias, Code, Element, Layout, Precision

DTYPES = {Precision.SINGLE: "float32", Precision.DOUBLE: "float64", Precision.HALF: "float16",
          Precision.BFLOAT16: "bfloat16", Precision.COMPLEX_SINGLE: "complex64", Precision.COMPLEX_DOUBLE: "complex128",
          Element.INT8: "int8", Element.UINT8: "uint8", Element.INT32: "int32",
          Element.E4M3: "float8_e4m3fn", Element.E5M2: "float8_e5m2", Element.Q4: "uint8", Element.Q8: "uint8"}
# Other types that hold their bits.
BITS = {Precision.BFLOAT16: "uint16", Element.E4M3: "uint8", Element.E5M2: "uint8"}


def mixed(a: Element, b: Element, c: Element | Precision) -> int:
    """The precision of a mixed product, by the types of A, B and C: clbake.h, CLBAKE_MIXED."""
    return int(a) | int(b) << 8 | int(c) << 16


def element_types(precision: int) -> tuple[int, ...]:
    """Those of A, B, C, the bias, D, and scales of rows and columns."""
    if precision < 256:
        return (precision,) * 5 + (Precision.SINGLE,) * 2
    a, b, c = precision & 255, precision >> 8 & 255, precision >> 16
    vector = c if Element.Q4 in (a, b) or Element.Q8 in (a, b) or c == Element.INT32 else Precision.SINGLE
    return (a, b, c, vector, c, Precision.SINGLE, Precision.SINGLE)


# One for all products, or one for each.
Scalar = Union[complex, Sequence[complex]]


class Error(Exception):
    """A failed call. str(error) and `message` are one line; `opencl_code` is OpenCL's error, or 0; `argument` is the
    refused argument, with Code.INVALID_ARGUMENT."""

    __module__ = "clbake"

    def __init__(self, code: Code, message: str, argument: Argument = Argument.NONE, opencl_code: int = 0) -> None:
        super().__init__(code, message, argument, opencl_code)
        self.code = code
        self.message = message
        self.argument = argument
        self.opencl_code = opencl_code

    def __str__(self) -> str:
        return self.message


def refused(argument: Argument, message: str) -> Error:
    return Error(Code.INVALID_ARGUMENT, message, argument)


def checked_size(value: int, argument: Argument) -> int:
    """A number that fits a size_t; ctypes would take others modulo 2^64."""
    number = operator.index(value)
    if not 0 <= number < 2**63:
        raise refused(argument, f"{argument.name.lower()} is {number}")
    return number


class Problem(h.ProblemStruct):
    """C = act(alpha * op(A) * op(B) + beta * C + bias): C is m x n, op(A) m x k, op(B) k x n. Sizes, leading dimensions
    and strides are in elements.

    Leading dimensions that are None are the least, strides that are None put the products of a batch one after
    another. conj_a and conj_b conjugate op(X) of a complex problem. `offsets`: for each product the elements before its
    A, B and C, in the place of the strides. With `has_d` beta multiplies a matrix D instead of C. Scales and zero points
    are those of a mixed product. Packed weights (clbake.weights) are bytes: so are their offsets and strides.

    Does not change once it is made. Raises Error for sizes that are negative or too large; a library refuses everything
    else that is impossible.
    """

    _ready = False

    def __init__(self, m: int, n: int, k: int, precision: Precision | int = Precision.SINGLE,
                 layout: Layout = Layout.ROW_MAJOR, *, trans_a: bool = False, trans_b: bool = False,
                 conj_a: bool = False, conj_b: bool = False, lda: int | None = None, ldb: int | None = None,
                 ldc: int | None = None, batch: int = 1, a_stride: int | None = None, b_stride: int | None = None,
                 c_stride: int | None = None, offsets: Sequence[tuple[int, int, int]] | None = None,
                 bias: Bias = Bias.NONE, bias_stride: int = 0, activation: Activation = Activation.NONE,
                 low: float = 0.0, high: float = 0.0, has_d: bool = False, ldd: int | None = None,
                 d_stride: int | None = None, row_scales: bool = False, column_scales: bool = False,
                 row_scale_stride: int = 0, column_scale_stride: int = 0, zero_a: int = 0, zero_b: int = 0,
                 zero_c: int = 0, weight_group: int = 32, weight_zeros: bool = False) -> None:
        super().__init__()
        self.precision, self.layout, self.bias, self.activation = map(int, (precision, layout, bias, activation))
        self.trans_a, self.trans_b, self.conj_a, self.conj_b = map(bool, (trans_a, trans_b, conj_a, conj_b))
        self.low, self.high, self.has_d = low, high, bool(has_d)
        for name, size in (("m", m), ("n", n), ("k", k), ("batch", batch), ("bias_stride", bias_stride)):
            setattr(self, name, checked_size(size, Argument[name.upper()]))
        self.row_scales, self.column_scales = bool(row_scales), bool(column_scales)
        self.row_scale_stride = checked_size(row_scale_stride, Argument.QUANTIZATION)
        self.column_scale_stride = checked_size(column_scale_stride, Argument.QUANTIZATION)
        for name, zero in (("zero_a", zero_a), ("zero_b", zero_b), ("zero_c", zero_c)):
            if not -2**31 <= operator.index(zero) < 2**31:
                raise refused(Argument.QUANTIZATION, f"{name} is {zero}")
            setattr(self, name, zero)
        self.weight_group = checked_size(weight_group, Argument.QUANTIZATION)
        self.weight_zeros = bool(weight_zeros)
        self._lay_out("a", self.m, self.k, trans_a, lda, a_stride, self._packed_bytes(self.precision & 255, self.m))
        self._lay_out("b", self.k, self.n, trans_b, ldb, b_stride, self._packed_bytes(self.precision >> 8 & 255, self.n))
        self._lay_out("c", self.m, self.n, False, ldc, c_stride)
        if has_d:
            self._lay_out("d", self.m, self.n, False, ldd, d_stride)
        if offsets is not None:
            if len(offsets) != self.batch:
                raise refused(Argument.OFFSETS, f"{len(offsets)} offsets for a batch of {self.batch}")
            checked = [h.BatchOffsetsStruct(*(checked_size(x, Argument.OFFSETS) for x in each)) for each in offsets]
            self.offsets = (h.BatchOffsetsStruct * len(checked))(*checked)
        self._ready = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._ready:  # leading dimensions and strides follow from the other sizes
            raise AttributeError("a Problem does not change; make another one")
        super().__setattr__(name, value)

    def _packed_bytes(self, element: int, columns: int) -> int | None:
        """Bytes of this operand if it is packed weights (weight_bytes in clbake/weights/format.hpp)."""
        if element not in (Element.Q4, Element.Q8) or self.weight_group == 0:
            return None
        bits = 4 if element == Element.Q4 else 8
        block = (3 if self.weight_zeros else 2) * 16 + 2 * self.weight_group * bits
        return 64 + (columns + 15) // 16 * (self.k // self.weight_group) * block

    def _lay_out(self, name: str, rows: int, columns: int, transposed: bool, leading: int | None,
                 stride: int | None, packed_bytes: int | None = None) -> None:
        row_major = self.layout == Layout.ROW_MAJOR
        length, number = (columns, rows) if row_major != bool(transposed) else (rows, columns)
        if leading is None:
            leading = max(length, 1)
        if stride is None:
            # No product may share its C with another one, even where C has no element.
            stride = (packed_bytes or max(number * leading, 1)) if self.batch > 1 else 0
        setattr(self, f"ld{name}", checked_size(leading, Argument[f"LD{name.upper()}"]))
        setattr(self, f"{name}_stride", checked_size(stride, Argument[f"{name.upper()}_STRIDE"]))

    @staticmethod
    def for_arrays(a: Any, b: Any, c: Any, *, bias: Any = None, activation: Activation = Activation.NONE,
                   low: float = 0.0, high: float = 0.0, d: Any = None) -> Problem:
        """The problem c = act(alpha * a @ b + beta * c + bias) of arrays, by their shapes, strides and dtypes.

        Two dimensions, or three for a batch, in which a and b may lack the first. Rows or columns must be contiguous;
        a.T and slices are read in place. bias: n elements, or m x 1. d: as c.
        """
        precision = next((p for p, dtype in DTYPES.items() if dtype == c.dtype.name and p < Element.INT8), None)
        if precision is None:
            known = ", ".join(dtype for p, dtype in DTYPES.items() if p < Element.INT8)
            raise refused(Argument.PRECISION, f"c has {c.dtype}, which is none of {known}")
        batch = c.shape[0] if c.ndim == 3 else 1
        views = {name: _View(array, Argument[name.upper()], c, batch)
                 for name, array in (("a", a), ("b", b), ("c", c), ("d", d)) if array is not None}
        (m, n), k = views["c"].shape, views["a"].shape[1]
        layout = Layout.ROW_MAJOR if views["c"].leading[Layout.ROW_MAJOR] is not None else Layout.COLUMN_MAJOR
        fields: dict[str, Any] = {"batch": batch, "activation": activation, "low": low, "high": high}
        for name, view in views.items():
            shape = {"a": (m, k), "b": (k, n)}.get(name, (m, n))
            if view.shape != shape:
                raise refused(Argument[name.upper()], f"{name} is {view.shape}, not {shape}")
            transposed = view.leading[layout] is None
            if transposed and name == "d":
                raise refused(Argument.D, "d is stored by rows where c is by columns, or the other way round")
            if name in ("a", "b"):
                fields[f"trans_{name}"] = transposed
            fields[f"ld{name}"] = view.leading[Layout(layout ^ transposed)]
            fields[f"{name}_stride"] = view.stride
        if bias is not None:
            fields["bias"], fields["bias_stride"] = _bias_of(bias, m, n, batch)
        return Problem(m, n, k, precision, layout, has_d=d is not None, **fields)


def scalars_to_c(alpha: Scalar, beta: Scalar) -> Any:
    """An array of the header's structs."""
    lists = [list(x) for x in (alpha, beta) if hasattr(x, "__len__")]
    count = len(lists[0]) if lists else 1
    if any(len(each) != count for each in lists):
        raise refused(Argument.SCALARS, "alpha and beta have different lengths")
    alphas, betas = (list(x) if hasattr(x, "__len__") else [x] * count for x in (alpha, beta))  # type: ignore[arg-type]
    pairs = [(complex(x), complex(y)) for x, y in zip(alphas, betas)]
    return (h.ScalarsStruct * count)(*[h.ScalarsStruct(x.real, x.imag, y.real, y.imag) for x, y in pairs])


def _batch_stride(argument: Argument, count: int | None, step: int, batch: int) -> int:
    """Elements from one product's matrix to the next of an array with `count` matrices; None: it has no batch."""
    name = argument.name.lower()
    if count not in (None, 1, batch):
        raise refused(argument, f"{name} has a batch of {count}, c of {batch}")
    if count in (None, 1):
        return 0
    if step < 0:
        raise refused(argument, f"{name}: its products lie in reverse order")
    return step


class _View:
    """An array of two dimensions, or three with the batch before them. `leading`: its leading dimension when it is read
    in a layout, or None; it has one."""

    def __init__(self, array: Any, argument: Argument, c: Any, batch: int) -> None:
        name = argument.name.lower()
        if array.ndim not in (2, 3):
            raise refused(argument, f"{name} has {array.ndim} dimensions, not 2, or 3 for a batch")
        if array.dtype != c.dtype:
            raise refused(argument, f"{name} has {array.dtype}, c has {c.dtype}")
        if any(step % array.dtype.itemsize for step in array.strides):
            raise refused(argument, f"{name} has elements that are not aligned")
        steps = [step // array.dtype.itemsize for step in array.strides]
        self.shape = tuple(array.shape[-2:])
        self.stride = _batch_stride(argument, array.shape[0] if array.ndim == 3 else None, steps[0] if steps else 0, batch)
        self.leading = {Layout.ROW_MAJOR: self._leading(*self.shape, *steps[-2:]),
                        Layout.COLUMN_MAJOR: self._leading(*self.shape[::-1], *steps[:-3:-1])}
        if all(leading is None for leading in self.leading.values()):
            raise refused(argument, f"{name}: neither its rows nor its columns are contiguous")

    @staticmethod
    def _leading(number: int, length: int, step: int, inner: int) -> int | None:
        if length > 1 and inner != 1:
            return None
        if number <= 1 or length == 0:
            return max(length, 1)
        return step if step >= length else None


def _bias_of(array: Any, m: int, n: int, batch: int) -> tuple[Bias, int]:
    """By numpy's rules for shapes: n elements or 1 x n are per column, m x 1 per row; and the stride in a batch."""
    shape, steps = tuple(array.shape), [step // array.dtype.itemsize for step in array.strides]
    stride = _batch_stride(Argument.BIAS, shape[0] if len(shape) == 3 else None, steps[0] if steps else 0, batch)
    if shape in ((n,), (1, n), (batch, 1, n), (1, 1, n)) and (n <= 1 or steps[-1] == 1):
        return Bias.PER_COLUMN, stride
    if shape in ((m, 1), (batch, m, 1), (1, m, 1)) and (m <= 1 or steps[-2] == 1):
        return Bias.PER_ROW, stride
    raise refused(Argument.BIAS, f"bias is {shape}, not contiguous ({n},) or ({m}, 1)")

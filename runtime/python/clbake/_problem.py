"""Problems, from sizes or from arrays, and the exception of this module."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Sequence, Union

from . import _header as h
from ._header import Activation, Argument, Bias, Code, Layout, Precision


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


@dataclass
class Problem:
    """C = act(alpha * op(A) * op(B) + beta * C + bias): C is m x n, op(A) m x k, op(B) k x n. Sizes, leading dimensions
    and strides are in elements.

    Leading dimensions that are None are the least, strides that are None put the products of a batch one after
    another. conj_a and conj_b conjugate op(X) of a complex problem. `offsets`: for each product the elements before its
    A, B and C, in the place of the strides. With `has_d` beta multiplies a matrix D instead of C.
    """

    m: int
    n: int
    k: int
    precision: Precision = Precision.SINGLE
    layout: Layout = Layout.ROW_MAJOR
    trans_a: bool = False
    trans_b: bool = False
    conj_a: bool = False
    conj_b: bool = False
    lda: int | None = None
    ldb: int | None = None
    ldc: int | None = None
    batch: int = 1
    a_stride: int | None = None
    b_stride: int | None = None
    c_stride: int | None = None
    offsets: Sequence[tuple[int, int, int]] | None = None
    bias: Bias = Bias.NONE
    bias_stride: int = 0
    activation: Activation = Activation.NONE
    low: float = 0.0
    high: float = 0.0
    has_d: bool = False
    ldd: int | None = None
    d_stride: int | None = None

    @staticmethod
    def for_arrays(a: Any, b: Any, c: Any, *, bias: Any = None, activation: Activation = Activation.NONE,
                   low: float = 0.0, high: float = 0.0, d: Any = None) -> Problem:
        """The problem c = act(alpha * a @ b + beta * c + bias) of arrays, by their shapes, strides and dtypes.

        Two dimensions, or three for a batch, in which a and b may lack the first. Rows or columns must be contiguous;
        a.T and slices are read in place. bias: n elements, or m x 1. d: as c.
        """
        return _problem_for_arrays(a, b, c, bias, d, activation, low, high)

    def to_c(self) -> h.ProblemStruct:
        """The struct of the header; the caller checks it."""
        row_major = self.layout == Layout.ROW_MAJOR
        to = h.ProblemStruct()
        to.precision, to.layout = int(self.precision), int(self.layout)
        to.trans_a, to.trans_b, to.has_d = bool(self.trans_a), bool(self.trans_b), bool(self.has_d)
        to.conj_a, to.conj_b = bool(self.conj_a), bool(self.conj_b)
        to.bias, to.activation = int(self.bias), int(self.activation)
        to.low, to.high = self.low, self.high
        for name in ("m", "n", "k", "batch", "bias_stride"):
            setattr(to, name, checked_size(getattr(self, name), Argument[name.upper()]))

        def lay_out(name: str, rows: int, columns: int, transposed: bool) -> None:
            length, number = (columns, rows) if row_major != transposed else (rows, columns)
            given, stride = getattr(self, f"ld{name}"), getattr(self, f"{name}_stride")
            leading = max(length, 1) if given is None else checked_size(given, Argument[f"LD{name.upper()}"])
            setattr(to, f"ld{name}", leading)
            if stride is None:
                # No product may share its C with another one, even where C has no element.
                stride = max(number * leading, 1) if self.batch > 1 else 0
            setattr(to, f"{name}_stride", checked_size(stride, Argument[f"{name.upper()}_STRIDE"]))

        lay_out("a", to.m, to.k, to.trans_a != 0)
        lay_out("b", to.k, to.n, to.trans_b != 0)
        lay_out("c", to.m, to.n, False)
        if self.has_d:
            lay_out("d", to.m, to.n, False)
        if self.offsets is not None:
            if len(self.offsets) != self.batch:
                raise refused(Argument.OFFSETS, f"{len(self.offsets)} offsets for a batch of {self.batch}")
            checked = [[checked_size(x, Argument.OFFSETS) for x in each] for each in self.offsets]
            to.offsets = (h.BatchOffsetsStruct * len(checked))(*[h.BatchOffsetsStruct(*each) for each in checked])
        return to


DTYPES = {Precision.SINGLE: "float32", Precision.DOUBLE: "float64", Precision.HALF: "float16",
           Precision.BFLOAT16: "bfloat16", Precision.COMPLEX_SINGLE: "complex64", Precision.COMPLEX_DOUBLE: "complex128"}

# One for all products, or one for each.
Scalar = Union[complex, Sequence[complex]]


def scalars_to_c(alpha: Scalar, beta: Scalar) -> Any:
    """An array of the header's structs."""
    lists = [list(x) for x in (alpha, beta) if hasattr(x, "__len__")]
    count = len(lists[0]) if lists else 1
    if any(len(each) != count for each in lists):
        raise refused(Argument.SCALARS, "alpha and beta have different lengths")
    alphas, betas = (list(x) if hasattr(x, "__len__") else [x] * count for x in (alpha, beta))  # type: ignore[arg-type]
    pairs = [(complex(x), complex(y)) for x, y in zip(alphas, betas)]
    return (h.ScalarsStruct * count)(*[h.ScalarsStruct(x.real, x.imag, y.real, y.imag) for x, y in pairs])


class _View:
    """An array of two dimensions, or three with the batch before them; steps are strides in elements."""

    def __init__(self, array: Any, argument: Argument) -> None:
        self.argument, self.name = argument, argument.name.lower()
        self.dtype = array.dtype.name
        if array.ndim not in (2, 3):
            raise refused(argument, f"{self.name} has {array.ndim} dimensions, not 2, or 3 for a batch")
        if any(step % array.dtype.itemsize for step in array.strides):
            raise refused(argument, f"{self.name} has elements that are not aligned")
        steps = [step // array.dtype.itemsize for step in array.strides]
        self.shape, self.steps = tuple(array.shape[-2:]), steps[-2:]
        self.batch: int | None = array.shape[0] if array.ndim == 3 else None
        self.batch_step: int = steps[0] if array.ndim == 3 else 0

    def leading(self, layout: Layout) -> int | None:
        """The leading dimension of the array stored in this layout; None if it is not."""
        order = 1 if layout == Layout.ROW_MAJOR else -1
        (number, length), (step, inner) = self.shape[::order], self.steps[::order]
        if length > 1 and inner != 1:
            return None
        if number <= 1 or length == 0:
            return max(length, 1)
        return step if step >= length else None

    def stored(self, layout: Layout) -> tuple[bool, int]:
        """(Is the array stored transposed to this layout? Its leading dimension.)"""
        for transposed in (False, True):
            leading = self.leading(Layout(int(layout) ^ int(transposed)))
            if leading is not None:
                return transposed, leading
        raise refused(self.argument, f"{self.name}: neither its rows nor its columns are contiguous")

    def stride(self, batch: int | None) -> int:
        """Elements from one product's matrix to the next."""
        if self.batch is not None and self.batch != 1 and self.batch != batch:
            raise refused(self.argument, f"{self.name} has a batch of {self.batch}, c of {batch or 1}")
        if self.batch_step < 0:
            raise refused(self.argument, f"{self.name}: its products lie in reverse order")
        return self.batch_step if self.batch == batch and self.batch != 1 else 0


def _bias_of(array: Any, m: int, n: int, batch: int | None) -> tuple[Bias, int]:
    """By numpy's rules for shapes: n elements or 1 x n are per column, m x 1 per row; and the stride in a batch."""
    shape, strides = tuple(array.shape), tuple(step // array.dtype.itemsize for step in array.strides)
    count = shape[0] if len(shape) == 3 else None
    if count is not None and count not in (1, batch):
        raise refused(Argument.BIAS, f"bias has a batch of {count}, c of {batch or 1}")
    stride = strides[0] if count is not None and count == batch and count != 1 else 0
    for kind, length, along, other in ((Bias.PER_COLUMN, n, -1, -2), (Bias.PER_ROW, m, -2, -1)):
        fits = len(shape) in (2, 3) and shape[along] == length and shape[other] == 1
        if (fits or (kind == Bias.PER_COLUMN and shape == (n,))) and (length <= 1 or strides[along] == 1):
            return kind, stride
    raise refused(Argument.BIAS, f"bias is {shape}, not contiguous ({n},) or ({m}, 1)")


def _problem_for_arrays(a: Any, b: Any, c: Any, bias: Any, d: Any, activation: Activation, low: float,
                        high: float) -> Problem:
    views = {"a": _View(a, Argument.A), "b": _View(b, Argument.B), "c": _View(c, Argument.C)}
    if d is not None:
        views["d"] = _View(d, Argument.D)
    c_view = views["c"]
    precision = next((p for p, dtype in DTYPES.items() if dtype == c_view.dtype), None)
    if precision is None:
        raise refused(Argument.PRECISION, f"c has {c_view.dtype}, which is none of {', '.join(DTYPES.values())}")
    (m, n), k = c_view.shape, views["a"].shape[1]
    for name, shape in (("a", (m, k)), ("b", (k, n)), ("d", (m, n))):
        if name in views and views[name].shape != shape:
            raise refused(views[name].argument, f"{name} is {views[name].shape}, not {shape}")
    layout = Layout.ROW_MAJOR if c_view.leading(Layout.ROW_MAJOR) is not None else Layout.COLUMN_MAJOR
    problem = Problem(m, n, k, precision, layout, activation=activation, low=low, high=high, has_d=d is not None)
    problem.batch = 1 if c_view.batch is None else c_view.batch
    for name, view in views.items():
        if view.dtype != c_view.dtype:
            raise refused(view.argument, f"{name} has {view.dtype}, c has {c_view.dtype}")
        transposed, leading = view.stored(layout)
        if name in ("a", "b"):
            setattr(problem, f"trans_{name}", transposed)
        elif transposed:
            raise refused(view.argument, f"{name}: neither its rows nor its columns are contiguous" if name == "c" else
                           "d is stored by rows where c is by columns, or the other way round")
        setattr(problem, f"ld{name}", leading)
        setattr(problem, f"{name}_stride", view.stride(c_view.batch))
    if bias is not None:
        problem.bias, problem.bias_stride = _bias_of(bias, m, n, c_view.batch)
    return problem

"""clbake/clbake.h for ctypes: its enumerations, structs and functions, and how the shared library is found.

tests/runtime/python compares every number, offset and signature of this file with the header's.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from ctypes import (CFUNCTYPE, POINTER, c_char, c_char_p, c_double, c_int, c_int32, c_size_t, c_uint32, c_uint64,
                    c_void_p)
from enum import IntEnum
from pathlib import Path

VERSION = (1, 0, 0)  # of the header; a library of another major or minor version is refused


class Code(IntEnum):
    """Why an operation failed; 20 to 49 are also the reasons for a miss. clbake/status.hpp explains each."""

    OK = 0
    INVALID_ARGUMENT = 1
    OUT_OF_MEMORY = 2
    CANCELLED = 3
    NOT_FOUND = 10
    IO = 11
    NOT_A_BUNDLE = 20
    TRUNCATED = 21
    CHECKSUM = 22
    UNSUPPORTED_VERSION = 23
    MALFORMED = 24
    NOT_TRUSTED = 25
    NO_TARGET = 30
    OTHER_DRIVER = 31
    NO_VARIANT = 32
    NO_ENTRY = 33
    NO_PROGRAM = 34
    DRIVER_REJECTED = 40
    BUILD_FAILED = 50
    OPENCL = 51
    NO_DEVICE = 52
    WRONG_RESULT = 53


class Argument(IntEnum):
    """The argument that a call refused, with Code.INVALID_ARGUMENT. clbake/status.hpp explains each."""

    NONE = 0
    PRECISION = 1
    LAYOUT = 2
    M = 3
    N = 4
    K = 5
    LDA = 6
    LDB = 7
    LDC = 8
    BATCH = 9
    A_STRIDE = 10
    B_STRIDE = 11
    C_STRIDE = 12
    OFFSETS = 13
    BIAS = 14
    BIAS_STRIDE = 15
    ACTIVATION = 16
    BOUNDS = 17
    LDD = 18
    D_STRIDE = 19
    A = 20
    B = 21
    C = 22
    A_SIZE = 23
    B_SIZE = 24
    C_SIZE = 25
    C_ALIAS = 26
    C_READ_ONLY = 27
    WORKSPACE = 28
    QUEUE = 30
    WAIT_LIST = 31
    D = 32
    D_SIZE = 33
    D_ALIAS = 34
    BIAS_VECTOR = 35
    BIAS_SIZE = 36
    BIAS_ALIAS = 37
    CONTEXT = 40
    DEVICE = 41
    PLATFORM = 42
    BUNDLE = 43
    LIBRARY = 44
    GEMM = 45
    OPTIONS = 46
    STRUCT_SIZE = 47
    OUTPUT = 48
    DIRECTORY = 49
    OTHER = 50
    CONJ_A = 51
    CONJ_B = 52
    ALPHA = 53
    BETA = 54
    SCALARS = 55


class Precision(IntEnum):
    SINGLE = 1
    DOUBLE = 2
    HALF = 3
    BFLOAT16 = 4
    COMPLEX_SINGLE = 5
    COMPLEX_DOUBLE = 6


class Layout(IntEnum):
    ROW_MAJOR = 0
    COLUMN_MAJOR = 1


class Bias(IntEnum):
    """A vector that is added to C, with an element for each of its rows or columns."""

    NONE = 0
    PER_ROW = 1
    PER_COLUMN = 2


class Activation(IntEnum):
    """What becomes of an element x of C. s(x) = 1 / (1 + exp(-x))."""

    NONE = 0
    RELU = 1  # max(x, 0)
    CLAMP = 2  # at least Problem.low, at most Problem.high
    SIGMOID = 3  # s(x)
    SILU = 4  # x * s(x)
    GELU = 5  # x * (1 + erf(x / sqrt(2))) / 2
    GELU_TANH = 6  # x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2


class OverlayMode(IntEnum):
    READ_ONLY = 1
    READ_WRITE = 2


class OnMiss(IntEnum):
    """What happens when a bundle has no program for the problem on this device and driver."""

    COMPILE = 0  # compile from the source that the bundle carries
    FAIL = 1  # raise Error with the reason of the miss
    FALLBACK = 2  # serve with another program while a thread of the library compiles the wanted one


class LogLevel(IntEnum):
    INFO = 0
    WARNING = 1


class Origin(IntEnum):
    """Where the program that serves a problem comes from, best first."""

    NATIVE = 0  # machine code of the bundle
    PORTABLE = 1  # an intermediate language of the bundle, which the driver compiled
    OVERLAY = 2  # compiled at an earlier miss and kept in the overlay
    SOURCE = 3  # compiled by the driver from the bundle's source


class ErrorStruct(ctypes.Structure):
    _fields_ = [("code", c_int), ("message", c_char * 1012), ("argument", c_int), ("opencl_code", c_int32)]


class BatchOffsetsStruct(ctypes.Structure):
    _fields_ = [("a", c_size_t), ("b", c_size_t), ("c", c_size_t)]


class SizedStruct(ctypes.Structure):
    """A struct that begins with its size, as the _init function of the header leaves it."""

    def __init__(self) -> None:
        super().__init__()
        self.struct_size = ctypes.sizeof(self)


class ProblemStruct(SizedStruct):
    _fields_ = [
        ("struct_size", c_size_t),
        ("precision", c_int),
        ("layout", c_int),
        ("trans_a", c_int),
        ("trans_b", c_int),
        ("conj_a", c_int),
        ("conj_b", c_int),
        ("m", c_size_t),
        ("n", c_size_t),
        ("k", c_size_t),
        ("lda", c_size_t),
        ("ldb", c_size_t),
        ("ldc", c_size_t),
        ("batch", c_size_t),
        ("a_stride", c_size_t),
        ("b_stride", c_size_t),
        ("c_stride", c_size_t),
        ("offsets", POINTER(BatchOffsetsStruct)),
        ("bias", c_int),
        ("activation", c_int),
        ("bias_stride", c_size_t),
        ("low", c_double),
        ("high", c_double),
        ("has_d", c_int),
        ("ldd", c_size_t),
        ("d_stride", c_size_t),
    ]


class ScalarsStruct(ctypes.Structure):
    _fields_ = [("alpha", c_double), ("alpha_imaginary", c_double), ("beta", c_double), ("beta_imaginary", c_double)]


class EpilogueBuffersStruct(ctypes.Structure):
    _fields_ = [("bias", c_void_p), ("bias_offset", c_size_t), ("d", c_void_p), ("d_offset", c_size_t)]


LOG = CFUNCTYPE(None, c_int, c_char_p, c_void_p)
PROGRESS = CFUNCTYPE(c_int, c_size_t, c_size_t, c_double, c_void_p)


class OptionsStruct(SizedStruct):
    _fields_ = [
        ("struct_size", c_size_t),
        ("on_miss", c_int),
        ("newer_driver", c_int),
        ("only_build", c_int),
        ("log", LOG),
        ("log_data", c_void_p),
        ("overlay", c_void_p),
        ("record", c_int),
        ("trust", c_void_p),
    ]


class ExplanationStruct(SizedStruct):
    _fields_ = [
        ("struct_size", c_size_t),
        ("origin", c_int),
        ("miss", c_int),
        ("loaded", c_int),
        ("bundle", c_size_t),
        ("variant", c_char * 256),
        ("waits_for", c_char * 256),
        ("baked_for", c_char * 256),
        ("reason", c_char * 512),
        ("miss_message", c_char * 512),
        ("create_us", c_double),
        ("build_us", c_double),
        ("kernel_us", c_double),
    ]


class CountersStruct(SizedStruct):
    _fields_ = [
        ("struct_size", c_size_t),
        ("loaded", c_uint64),
        ("native", c_uint64),
        ("portable", c_uint64),
        ("overlay", c_uint64),
        ("source", c_uint64),
        ("fallback", c_uint64),
        ("failed", c_uint64),
        ("cached", c_uint64),
        ("waits", c_uint64),
        ("misses", c_uint64 * 64),
        ("create_us", c_uint64),
        ("build_us", c_uint64),
        ("kernel_us", c_uint64),
    ]


_error = POINTER(ErrorStruct)
_problem = POINTER(ProblemStruct)
_object = POINTER(c_void_p)  # where a function puts an object that it makes
_wait_list = POINTER(c_void_p)
# A call's scalars, matrices, wait list, event and error.
_call = [POINTER(ScalarsStruct), c_size_t, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p, c_size_t,
         POINTER(EpilogueBuffersStruct), c_uint32, _wait_list, _object, _error]

# name: (result, arguments)
FUNCTIONS = {
    "clbake_bundle_open": (c_int, [c_char_p, _object, _error]),
    "clbake_bundle_copy_memory": (c_int, [c_void_p, c_size_t, _object, _error]),
    "clbake_bundle_release": (None, [c_void_p]),
    "clbake_overlay_open": (c_int, [c_char_p, c_int, c_uint64, _object, _error]),
    "clbake_overlay_release": (None, [c_void_p]),
    "clbake_user_cache_directory": (c_int, [c_char_p, c_char_p, c_size_t, _error]),
    "clbake_library_create": (c_int, [c_void_p, c_void_p, _object, c_size_t, POINTER(OptionsStruct), _object, _error]),
    "clbake_library_release": (None, [c_void_p]),
    "clbake_library_gemm_scaled": (c_int, [c_void_p, c_void_p, _problem, *_call]),
    "clbake_library_warm": (c_int, [c_void_p, _problem, c_size_t, PROGRESS, c_void_p, _error]),
    "clbake_library_explain": (c_int, [c_void_p, _problem, POINTER(ExplanationStruct), _error]),
    "clbake_library_counters": (c_int, [c_void_p, POINTER(CountersStruct), _error]),
    "clbake_library_write_recording": (c_int, [c_void_p, c_char_p, _error]),
    "clbake_library_finish": (None, [c_void_p]),
    "clbake_gemm_prepare": (c_int, [c_void_p, _problem, c_char_p, c_int, _object, _error]),
    "clbake_gemm_clone": (c_int, [c_void_p, _object, _error]),
    "clbake_gemm_release": (None, [c_void_p]),
    "clbake_gemm_explanation": (c_int, [c_void_p, POINTER(ExplanationStruct), _error]),
    "clbake_gemm_enqueue_scaled": (c_int, [c_void_p, c_void_p, *_call]),
    "clbake_library_program": (c_int, [c_void_p, c_char_p, _object, _error]),
    "clbake_library_explain_program": (c_int, [c_void_p, c_char_p, POINTER(ExplanationStruct), _error]),
    "clbake_program_release": (None, [c_void_p]),
    "clbake_program_get": (c_void_p, [c_void_p]),
    "clbake_preload": (c_int, [c_void_p, _error]),
    "clbake_version": (c_int, []),
}


def open_library(path: str | None = None) -> ctypes.CDLL:
    """The shared library at `path`, or else beside this module, or else where the system's linker finds it.

    Raises OSError when there is none, or when it is of another version than this module.
    """
    beside = Path(__file__).with_name("libclbake.so")
    found = path or (str(beside) if beside.exists() else ctypes.util.find_library("clbake"))
    if not found:
        raise OSError("libclbake.so is neither beside the module nor installed: clbake.load(path) loads it from a path")
    library = ctypes.CDLL(found)
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:
            raise OSError(f"{found} has no function {name}: it is no libclbake of version {VERSION[0]}.{VERSION[1]}")
        function.restype, function.argtypes = result, arguments
    version = library.clbake_version()
    if version // 100 != VERSION[0] * 100 + VERSION[1]:
        raise OSError(f"{found} has version {version // 10000}.{version // 100 % 100}, "
                      f"the Python module {VERSION[0]}.{VERSION[1]}")
    return library

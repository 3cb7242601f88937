"""clbake: GEMM from a bundle of device binaries, on pyopencl's contexts, queues, buffers and arrays.

    library = clbake.Library(context, context.devices[0], clbake.Bundle("gemm.clbake"))
    library.matmul(a, b, c)                                        # arrays; returns a pyopencl.Event
    gemm = library.prepare(clbake.Problem(512, 512, 512))          # buffers: row-major, single precision
    gemm.enqueue(queue, a_buffer, b_buffer, c_buffer, alpha=2.0)

clbake/clbake.hpp says more about each call. Every failure raises clbake.Error. Nothing waits for the device, unless its
description says so.

Objects keep those that they use alive and may be closed in any order, or not at all, but not while another thread uses
them. Any number of threads may use a Library, one at a time a Gemm (Gemm.clone).
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
import threading
import weakref
from collections import namedtuple
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, NamedTuple, Sequence, Union

from . import _header as h
from ._header import Activation, Argument, Bias, Code, Element, Layout, LogLevel, OnMiss, Origin, Precision
from ._problem import (BITS, DTYPES, Error, Problem, Scalar, checked_size, element_types, mixed, refused,
                       scalars_to_c)

if TYPE_CHECKING:
    import pyopencl as cl
    import pyopencl.array

__all__ = ["Activation", "Argument", "Bias", "Bundle", "Code", "Counters", "Element", "Error", "Explanation", "Gemm",
           "GemmGroup", "Layout", "Library", "LogLevel", "Matrix", "NeededSlices", "OnMiss", "Origin", "Overlay",
           "Precision", "Problem", "ProgramText", "RecordedGemm", "Slice", "SliceIndex", "load", "mixed", "preload",
           "user_cache_directory"]

# A buffer, shared virtual memory, or as a number a pointer into Intel's unified shared memory, which both must live
# until the kernels have ended.
Memory = Union["cl.Buffer", "cl.SVMPointer", int]
# Memory; memory and the elements before its matrix; an array; or None where the call reads nothing.
Matrix = Union[Memory, "tuple[Memory, int]", "cl.array.Array", None]
_SVM, _USM = (1 << 8 * ctypes.sizeof(ctypes.c_size_t) - bit for bit in (1, 2))  # CLBAKE_SVM and CLBAKE_USM


class ProgramText(NamedTuple):
    """All that an application would give OpenCL for one program.

    sources: a text or several, which are joined. il: SPIR-V in their place. options: of clBuildProgram; of
    clCompileProgram for a part; of clLinkProgram with parts. headers: of clCompileProgram, texts by name. parts: the
    programs that are linked; then there are no sources.
    """

    sources: str | Sequence[str] = ()
    options: str = ""
    headers: Mapping[str, str] = {}
    il: bytes = b""
    parts: Sequence[ProgramText] = ()

    def _struct(self) -> tuple[h.ProgramTextStruct, list[Any]]:
        """The text for C, and what must live as long."""
        sources = [each.encode() for each in ([self.sources] if isinstance(self.sources, str) else self.sources)]
        parts = [part._struct() for part in self.parts]
        struct = h.ProgramTextStruct()
        struct.source_count, struct.il_size = len(sources), len(self.il)
        struct.header_count, struct.part_count = len(self.headers), len(parts)
        sizes = (ctypes.c_size_t * len(sources))(*map(len, sources))
        il = ctypes.create_string_buffer(self.il)
        pointers = (ctypes.c_void_p * len(parts))(*(ctypes.addressof(part) for part, _ in parts))
        struct.sources = (ctypes.c_char_p * len(sources))(*sources)
        struct.source_sizes, struct.il = ctypes.addressof(sizes), ctypes.addressof(il)
        struct.options = _encoded(self.options)
        struct.header_names = (ctypes.c_char_p * len(self.headers))(*map(_encoded, self.headers))
        struct.header_texts = (ctypes.c_char_p * len(self.headers))(*map(_encoded, self.headers.values()))
        struct.parts = ctypes.addressof(pointers)
        return struct, [sizes, il, pointers, parts]


def _asked_for(program: str | Sequence[str] | ProgramText, options: str | None) -> tuple[str, Any, list[Any]]:
    """The end of a function's name, its argument, and what must live during the call."""
    if isinstance(program, str) and options is None:
        return "", _encoded(program), []
    text = program if isinstance(program, ProgramText) else ProgramText(program, options or "")
    struct, keep = text._struct()
    return "_text", ctypes.byref(struct), [struct, keep]


def _open_opencl(library: ctypes.CDLL, path: str | None) -> None:
    """Gives a libclbake that links no OpenCL the one at `path`, or else pyopencl's, on Windows the system's."""
    use = getattr(library, "clbake_load_opencl", None)
    if use is None:
        if path is not None:
            raise OSError(f"{library._name} has its own OpenCL: it was built without CLBAKE_LOAD_OPENCL")
        return
    if path is None and sys.platform != "win32":  # there, a module does not lead to other libraries' functions
        from pyopencl import _cl

        path = _cl.__file__  # leads to the libraries that it is linked with
    error = h.ErrorStruct()
    if use(None if path is None else _encoded(path), ctypes.byref(error)) != Code.OK:
        raise OSError(error.message.decode(errors="replace"))


def _open_library(path: str | None) -> ctypes.CDLL:
    """The shared library at `path`, or else beside this module, or else where the system's linker finds it.

    Raises OSError when there is none, or when it is of another version than this module.
    """
    beside = Path(__file__).with_name("libclbake.dll" if sys.platform == "win32" else "libclbake.so")
    found = path or (str(beside) if beside.exists() else ctypes.util.find_library("clbake"))
    if not found:
        raise OSError(f"{beside.name} is neither beside the module nor installed: clbake.load(path) loads it from a path")
    library = ctypes.CDLL(found)
    version = library.clbake_version() // 100 if hasattr(library, "clbake_version") else None
    if version != h.VERSION[0] * 100 + h.VERSION[1]:
        raise OSError(f"{found} is no libclbake of this module's version {h.VERSION[0]}.{h.VERSION[1]}")
    for name, (result, arguments) in h.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_loaded: ctypes.CDLL | None = None


def load(path: str | os.PathLike[str] | None = None, opencl: str | os.PathLike[str] | None = None) -> None:
    """Loads libclbake.so: the file at `path`; or else the one beside this module, as wheels have it; or else the
    installed one. opencl: the library of OpenCL for a libclbake.so that links none (CLBAKE_LOAD_OPENCL); else it gets
    pyopencl's. Needed only to name a path, before anything else is called. Raises OSError."""
    global _loaded
    if _loaded is None:
        library = _open_library(None if path is None else os.fspath(path))
        _open_opencl(library, None if opencl is None else os.fspath(opencl))
        _loaded = library
    elif path is not None or opencl is not None:
        raise OSError(f"libclbake is loaded already: {_loaded._name}")


def _function(name: str) -> Callable[..., Any]:
    if _loaded is None:
        load()
    return getattr(_loaded, name)


def _call(name: str, *arguments: Any) -> None:
    """Calls a function whose last argument is a clbake_error; raises what that says."""
    error = h.ErrorStruct()
    code = _function(name)(*arguments, ctypes.byref(error))
    if code != Code.OK:
        raise Error(Code(code), error.message.decode(errors="replace"), Argument(error.argument), error.opencl_code)


def _made(name: str, *arguments: Any) -> ctypes.c_void_p:
    """Calls a function that makes an object; returns its handle."""
    handle = ctypes.c_void_p()
    _call(name, *arguments, ctypes.byref(handle))
    return handle


def _encoded(text: str | os.PathLike[str], argument: Argument = Argument.OTHER) -> bytes:
    encoded = os.fsencode(text)
    if b"\0" in encoded:
        raise refused(argument, f"{text!r} holds a null character")
    return encoded


_callback = threading.local()  # .active: this thread is in a log function


def _release(process: int, release: Callable[[int | None], None], handle: int | None, _keep: object) -> None:
    if os.getpid() != process:
        return  # a forked child does not have the library's thread, and so must not wait for it
    if getattr(_callback, "active", False):
        # Garbage collection inside a log function, perhaps on the thread that the release waits for.
        threading.Thread(target=release, args=(handle,)).start()
    else:
        release(handle)


class _Handle:
    """Owns an object of the library until close(), garbage collection or the interpreter's exit. `keep` lives until
    the object is released."""

    def __init__(self, kind: str, handle: ctypes.c_void_p, keep: object = None) -> None:
        release = _function(f"clbake_{kind}_release")
        self._finalizer = weakref.finalize(self, _release, os.getpid(), release, handle.value, keep)

    def close(self) -> None:
        """Releases the object; a second call does nothing."""
        self._finalizer()

    @property
    def _pointer(self) -> int:
        alive = self._finalizer.peek()
        if alive is None:
            name = type(self).__name__
            raise refused(Argument[name.upper()] if name.upper() in Argument.__members__ else Argument.OTHER,
                           f"the {name.lower()} is closed")
        return alive[2][2]

    def __enter__(self):  # -> Self
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Bundle(_Handle):
    """A bundle: the path of a file, or its bytes, which are copied. Libraries keep what they need of it."""

    def __init__(self, source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> None:
        if isinstance(source, (bytes, bytearray, memoryview)):
            content = bytes(source)
            super().__init__("bundle", _made("clbake_bundle_copy_memory", content, len(content)))
        else:
            super().__init__("bundle", _made("clbake_bundle_open", _encoded(source)))


class Slice(NamedTuple):
    """A slice of a release: its file's name and size; what it has for the question: native, portable or source."""

    name: str
    bytes: int
    origin: Origin


class NeededSlices(NamedTuple):
    """slices: to fetch. instead: what would serve without them. unserved: kinds of problems, and programs, that no slice
    serves."""

    slices: list[Slice]
    instead: list[Slice]
    unserved: list[str]


class SliceIndex(_Handle):
    """The index of a release in slices (`clbake split`): the path of a file, or its bytes. An index of a release before
    minimum_release is refused."""

    def __init__(self, source: str | os.PathLike[str] | bytes, *, minimum_release: int = 0) -> None:
        least = checked_size(minimum_release, Argument.OTHER)
        if isinstance(source, bytes):
            handle = _made("clbake_slice_index_copy_memory", source, len(source), least, None)
        else:
            handle = _made("clbake_slice_index_open", _encoded(source), least, None)
        super().__init__("slice_index", handle)

    @property
    def release(self) -> int:
        return _function("clbake_slice_index_number")(self._pointer)

    def needed(self, device: cl.Device, problems: Sequence[Problem] = (), programs: Sequence[str] = (), *,
               newer_driver: bool = False) -> NeededSlices:
        """The slices that the device needs for these problems, and programs by name. Fetches nothing."""
        array = (h.ProblemStruct * len(problems))(*problems)
        names = (ctypes.c_char_p * len(programs))(*map(_encoded, programs))
        handle = _made("clbake_slice_index_needed", self._pointer, device.int_ptr, int(newer_driver), array,
                       len(problems), names, len(names))
        with _Handle("slice_list", handle) as found:
            return _needed_slices(found._pointer)

    def open_slice(self, name: str, source: str | os.PathLike[str] | bytes) -> Bundle:
        """A slice that was fetched, a file or bytes, once its digest is the index'. Raises Error: TRUNCATED where a part
        of it is there, CHECKSUM for another one."""
        bundle = Bundle.__new__(Bundle)
        if isinstance(source, bytes):
            handle = _made("clbake_slice_index_copy_slice", self._pointer, _encoded(name), source, len(source))
        else:
            handle = _made("clbake_slice_index_open_slice", self._pointer, _encoded(name), _encoded(source))
        _Handle.__init__(bundle, "bundle", handle)
        return bundle


def _needed_slices(pointer: int) -> NeededSlices:
    needed = NeededSlices([], [], [])
    for i in range(_function("clbake_slice_list_count")(pointer)):
        struct = h.SliceStruct()
        _call("clbake_slice_list_get", pointer, i, ctypes.byref(struct))
        to = needed.instead if struct.instead else needed.slices
        to.append(Slice(struct.name.decode(), struct.bytes, Origin(struct.origin)))
    while (text := _function("clbake_slice_list_unserved")(pointer, len(needed.unserved))) is not None:
        needed.unserved.append(text.decode())
    return needed


class Overlay(_Handle):
    """A directory, made if need be, that keeps what had to be compiled for the next process. It must belong to the
    user: programs in it are run. max_bytes: 0 for 256 MiB. shared: a directory of all users, of root or of
    shared_owner, that is only read, where the first one has nothing; the directory may be None then."""

    def __init__(self, directory: str | os.PathLike[str] | None, *, read_only: bool = False, max_bytes: int = 0,
                 shared: str | os.PathLike[str] | None = None, shared_owner: str = "") -> None:
        mode = h.OverlayMode.READ_ONLY if read_only else h.OverlayMode.READ_WRITE
        size = checked_size(max_bytes, Argument.OPTIONS)
        if shared is None:
            made = _made("clbake_overlay_open", _encoded(directory, Argument.DIRECTORY), mode, size)
        else:
            own = None if directory is None else _encoded(directory, Argument.DIRECTORY)
            made = _made("clbake_overlay_open_shared", _encoded(shared, Argument.DIRECTORY), _encoded(shared_owner),
                         own, mode, size)
        super().__init__("overlay", made)


def user_cache_directory(application: str) -> str:
    """The user's cache directory for the application, for an Overlay. The only function that reads the environment."""
    room = ctypes.create_string_buffer(4096)
    _call("clbake_user_cache_directory", _encoded(application), room, len(room))
    return os.fsdecode(room.value)


def preload(platform: cl.Platform) -> None:
    """Does early what NVIDIA's driver would do at the first program of the process. For a thread of its own while the
    context is made."""
    _call("clbake_preload", platform.int_ptr)


# The fields of clbake.h's structs, texts as str.
Explanation = namedtuple("Explanation", [name for name, *_ in h.ExplanationStruct._fields_[1:]])
Counters = namedtuple("Counters", [name for name, *_ in h.CountersStruct._fields_[1:]])


def _explanation(name: str, *arguments: Any) -> Explanation:
    """Calls a function that fills in an explanation."""
    struct = h.ExplanationStruct()
    _call(name, *arguments, ctypes.byref(struct))
    values = [getattr(struct, field) for field in Explanation._fields]
    texts = [value.decode(errors="replace") if isinstance(value, bytes) else value for value in values]
    return Explanation(*texts)._replace(origin=Origin(struct.origin), miss=Code(struct.miss), loaded=bool(struct.loaded))


class Gemm(_Handle):
    """A problem ready to run: made by Library.prepare. May outlive its library. One thread at a time."""

    def __init__(self, handle: ctypes.c_void_p, precision: int) -> None:
        super().__init__("gemm", handle)
        self._precision = precision

    def clone(self) -> Gemm:
        """The same problem and program with its own kernels and workspace, for another thread."""
        return Gemm(_made("clbake_gemm_clone", self._pointer), self._precision)

    def enqueue(self, queue: cl.CommandQueue, a: Matrix, b: Matrix, c: Matrix, *, alpha: Scalar = 1.0,
                beta: Scalar = 0.0, bias: Matrix = None, d: Matrix = None, row_scales: Matrix = None,
                column_scales: Matrix = None, wait_for: Iterable[cl.Event] | None = None) -> cl.Event:
        """Enqueues the product and returns its event, without waiting. With beta = 0 C is not read. alpha and beta: a
        number, of complex problems a complex one, or a list with one for each product of the batch.

        Arrays must have the problem's sizes, which are not compared. Their events are waited for, and c gets the new
        one.
        """
        return _enqueue("clbake_gemm_enqueue_scaled", (self._pointer, queue.int_ptr), self._precision, alpha, beta, a,
                        b, c, (bias, d, row_scales, column_scales), wait_for)

    def record(self, commands: int, a: Matrix, b: Matrix, c: Matrix, *, alpha: float = 1.0, beta: float = 0.0,
               wait_for: Sequence[int] = (), updatable: bool = False, **more: Matrix) -> RecordedGemm:
        """Records the product into a command buffer of cl_khr_command_buffer, given by its address, as pyopencl has
        none. It runs after the sync points wait_for, and must not after the end of this object and the operands.
        more: bias, d and scales as in enqueue. updatable: the product can change. Arrays' events are not waited for."""
        matrices, others = _operands(self._precision, a, b, c, [], **more)
        point, recorded = ctypes.c_uint32(), ctypes.c_void_p()
        _call("clbake_gemm_record", self._pointer, commands, alpha, *matrices[:4], beta, *matrices[4:], others,
              len(wait_for), (ctypes.c_uint32 * len(wait_for))(*wait_for), ctypes.byref(point),
              ctypes.byref(recorded) if updatable else None)
        return RecordedGemm(recorded, self, point.value)

    @property
    def explanation(self) -> Explanation:
        """The program that serves, and why."""
        return _explanation("clbake_gemm_explanation", self._pointer)


class RecordedGemm(_Handle):
    """A product in a command buffer, made by Gemm.record. point: its sync point."""

    def __init__(self, handle: ctypes.c_void_p, gemm: Gemm, point: int) -> None:
        super().__init__("recorded", handle, gemm)
        self._precision, self.point = gemm._precision, point

    def update(self, a: Matrix, b: Matrix, c: Matrix, *, alpha: float = 1.0, beta: float = 0.0,
               **more: Matrix) -> None:
        """Gives the product other scalars and operands; not while the command buffer runs."""
        matrices, others = _operands(self._precision, a, b, c, [], **more)
        _call("clbake_recorded_update", self._pointer, alpha, *matrices[:4], beta, *matrices[4:], others)


class GemmGroup(_Handle):
    """Products of different sizes, ready to run in one call: made by Library.prepare_group. One thread at a time."""

    def __init__(self, handle: ctypes.c_void_p, precision: int) -> None:
        super().__init__("group", handle)
        self._precision = precision

    def enqueue(self, queue: cl.CommandQueue, a: Matrix, b: Matrix, c: Matrix, *, counts: Matrix = None,
                alpha: complex = 1.0, beta: complex = 0.0, bias: Matrix = None, d: Matrix = None,
                row_scales: Matrix = None, column_scales: Matrix = None,
                wait_for: Iterable[cl.Event] | None = None) -> cl.Event:
        """Enqueues all products and returns an event for them. Their offsets are added to those of the call; bias and
        scales of product i begin i times their stride behind it, D where C does. counts: the rows of each product of a
        counted group, int32. Otherwise as Gemm.enqueue."""
        return _enqueue("clbake_group_enqueue", (self._pointer, queue.int_ptr), self._precision, alpha, beta, a, b, c,
                        (bias, d, row_scales, column_scales), wait_for, (counts,))

    @property
    def is_one_launch(self) -> bool:
        """True: one launch computes all products."""
        return bool(_function("clbake_group_is_one_launch")(self._pointer))

    @property
    def explanation(self) -> Explanation:
        """The program that serves, and why; that of the first product where each has its own."""
        return _explanation("clbake_group_explanation", self._pointer)


class Library(_Handle):
    """The programs of bundles, the first that has one serves, on one device of one context. Loads nothing yet.

    newer_driver: allows machine code made for an older driver, or offline, where that is known to work.
    only_build: no first launch on zeros after a program is loaded on PoCL.
    log: gets events like misses, on the thread that does the work; must not close the library.
    record: counts the calls of each problem for write_recording.
    """

    def __init__(self, context: cl.Context, device: cl.Device, bundles: Bundle | Sequence[Bundle], *,
                 on_miss: OnMiss = OnMiss.COMPILE, newer_driver: bool = False, only_build: bool = False,
                 overlay: Overlay | None = None, log: Callable[[LogLevel, str], None] | None = None,
                 record: bool = False) -> None:
        options = h.OptionsStruct()
        options.on_miss = OnMiss(on_miss)
        options.newer_driver, options.only_build, options.record = bool(newer_driver), bool(only_build), bool(record)
        if overlay is not None and not isinstance(overlay, Overlay):
            raise TypeError("overlay: expected an Overlay")
        options.overlay = None if overlay is None else overlay._pointer
        if log is not None:
            options.log = h.Log(_log_function(log))
        listed = [bundles] if isinstance(bundles, Bundle) else list(bundles)
        if not all(isinstance(each, Bundle) for each in listed):
            raise TypeError("bundles: expected Bundle objects, such as Bundle(path)")
        pointers = [each._pointer for each in listed]
        handle = _made("clbake_library_create", context.int_ptr, device.int_ptr,
                       (ctypes.c_void_p * len(pointers))(*pointers), len(pointers), ctypes.byref(options))
        super().__init__("library", handle, keep=options)

    def prepare(self, problem: Problem, *, variant: str | None = None) -> Gemm:
        """Chooses the variant, or takes the named one, and loads its program."""
        name = None if variant is None else _encoded(variant)
        return Gemm(_made("clbake_gemm_prepare", self._pointer, ctypes.byref(problem), name, 0), problem.precision)

    def prepare_group(self, products: Iterable[Problem], *, variant: str | None = None) -> GemmGroup:
        """Products that agree in all but sizes, leading dimensions and offsets, of which each has one or none. One
        launch where a bundle has a variant for groups (`clbake build --group`)."""
        listed, name = list(products), None if variant is None else _encoded(variant)
        handle = _made("clbake_group_prepare", self._pointer, (h.ProblemStruct * len(listed))(*listed), len(listed), name)
        return GemmGroup(handle, listed[0].precision)

    def prepare_counted_group(self, problem: Problem, *, variant: str | None = None) -> GemmGroup:
        """problem.batch products that share n and k, and whose rows the device counts, problem.m in all at most:
        clbake.hpp. For mixtures of experts."""
        name = None if variant is None else _encoded(variant)
        handle = _made("clbake_group_prepare_counted", self._pointer, ctypes.byref(problem), name)
        return GemmGroup(handle, problem.precision)

    def gemm(self, queue: cl.CommandQueue, problem: Problem, a: Matrix, b: Matrix, c: Matrix, *, alpha: Scalar = 1.0,
             beta: Scalar = 0.0, bias: Matrix = None, d: Matrix = None, row_scales: Matrix = None,
             column_scales: Matrix = None, wait_for: Iterable[cl.Event] | None = None) -> cl.Event:
        """prepare and Gemm.enqueue in one call; keeps what it prepared."""
        first = (self._pointer, queue.int_ptr, ctypes.byref(problem))
        return _enqueue("clbake_library_gemm_scaled", first, problem.precision, alpha, beta, a, b, c,
                        (bias, d, row_scales, column_scales), wait_for)

    def matmul(self, a: cl.array.Array, b: cl.array.Array, c: cl.array.Array, *, alpha: Scalar = 1.0, beta: Scalar = 0.0,
               bias: cl.array.Array | None = None, activation: Activation = Activation.NONE, low: float = 0.0,
               high: float = 0.0, d: cl.array.Array | None = None, queue: cl.CommandQueue | None = None,
               wait_for: Iterable[cl.Event] | None = None) -> cl.Event:
        """c = act(alpha * a @ b + beta * c + bias) on arrays, as Problem.for_arrays reads them, on c's queue or another
        one."""
        problem = Problem.for_arrays(a, b, c, bias=bias, activation=activation, low=low, high=high, d=d)
        chosen = queue or c.queue
        if chosen is None:
            raise refused(Argument.QUEUE, "queue: neither given, nor has c one")
        return self.gemm(chosen, problem, a, b, c, alpha=alpha, beta=beta, bias=bias, d=d, wait_for=wait_for)

    def program(self, program: str | Sequence[str] | ProgramText, options: str | None = None) -> cl.Program:
        """A program of the application's own, loaded and built. Kernels come from it as from any other:
        pyopencl.Kernel(program, "softmax").

        With options ("" for none) or a ProgramText: the one of these sources, whatever its name in a bundle; else the
        one of this name (`clbake build --programs`)."""
        from pyopencl import Program

        kind, asked, _keep = _asked_for(program, options)
        handle = _made(f"clbake_library_program{kind}", self._pointer, asked)
        try:
            return Program.from_int_ptr(_function("clbake_program_get")(handle), retain=True)
        finally:
            _function("clbake_program_release")(handle)

    def warm(self, problems: Iterable[Problem],
             progress: Callable[[int, int, float], bool | None] | None = None) -> None:
        """Loads, or compiles, the programs for these problems; goes on after a failure and raises the first.

        progress(done, total, seconds_left) comes before the first problem and after each one; False stops, and raises
        Error with Code.CANCELLED, as does an exception, which is raised then.
        """
        listed = list(problems)
        raised: list[BaseException] = []

        def report(done: int, total: int, seconds_left: float, _data: object) -> int:
            try:
                return int(progress(done, total, seconds_left) is not False)  # type: ignore[misc]
            except BaseException as exception:  # must not pass through C
                raised.append(exception)
                return 0

        callback = h.Progress(report) if progress is not None else h.Progress()
        try:
            _call("clbake_library_warm", self._pointer, (h.ProblemStruct * len(listed))(*listed), len(listed),
                  callback, None)
        except Error:
            if not raised:
                raise
        if raised:
            raise raised[0]

    def explain(self, problem: Problem) -> Explanation:
        """Tells what prepare would do now, without loading or counting anything."""
        return _explanation("clbake_library_explain", self._pointer, ctypes.byref(problem))

    def explain_program(self, program: str | Sequence[str] | ProgramText, options: str | None = None) -> Explanation:
        """Tells what program would do now, without loading or counting anything."""
        kind, asked, _keep = _asked_for(program, options)
        return _explanation(f"clbake_library_explain_program{kind}", self._pointer, asked)

    @property
    def counters(self) -> Counters:
        """The library's events so far; `misses` by Code."""
        struct = h.CountersStruct()
        _call("clbake_library_counters", self._pointer, ctypes.byref(struct))
        misses = {code: struct.misses[code] for code in Code if code < len(struct.misses) and struct.misses[code]}
        return Counters(*(getattr(struct, field) for field in Counters._fields))._replace(misses=misses)

    def write_recording(self, path: str | os.PathLike[str]) -> None:
        """Writes which problems were called so far, for `clbake capture`. Needs record=True."""
        _call("clbake_library_write_recording", self._pointer, _encoded(path))

    def finish(self) -> None:
        """Waits until the library's thread has nothing left to compile or to write to the overlay."""
        _function("clbake_library_finish")(self._pointer)


def _log_function(log: Callable[[LogLevel, str], None]) -> Callable[[int, bytes, object], None]:
    def receive(level: int, message: bytes, _data: object) -> None:
        outer = getattr(_callback, "active", False)
        _callback.active = True
        try:
            log(LogLevel(level), message.decode(errors="replace"))
        finally:  # ctypes prints an exception
            _callback.active = outer

    return receive


def _memory(memory: Any, offset: int = 0) -> tuple[int, int]:
    """The cl_mem or pointer, and the offset with the flag of a pointer's kind."""
    if isinstance(memory, int):
        return memory, offset | _USM
    return (memory.svm_ptr, offset | _SVM) if hasattr(memory, "svm_ptr") else (memory.int_ptr, offset)


def _place(matrix: Any, argument: Argument, element: int, events: list[cl.Event]) -> tuple[int | None, int]:
    """The cl_mem, and the elements before the matrix. Adds an array's events."""
    if matrix is None:
        return None, 0
    if isinstance(matrix, tuple):
        memory, offset = matrix
        return _memory(memory, checked_size(offset, argument))
    if not hasattr(matrix, "base_data"):
        return _memory(matrix)
    name, dtype = argument.name.lower(), matrix.dtype.name
    if dtype != DTYPES.get(element) and dtype != BITS.get(element):
        raise refused(argument, f"{name} has {dtype}, the problem {DTYPES.get(element)}")
    if not hasattr(matrix.base_data, "int_ptr") and not hasattr(matrix.base_data, "svm_ptr"):
        raise refused(argument, f"{name} is not in a buffer")
    if matrix.offset % matrix.dtype.itemsize != 0:
        raise refused(argument, f"{name} begins between two elements of its buffer")
    events += matrix.events
    return _memory(matrix.base_data, matrix.offset // matrix.dtype.itemsize)


def _operands(precision: int, a: Matrix, b: Matrix, c: Any, events: list[cl.Event], bias: Matrix = None,
              d: Matrix = None, row_scales: Matrix = None, column_scales: Matrix = None) -> tuple[list[Any], Any]:
    """Memory and offsets of A, B and C, and the epilogue's for C. Adds the events of arrays."""
    names = (Argument.A, Argument.B, Argument.C, Argument.BIAS_VECTOR, Argument.D, Argument.ROW_SCALES,
             Argument.COLUMN_SCALES)
    more = bias, d, row_scales, column_scales
    numbers = [number for matrix, argument, of in zip((a, b, c, *more), names, element_types(precision))
               for number in _place(matrix, argument, of, events)]
    others = None if all(each is None for each in more) else ctypes.byref(h.EpilogueBuffersStruct(*numbers[6:]))
    return numbers[:6], others


def _enqueue(name: str, first: tuple[Any, ...], precision: int, alpha: Scalar, beta: Scalar, a: Matrix, b: Matrix,
             c: Any, more: tuple[Matrix, Matrix, Matrix, Matrix], wait_for: Iterable[cl.Event] | None,
             of_group: tuple[Matrix, ...] = ()) -> cl.Event:
    """of_group: the counts of a group, or None; all products of a group share alpha and beta."""
    from pyopencl import Event

    events = list(wait_for or ())
    matrices, others = _operands(precision, a, b, c, events, *more)
    scalars = scalars_to_c(alpha, beta)
    if of_group and len(scalars) != 1:
        raise refused(Argument.SCALARS, "a group has one alpha and one beta")
    counts = [number for matrix in of_group for number in _place(matrix, Argument.COUNTS, Element.INT32, events)]
    sized = (scalars,) if of_group else (scalars, len(scalars))
    waits = (ctypes.c_void_p * len(events))(*[event.int_ptr for event in events]) if events else None
    event = _made(name, *first, *sized, *matrices, others, *counts, len(events), waits)
    enqueued = Event.from_int_ptr(event.value or 0, retain=False)
    if hasattr(c, "add_event"):
        c.add_event(enqueued)
    return enqueued

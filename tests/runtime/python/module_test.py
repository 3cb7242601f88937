"""The Python module against numpy. CLBAKE_TEST_BUNDLE: a bundle of this machine; CLBAKE_TEST_COMPLEX_BUNDLE: one with
the kernels of complex products, or not set. CLBAKE_TEST_COMMAND: the command.
CLBAKE_TEST_LIBRARY: libclbake.so; without it the module must find its own.

Exit status 77: pyopencl, numpy or a device is not here.
"""

import ctypes
import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

try:
    import numpy as np
    import pyopencl as cl
    import pyopencl.array as cl_array

    platforms = cl.get_platforms()
except Exception as reason:  # an import, or the loader without a platform
    print(f"skipped: {reason}")
    sys.exit(77)

import clbake  # noqa: E402
from clbake import Activation, Argument, Code, Layout, OnMiss, Origin, Precision, Problem  # noqa: E402

COMPLEX_BUNDLE = os.environ.get("CLBAKE_TEST_COMPLEX_BUNDLE")
LIBRARY, BUNDLE = os.environ.get("CLBAKE_TEST_LIBRARY"), os.environ["CLBAKE_TEST_BUNDLE"]
clbake.load(LIBRARY)
pocl = [p for p in platforms if p.name == "Portable Computing Language"]
device = (pocl or platforms)[0].get_devices()[0]
context = cl.Context([device])
queue = cl.CommandQueue(context)
random = np.random.default_rng(7)


def sample(*shape, dtype=np.float32):
    return random.uniform(-1, 1, shape).astype(dtype)


def on_device(array):
    return cl_array.to_device(queue, array)


class ModuleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = clbake.Library(context, device, clbake.Bundle(BUNDLE))

    def near(self, device_array, expected, tolerance=1e-5):
        result = device_array.get().astype(np.float64)
        np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance * (1 + abs(expected).max()))

    def refused(self, argument, call):
        with self.assertRaises(clbake.Error) as caught:
            call()
        self.assertEqual((caught.exception.code, caught.exception.argument), (Code.INVALID_ARGUMENT, argument))
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)


class Bundles(ModuleTest):
    def test_of_bytes_may_lose_them(self):
        content = bytearray(Path(BUNDLE).read_bytes())
        bundle = clbake.Bundle(content)
        content[:] = bytes(len(content))
        with clbake.Library(context, device, [bundle]) as library:
            self.assertEqual(library.explain(Problem(8, 8, 8)).origin, Origin.NATIVE)

    def test_wrong_types_are_named(self):
        with self.assertRaisesRegex(TypeError, "Bundle objects"):
            clbake.Library(context, device, BUNDLE)
        with self.assertRaisesRegex(TypeError, "an Overlay"):
            clbake.Library(context, device, [], overlay=clbake.Bundle(BUNDLE))
        with self.assertRaisesRegex(ValueError, "OnMiss"):
            clbake.Library(context, device, clbake.Bundle(BUNDLE), on_miss="fail")

    def test_failures_name_the_cause(self):
        for source, code in (("/missing/gemm.clbake", Code.NOT_FOUND), (b"no bundle at all" * 9, Code.NOT_A_BUNDLE),
                             (Path(BUNDLE).read_bytes()[:100], Code.TRUNCATED)):
            with self.assertRaises(clbake.Error) as caught:
                clbake.Bundle(source)
            self.assertEqual(caught.exception.code, code, caught.exception)
            if isinstance(source, str):
                self.assertIn(source, caught.exception.message)
        self.refused(Argument.OTHER, lambda: clbake.Bundle("gemm\0.clbake"))


class Products(ModuleTest):
    def test_arrays_of_any_order_and_transposition(self):
        for dtype, tolerance in ((np.float32, 1e-5), (np.float64, 1e-13)):
            a, b, c = sample(37, 53, dtype=dtype), sample(53, 29, dtype=dtype), sample(37, 29, dtype=dtype)
            for order in range(8):
                x = on_device(a) if order & 1 else on_device(np.ascontiguousarray(a.T)).T
                y = on_device(b) if order & 2 else on_device(np.ascontiguousarray(b.T)).T
                z = on_device(c.copy(order="C" if order & 4 else "F"))
                self.library.matmul(x, y, z, alpha=1.5, beta=-0.5)
                self.near(z, 1.5 * (a @ b) - 0.5 * c, tolerance)

    def test_slices_in_place(self):
        a, b, whole = sample(40, 60), sample(50, 60), sample(40, 64)
        x, y, z = on_device(a)[3:33, 10:50], on_device(b)[:20, 10:50], on_device(whole)
        self.library.matmul(x, y.T, z[5:35, 30:50])
        expected = whole.copy()
        expected[5:35, 30:50] = a[3:33, 10:50] @ b[:20, 10:50].T
        self.near(z, expected)

    def test_vectors_and_empty_matrices(self):
        for m, n, k in ((1, 1, 1), (1, 5, 7), (5, 1, 7), (5, 7, 1), (1, 1, 9)):
            a, b = sample(m, k), sample(k, n)
            z = on_device(sample(m, n))
            self.library.matmul(on_device(a), on_device(b), z)
            self.near(z, a @ b)
        z = on_device(sample(3, 4))
        self.library.gemm(queue, Problem(3, 4, 0), None, None, z)
        self.near(z, np.zeros((3, 4)))

    def test_batch_of_arrays(self):
        a, b = sample(6, 17, 23), sample(23, 31)
        z = on_device(sample(6, 17, 31))
        self.library.matmul(on_device(a), on_device(b), z)
        self.near(z, a @ b)
        b = sample(6, 23, 31)
        self.library.gemm(queue, Problem(17, 31, 23, batch=6), on_device(a), on_device(b), z)  # one after another
        self.near(z, a @ b)

    def test_buffers_with_offsets(self):
        a, b, c = sample(3, 4, 5), sample(3, 5, 6), sample(3, 4, 6)
        x, y, z = on_device(a), on_device(b), on_device(c)
        problem = Problem(4, 6, 5, batch=2, offsets=[(40, 0, 24), (0, 60, 48)])
        self.library.gemm(queue, problem, x.base_data, y.base_data, z.base_data)
        self.near(z, np.stack([c[0], a[2] @ b[0], a[0] @ b[2]]))
        self.library.gemm(queue, Problem(4, 6, 5), (x.base_data, 20), (y.base_data, 60), (z.base_data, 0))
        self.near(z[0], a[1] @ b[2])

        self.refused(Argument.OFFSETS, lambda: self.library.prepare(Problem(4, 6, 5, batch=3, offsets=[(0, 0, 0)])))

    def test_groups(self):
        a, b, c = sample(60), sample(60), sample(80)
        x, y, z = on_device(a), on_device(b), on_device(c)
        products = [Problem(4, 6, 5, offsets=[(0, 30, 2)]), Problem(0, 3, 2), Problem(2, 3, 7, offsets=[(20, 0, 30)])]
        group = self.library.prepare_group(products)
        group.enqueue(queue, x, y, z, alpha=2.0, beta=1.0, wait_for=[])
        expected = c.copy()
        expected[2:26] += 2 * (a[:20].reshape(4, 5) @ b[30:].reshape(5, 6)).ravel()
        expected[30:36] += 2 * (a[20:34].reshape(2, 7) @ b[:21].reshape(7, 3)).ravel()
        self.near(z, expected)
        self.assertFalse(group.is_one_launch)
        self.assertTrue(group.explanation.variant)
        self.refused(Argument.C_SIZE, lambda: group.enqueue(queue, x, y, (z.base_data, 50)))
        self.refused(Argument.SCALARS, lambda: group.enqueue(queue, x, y, z, alpha=[1, 2, 3]))
        self.refused(Argument.GROUP, lambda: self.library.prepare_group([]))
        with self.assertRaises(clbake.Error) as caught:  # nothing was baked for it
            self.library.prepare_counted_group(Problem(9, 3, 2, batch=4))
        self.assertEqual(caught.exception.code, Code.NO_VARIANT)
        group.close()
        self.refused(Argument.OTHER, lambda: group.enqueue(queue, x, y, z))

    def test_prepared_problem_in_column_major_with_leading_dimensions(self):
        a, b = sample(9, 20), sample(8, 9)  # as stored: rows are the columns of the problem
        problem = Problem(11, 8, 9, layout=Layout.COLUMN_MAJOR, lda=20, ldb=9, ldc=13)
        before = sample(8, 13)
        z = on_device(before)
        self.library.prepare(problem).enqueue(queue, on_device(a), on_device(b), z)
        expected = before.copy()
        expected[:, :11] = (a[:, :11].T @ b.T).T
        self.near(z, expected)

    @unittest.skipUnless(COMPLEX_BUNDLE, "no bundle with complex kernels")
    def test_complex(self):
        library = clbake.Library(context, device, [clbake.Bundle(BUNDLE), clbake.Bundle(COMPLEX_BUNDLE)])
        a, b, c = (sample(3, *shape) + 1j * sample(3, *shape) for shape in ((17, 9), (9, 13), (17, 13)))
        a, b, c = (x.astype(np.complex64) for x in (a, b, c))
        z = on_device(c)
        alpha, beta = 0.5 - 2j, 1j
        library.matmul(on_device(a), on_device(b), z, alpha=alpha, beta=beta)
        np.testing.assert_allclose(z.get(), alpha * (a @ b) + beta * c, rtol=0, atol=1e-4)
        adjoint = on_device(np.ascontiguousarray(a[0].conj().T))
        z = cl_array.empty(queue, (17, 13), np.complex64)
        problem = Problem(17, 13, 9, Precision.COMPLEX_SINGLE, trans_a=True, conj_a=True)
        library.gemm(queue, problem, adjoint, on_device(b[0]), z)
        np.testing.assert_allclose(z.get(), a[0] @ b[0], rtol=0, atol=1e-4)

    def test_scalars_of_each_product(self):
        a, b, c = sample(3, 17, 9), sample(3, 9, 13), sample(3, 17, 13)
        z = on_device(c)
        self.library.matmul(on_device(a), on_device(b), z, alpha=[1, 2, 2], beta=[0, 0.5, 0.5])
        self.near(z, np.stack([a[0] @ b[0], 2 * a[1] @ b[1] + c[1] / 2, 2 * a[2] @ b[2] + c[2] / 2]))
        for alpha, beta in (([1, 2], 0), ([1, 2, 3], [0, 1])):
            self.refused(Argument.SCALARS, lambda: self.library.matmul(on_device(a), on_device(b), z, alpha=alpha, beta=beta))
        self.refused(Argument.ALPHA, lambda: self.library.matmul(on_device(a), on_device(b), z, alpha=1j))

class Epilogues(ModuleTest):
    def test_bias_by_shape_and_activation(self):
        x, y, vector = sample(6, 6), sample(6, 6), sample(6)
        z = on_device(np.zeros((6, 6), np.float32))
        self.library.matmul(on_device(x), on_device(y), z, bias=on_device(vector))  # for each column, as numpy
        self.near(z, x @ y + vector)
        a, b = sample(14, 9), sample(9, 11)
        for bias in (sample(11), sample(1, 11), sample(14, 1)):
            z = on_device(np.zeros((14, 11), np.float32))
            self.library.matmul(on_device(a), on_device(b), z, bias=on_device(bias), activation=Activation.RELU)
            self.near(z, np.maximum(a @ b + bias, 0))

        a, b, bias = sample(3, 5, 9), sample(9, 7), sample(3, 5, 1)
        z = on_device(np.zeros((3, 5, 7), np.float32))
        self.library.matmul(on_device(a), on_device(b), z, bias=on_device(bias))
        self.near(z, a @ b + bias)

    def test_clamp_and_d_in_both_layouts(self):
        a, b, d = sample(14, 9), sample(9, 11), sample(14, 11)
        for order in "CF":
            z = on_device(np.zeros((14, 11), np.float32, order=order))
            self.library.matmul(on_device(a), on_device(b), z, beta=2.0, d=on_device(d.copy(order=order)),
                                activation=Activation.CLAMP, low=-0.25, high=0.5)
            self.near(z, np.clip(a @ b + 2 * d, -0.25, 0.5))

    def test_refused(self):
        a, b, z = on_device(sample(4, 5)), on_device(sample(5, 6)), on_device(sample(4, 6))
        for shape in ((5,), (4,), (1, 1), (6, 1)):
            self.refused(Argument.BIAS, lambda: self.library.matmul(a, b, z, bias=on_device(sample(*shape))))
        self.refused(Argument.D, lambda: self.library.matmul(a, b, z, d=on_device(sample(6, 4))))
        self.refused(Argument.D, lambda: self.library.matmul(a, b, z, d=on_device(sample(6, 4)).T))
        self.refused(Argument.BOUNDS, lambda: self.library.matmul(a, b, z, activation=Activation.CLAMP, low=1, high=0))
        self.refused(Argument.BIAS_VECTOR, lambda: self.library.gemm(
            queue, Problem(4, 6, 5, bias=clbake.Bias.PER_ROW), a, b, z))


class Pointers(ModuleTest):
    def extension(self, name, result, *arguments):
        """A function of the driver; skips the test without it."""
        find = ctypes.CDLL(cl._cl.__file__).clGetExtensionFunctionAddressForPlatform
        find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
        address = find(device.platform.int_ptr, name.encode())
        if not address:
            self.skipTest(f"the driver has no {name}")
        return ctypes.CFUNCTYPE(result, *arguments)(address)

    def test_shared_virtual_memory(self):
        if not device.svm_capabilities:
            self.skipTest("the driver has no shared virtual memory")
        a, b = sample(32, 24), sample(24, 16)
        shared = [cl.svm_empty(context, cl.svm_mem_flags.READ_WRITE, shape, np.float32)
                  for shape in ((32, 24), (24, 16), (34, 16))]
        for memory, numbers in zip(shared, (a, b, np.full((34, 16), np.nan))):
            with cl.SVM(memory).map_rw(queue) as mapped:
                mapped[:] = numbers
        gemm = self.library.prepare(Problem(32, 16, 24))
        gemm.enqueue(queue, cl.SVM(shared[0]), cl.SVM(shared[1]), (cl.SVM(shared[2]), 16)).wait()
        with cl.SVM(shared[2]).map_ro(queue) as mapped:
            np.testing.assert_allclose(mapped[1:33], a.astype(np.float64) @ b, rtol=0, atol=1e-4)
            self.assertTrue(np.isnan(mapped[[0, 33]]).all())
        self.refused(Argument.A, lambda: gemm.enqueue(queue, cl.SVM(a), cl.SVM(shared[1]), cl.SVM(shared[2])))

    def test_unified_shared_memory(self):
        allocate = self.extension("clSharedMemAllocINTEL", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                                  ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_void_p)
        free = self.extension("clMemFreeINTEL", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        a, b = sample(32, 24), on_device(sample(24, 16))
        address = allocate(context.int_ptr, device.int_ptr, None, 4 * (32 * 24 + 32 * 16), 0, None)
        memory = np.frombuffer((ctypes.c_float * (32 * 24 + 32 * 16)).from_address(address), np.float32)
        memory[:32 * 24], memory[32 * 24:] = a.ravel(), np.nan
        gemm = self.library.prepare(Problem(32, 16, 24))
        gemm.enqueue(queue, address, b, (address, 32 * 24)).wait()
        np.testing.assert_allclose(memory[32 * 24:].reshape(32, 16), a.astype(np.float64) @ b.get(), rtol=0, atol=1e-4)
        self.refused(Argument.A, lambda: gemm.enqueue(queue, a.ctypes.data, b, address))
        self.refused(Argument.C_SIZE, lambda: gemm.enqueue(queue, address, b, (address, 32 * 24 + 1)))
        self.refused(Argument.C_ALIAS, lambda: gemm.enqueue(queue, address, b, address + 4))
        free(context.int_ptr, address)

    def test_recorded_products(self):
        handle = ctypes.c_void_p
        create = self.extension("clCreateCommandBufferKHR", handle, ctypes.c_uint32, handle, handle, handle)
        finalize = self.extension("clFinalizeCommandBufferKHR", ctypes.c_int, handle)
        run = self.extension("clEnqueueCommandBufferKHR", ctypes.c_int, ctypes.c_uint32, handle, handle,
                             ctypes.c_uint32, handle, handle)
        release = self.extension("clReleaseCommandBufferKHR", ctypes.c_int, handle)
        updatable = "cl_khr_command_buffer_mutable_dispatch" in device.extensions
        a, b = sample(32, 32), sample(32, 32)
        on = [on_device(each) for each in (a, b, np.full((32, 32), np.nan, np.float32))]
        gemm = self.library.prepare(Problem(32, 32, 32))
        queues, flags = (handle * 1)(queue.int_ptr), (ctypes.c_uint64 * 3)(0x1293, 2, 0)
        commands = create(1, queues, flags if updatable else None, None)
        first = gemm.record(commands, *on, alpha=2.0, updatable=updatable)
        gemm.record(commands, on[0], on[2], on[1], wait_for=[first.point])
        finalize(commands)
        for alpha in (2.0, 3.0) if updatable else (2.0,):
            if alpha != 2.0:
                first.update(*on, alpha=alpha)
            run(0, None, commands, 0, None, None)
            queue.finish()
            product = alpha * (a.astype(np.float64) @ b)
            self.near(on[2], product)
            self.near(on[1], a @ product)
            b = on[1].get()
        release(commands)
        if not updatable:
            self.refused(Argument.GEMM, lambda: first.update(*on))
            with self.assertRaisesRegex(clbake.Error, "lacks cl_khr_command_buffer_mutable_dispatch"):
                gemm.record(create(1, queues, None, None), *on, updatable=True)


class Refusals(ModuleTest):
    def test_problems(self):
        for argument, values in ((Argument.M, {"m": -1}), (Argument.N, {"n": 2**64 + 4}), (Argument.LDA, {"lda": 3}),
                                 (Argument.PRECISION, {"precision": 9}), (Argument.C_STRIDE, {"batch": 2, "c_stride": 0})):
            message = self.refused(argument, lambda: self.library.prepare(Problem(**{"m": 4, "n": 4, "k": 4, **values})))
            self.assertIn(argument.name.lower(), message)
        with self.assertRaises(AttributeError):
            Problem(4, 4, 4).n = 8

    def test_arrays(self):
        def matmul(a, b, c):
            return lambda: self.library.matmul(on_device(a), on_device(b), on_device(c))

        a, b, c = sample(4, 5), sample(5, 6), sample(4, 6)
        self.refused(Argument.A, matmul(a.astype(np.float64), b, c))
        self.refused(Argument.B, matmul(a, sample(4, 6), c))
        self.refused(Argument.A, matmul(sample(5), b, c))
        self.refused(Argument.A, matmul(sample(3, 4, 5), b, sample(2, 4, 6)))
        self.refused(Argument.PRECISION, matmul(a, b, c.astype(np.int32)))
        wide = on_device(sample(8, 12))
        self.refused(Argument.C, lambda: self.library.matmul(on_device(a), on_device(b), wide[::2, ::2]))
        self.refused(Argument.A, lambda: self.library.matmul(wide[::2, 2:12:2], on_device(b), on_device(c)))
        double = on_device(c.astype(np.float64))
        self.refused(Argument.C, lambda: self.library.gemm(queue, Problem(4, 6, 5), None, None, double))


class Events(ModuleTest):
    def test_a_product_waits_for_the_list_and_for_arrays(self):
        a, b, c = sample(16, 16), sample(16, 16), sample(16, 16)
        x, y, z = on_device(a), on_device(b), on_device(c)
        between, result = on_device(np.zeros((16, 16), np.float32)), on_device(np.zeros((16, 16), np.float32))
        gate = cl.UserEvent(context)
        first = self.library.matmul(x, y, between, queue=cl.CommandQueue(context), wait_for=[gate])
        self.assertIsInstance(first, cl.Event)
        self.assertIn(first, between.events)
        last = self.library.matmul(between, z, result, queue=cl.CommandQueue(context))
        self.assertGreater(last.command_execution_status, cl.command_execution_status.COMPLETE)
        gate.set_status(cl.command_execution_status.COMPLETE)
        last.wait()
        self.near(result, a @ b @ c)

    @unittest.skipUnless(pocl, "drivers keep references of their own, PoCL until the buffers go and the queue goes on")
    def test_owns_one_reference(self):
        x, z = on_device(sample(8, 8)), on_device(sample(8, 8))
        event = self.library.matmul(x, x, z)
        del x, z
        deadline = time.monotonic() + 60
        while event.reference_count > 1 and time.monotonic() < deadline:
            on_device(sample(8, 8))
            queue.finish()
        self.assertEqual(event.reference_count, 1)


class Libraries(ModuleTest):
    def test_says_what_serves_and_counts(self):
        library = clbake.Library(context, device, [clbake.Bundle(BUNDLE)])
        problem = Problem(64, 64, 64)
        before = library.explain(problem)
        self.assertEqual((before.origin, before.miss, before.loaded), (Origin.NATIVE, Code.OK, False))
        gemm = library.prepare(problem)
        self.assertEqual(gemm.explanation.variant, before.variant)
        self.assertTrue(library.explain(problem).loaded)
        named = library.prepare(problem, variant=before.variant)
        self.assertTrue(named.explanation.loaded)
        counters = library.counters
        self.assertEqual((counters.native, counters.loaded, counters.failed, counters.misses), (1, 1, 0, {}))
        with self.assertRaises(clbake.Error) as caught:
            library.prepare(problem, variant="no such variant")
        self.assertEqual(caught.exception.code, Code.NO_VARIANT)
        self.assertEqual(library.counters.failed, 1)

    def test_program_of_the_application(self):
        manifest = Path(__file__).parents[3] / "tools/example/perceptron/programs.json"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "softmax.clbake")
            subprocess.run([os.environ["CLBAKE_TEST_COMMAND"], "build", "--programs", manifest, "-o", path, "--device",
                            device.platform.name], check=True, capture_output=True)
            library = clbake.Library(context, device, [clbake.Bundle(BUNDLE), clbake.Bundle(path)])
        self.assertFalse(library.explain_program("softmax").loaded)
        program = library.program("softmax")
        explanation = library.explain_program("softmax")
        self.assertEqual((explanation.origin, explanation.bundle, explanation.loaded), (Origin.NATIVE, 1, True))
        library.close()
        x = sample(128, 10)
        on = on_device(x)
        cl.Kernel(program, "softmax")(queue, (128,), (64,), on.data, np.int32(10))
        self.near(on, np.exp(x) / np.exp(x).sum(axis=1, keepdims=True))

    def check_program_of(self, *asked):
        """A program of these sources, whose kernel twice() doubles numbers."""
        program = self.library.program(*asked)
        self.assertTrue(self.library.explain_program(*asked).loaded)
        numbers = cl.array.to_device(queue, np.arange(64, dtype=np.float32))
        cl.Kernel(program, "twice")(queue, (64,), (16,), numbers.data)
        np.testing.assert_array_equal(numbers.get(), 2 * np.arange(64, dtype=np.float32))

    def test_program_of_sources_that_no_bundle_has(self):
        source = "kernel void twice(global float* x) { x[get_global_id(0)] *= FACTOR; }"
        self.check_program_of([source[:20], source[20:]], "-D FACTOR=2")
        self.check_program_of(source, "-D FACTOR=2.0f")
        self.assertEqual(self.library.explain_program(source, "-DOTHER").miss, clbake.Code.NO_PROGRAM)

    def test_program_of_headers_and_of_parts(self):
        text = clbake.ProgramText('#include "factor.h"\nkernel void twice(global float* x) { x[get_global_id(0)] *= FACTOR; }',
                                  headers={"factor.h": "#define FACTOR 2"})
        self.check_program_of(text)
        one = clbake.ProgramText("float twice_of(float x);"
                                 "kernel void twice(global float* x) { x[get_global_id(0)] = twice_of(x[get_global_id(0)]); }")
        other = clbake.ProgramText("float twice_of(float x); float twice_of(float x) { return 2 * x; }")
        self.check_program_of(clbake.ProgramText(parts=[one, other]))

    def test_program_that_is_in_no_bundle(self):
        for call in (self.library.program, self.library.explain_program):
            with self.assertRaises(clbake.Error) as caught:
                call("soft max")
            self.assertEqual(caught.exception.code, Code.NO_PROGRAM)
            self.assertIn("soft max", caught.exception.message)
            self.refused(Argument.OTHER, lambda: call("soft\0max"))

    def test_policy_of_a_miss_and_log(self):
        lines = []
        library = clbake.Library(context, device, clbake.Bundle(BUNDLE), on_miss=OnMiss.FAIL,
                                 log=lambda level, message: lines.append((level, message)))
        with self.assertRaises(clbake.Error) as caught:
            library.prepare(Problem(8, 8, 8, Precision.BFLOAT16))
        self.assertIn(caught.exception.code, (Code.NO_VARIANT, Code.NO_ENTRY))
        self.assertEqual(library.counters.misses, {caught.exception.code: 1})
        self.assertEqual(lines[-1][0], clbake.LogLevel.WARNING)

    def test_overlay_keeps_what_was_compiled(self):
        problem = Problem(8, 8, 8, Precision.HALF)
        with tempfile.TemporaryDirectory() as folder:
            for expected in (Origin.SOURCE, Origin.OVERLAY):
                with clbake.Overlay(folder) as overlay:
                    library = clbake.Library(context, device, clbake.Bundle(BUNDLE), overlay=overlay)
                self.assertEqual(library.prepare(problem).explanation.origin, expected)
                library.finish()
                library.close()
        with self.assertRaises(clbake.Error) as caught:
            clbake.Overlay("/proc/no/such/folder")
        self.assertIn("/proc/no/such/folder", caught.exception.message)

    def test_an_overlay_may_be_shared(self):
        with tempfile.TemporaryDirectory() as folder:
            clbake.Overlay(None, shared=folder, shared_owner=str(os.geteuid()))
            clbake.Overlay(None, shared="/no/such/folder")
            with self.assertRaises(clbake.Error) as caught:
                clbake.Overlay(None, shared=folder, shared_owner="no-such-user")
            self.assertIn("no such user", caught.exception.message)

    def test_warm_tells_how_far_it_is_and_stops(self):
        problems = [Problem(8, 8, 8), Problem(8, 8, 8, Precision.DOUBLE)]
        library, calls = clbake.Library(context, device, clbake.Bundle(BUNDLE)), []
        with self.assertRaises(clbake.Error) as caught:
            library.warm(problems, lambda done, total, left: done < 1)
        self.assertEqual(caught.exception.code, Code.CANCELLED)
        self.assertEqual([library.explain(problem).loaded for problem in problems], [True, False])
        library.warm(iter(problems), lambda done, total, left: calls.append((done, total)))
        self.assertEqual(calls, [(0, 2), (1, 2), (2, 2)])
        self.assertTrue(library.explain(problems[1]).loaded)

        def interrupt(*_):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            library.warm([Problem(8, 8, 8)], interrupt)

    def test_recording(self):
        library = clbake.Library(context, device, clbake.Bundle(BUNDLE), record=True)
        x, z = on_device(sample(8, 8)), on_device(sample(8, 8))
        for _ in range(3):
            library.matmul(x, x, z)
        with tempfile.TemporaryDirectory() as folder:
            library.write_recording(Path(folder, "calls.txt"))
            self.assertIn("single nn 8x8x8 calls 3", Path(folder, "calls.txt").read_text())


class Page(unittest.TestCase):
    def test_example_runs(self):
        page = Path(__file__).parents[3] / "runtime/python/README.md"
        example = page.read_text().split("```python")[1].split("```")[0]
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "gemm.clbake").symlink_to(Path(BUNDLE).resolve())
            ended = subprocess.run([sys.executable, "-c", f"import clbake; clbake.load({LIBRARY!r})\n{example}"],
                                   capture_output=True, text=True, cwd=folder,
                                   env={**os.environ, "PYOPENCL_CTX": device.platform.name})
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertIn("Counters(", ended.stdout)


class Lifetimes(ModuleTest):
    def test_gemm_outlives_all_it_was_made_from(self):
        bundle = clbake.Bundle(Path(BUNDLE).read_bytes())
        library = clbake.Library(context, device, bundle, log=lambda level, message: None)
        gemm = library.prepare(Problem(16, 16, 16))
        clone = gemm.clone()
        for used in (bundle, library, library, gemm, gemm):
            used.close()
        del bundle, library
        gc.collect()
        a, b = sample(16, 16), sample(16, 16)
        z = on_device(np.zeros((16, 16), np.float32))
        clone.enqueue(queue, on_device(a), on_device(b), z)
        self.near(z, a @ b)
        self.assertIn("closed", self.refused(Argument.GEMM, lambda: gemm.enqueue(queue, z, z, z)))

    def test_closed_object_is_refused(self):
        bundle = clbake.Bundle(BUNDLE)
        library = clbake.Library(context, device, bundle)
        bundle.close()
        library.close()
        self.refused(Argument.BUNDLE, lambda: clbake.Library(context, device, bundle))
        self.assertIn("closed", self.refused(Argument.LIBRARY, lambda: library.prepare(Problem(8, 8, 8))))
        self.refused(Argument.LIBRARY, library.finish)

    def test_log_that_collects_its_own_library(self):
        """Its thread, which calls the log, cannot wait for itself."""
        called = threading.Event()
        library = None

        def log(level, message):
            nonlocal library
            library = None
            gc.collect()
            called.set()

        with tempfile.TemporaryDirectory() as folder:
            library = clbake.Library(context, device, clbake.Bundle(BUNDLE), on_miss=OnMiss.FAIL, log=log,
                                     overlay=clbake.Overlay(folder))
            with self.assertRaises(clbake.Error):
                library.prepare(Problem(8, 8, 8, Precision.BFLOAT16))
            self.assertTrue(called.wait(60))

    def in_a_process(self, program):
        begin = ("import clbake, pyopencl as cl, sys\n"
                 f"clbake.load({LIBRARY!r})\n"
                 f"device = [p for p in cl.get_platforms() if p.name == {device.platform.name!r}][0].get_devices()[0]\n"
                 "context = cl.Context([device])\n")
        return subprocess.run([sys.executable, "-c", begin + program], capture_output=True, text=True, timeout=300)

    def test_exit_without_closing_anything(self):
        """With a thread of the library that compiles, and a log that it calls."""
        ended = self.in_a_process(
            f"bundle = clbake.Bundle({BUNDLE!r})\n"
            "library = clbake.Library(context, device, bundle, on_miss=clbake.OnMiss.FALLBACK, log=lambda *_: None)\n"
            "gemm = library.prepare(clbake.Problem(64, 64, 64))\n"
            "half = library.prepare(clbake.Problem(64, 64, 64, clbake.Precision.HALF))\n"
            "cycle = [library, gemm]; cycle.append(cycle)\n"
            "print('end')\n")
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "end\n", ""))

    def test_exit_of_a_forked_child(self):
        ended = self.in_a_process(
            f"library = clbake.Library(context, device, clbake.Bundle({BUNDLE!r}), on_miss=clbake.OnMiss.FALLBACK)\n"
            "half = library.prepare(clbake.Problem(64, 64, 64, clbake.Precision.HALF))\n"
            "import os\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    library.close(); del library, half\n"
            "    os._exit(5)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n")
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "5\n", ""))

    def test_library_that_is_none(self):
        for path, expected in (("/missing/libclbake.so", "libclbake.so"), ("libm.so.6", "is no libclbake")):
            ended = subprocess.run([sys.executable, "-c", f"import clbake; clbake.load({path!r})"], capture_output=True,
                                   text=True)
            self.assertIn("OSError", ended.stderr)
            self.assertIn(expected, ended.stderr.splitlines()[-1])
        with self.assertRaises(OSError):
            clbake.load("libm.so.6")  # one is loaded already


class SliceTest(unittest.TestCase):
    def test_a_device_needs_some_slices_which_serve_like_the_bundle(self):
        with tempfile.TemporaryDirectory() as store:
            command = [os.environ["CLBAKE_TEST_COMMAND"], "split", BUNDLE, "-o", store, "--release", "4"]
            subprocess.run(command, check=True, capture_output=True)
            path = Path(store, "index.clbake-index")
            with self.assertRaises(clbake.Error) as caught:
                clbake.SliceIndex(path, minimum_release=5)
            self.assertEqual(caught.exception.code, Code.NOT_TRUSTED)
            index = clbake.SliceIndex(path.read_bytes(), minimum_release=4)
            self.assertEqual(index.release, 4)
            needed = index.needed(device, [Problem(16, 16, 16)], ["nobody's"])
            self.assertEqual(needed.unserved, ["nobody's"])
            self.assertEqual([slice.origin for slice in needed.slices], [Origin.NATIVE])
            name = needed.slices[0].name
            whole = Path(store, name).read_bytes()
            self.assertEqual(len(whole), needed.slices[0].bytes)
            Path(store, "half").write_bytes(whole[:1000])
            for code, source in ((Code.TRUNCATED, Path(store, "half")), (Code.TRUNCATED, whole[:1000]),
                                 (Code.CHECKSUM, Path(store, needed.instead[0].name)),
                                 (Code.NOT_FOUND, Path(store, "none"))):
                with self.assertRaises(clbake.Error) as caught:
                    index.open_slice(name, source)
                self.assertEqual(caught.exception.code, code)
            for source in (whole, Path(store, name)):
                library = clbake.Library(context, device, index.open_slice(name, source))
                explanation = library.explain(Problem(16, 16, 16))
                self.assertEqual(explanation.origin, Origin.NATIVE)
                self.assertEqual(explanation.variant, clbake.Library(
                    context, device, clbake.Bundle(BUNDLE)).explain(Problem(16, 16, 16)).variant)


if __name__ == "__main__":
    unittest.main()

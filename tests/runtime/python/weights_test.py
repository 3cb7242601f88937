"""clbake.weights against plain numpy. weights_test.py LIBCLBAKE_WEIGHTS; PYTHONPATH has the module. 77 without numpy."""

import sys
import unittest

try:
    import numpy as np
except ImportError:
    sys.exit(77)

from clbake import weights
from clbake._header import Code
from clbake._problem import Error

dice = np.random.default_rng(7)


class Weights(unittest.TestCase):
    def test_floats_are_quantized_and_come_back(self):
        matrix = dice.uniform(-1, 1, (256, 24)).astype(np.float32)
        for bits, step in ((4, 0.126), (8, 0.0041)):
            packed = weights.quantize(matrix, bits, 64)
            self.assertEqual(weights.inspect(packed), weights.Format(256, 24, bits, 64, False))
            self.assertLess(abs(weights.unpack(packed) - matrix).max(), step)

    def test_codes_and_other_layouts_keep_their_weights(self):
        codes, zeros = dice.integers(0, 16, (64, 8), np.uint8), dice.integers(1, 17, (2, 8), np.uint8)
        scales = dice.uniform(0.5, 2, (2, 8)).astype(np.float16)
        expected = (codes.astype(np.float32) - zeros.repeat(32, 0)) * scales.repeat(32, 0).astype(np.float32)
        packed = weights.pack(weights.Format(64, 8, 4, 32, True), codes, scales, zeros)
        np.testing.assert_array_equal(weights.unpack(packed), expected)

        def words(rows, order):  # of eight numbers of four bits
            return sum(rows[..., column].astype(np.uint32) << np.uint32(4 * place) for place, column in enumerate(order))

        plain, mixed = range(8), (0, 2, 4, 6, 1, 3, 5, 7)
        along_k = words(codes.reshape(8, 8, 8).transpose(0, 2, 1), plain)
        np.testing.assert_array_equal(weights.from_gptq(along_k, words(zeros[:, None] - 1, plain), scales, 32), packed)
        zeros %= 16
        packed = weights.pack(weights.Format(64, 8, 4, 32, True), codes, scales, zeros)
        np.testing.assert_array_equal(
            weights.from_awq(words(codes[:, None], mixed), words(zeros[:, None], mixed), scales, 32), packed)
        blocks = dice.integers(0, 64, (3, 2, 34), np.uint8)
        found = weights.unpack(weights.from_gguf(blocks, 64, 3, 8))
        scale = blocks[..., :2].copy().view(np.float16).astype(np.float32)
        np.testing.assert_array_equal(found.T.reshape(3, 2, 32), blocks[..., 2:].view(np.int8) * scale)

    def test_failures_are_named(self):
        with self.assertRaisesRegex(Error, "k = 100 is no multiple of the group of 32") as raised:
            weights.quantize(np.zeros((100, 2), np.float32))
        self.assertEqual(raised.exception.code, Code.INVALID_ARGUMENT)


if __name__ == "__main__":
    weights.load(sys.argv.pop())
    unittest.main()

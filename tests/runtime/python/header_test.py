"""The generated description of the C API agrees with a C compiler about every number, size and offset.

    header_test.py ROOT CC [OPTIONS OF CC]; PYTHONPATH has the module

With CC for Windows CLBAKE_EMULATOR runs what it makes, and CLBAKE_TEST_LIBRARY, a DLL, has the functions.
"""

import ctypes
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

root, compiler = Path(sys.argv[1]), sys.argv[2:]
emulator, dll = os.environ.get("CLBAKE_EMULATOR", "").split(), os.environ.get("CLBAKE_TEST_LIBRARY")
from clbake import _header as h  # noqa: E402

header = (root / "runtime/include/clbake/clbake.h").read_text()


def of_c_program(expressions, include="clbake/weights/pack.h"):
    """The values of integer expressions, by a program that includes the header."""
    lines = "".join(f'printf("%lld\\n", (long long)({e}));\n' for e in expressions)
    source = f"#include <{include}>\n#include <stdio.h>\nint main(void) {{\n{lines}return 0;\n}}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "values.c")
        path.write_text(source)
        subprocess.run([*compiler, f"-I{root}/runtime/include", f"-I{root}/cache/include", "-DCL_TARGET_OPENCL_VERSION=120", str(path), "-o",
                        f"{folder}/values.exe"], check=True)
        printed = subprocess.run([*emulator, f"{folder}/values.exe"], check=True, capture_output=True, text=True).stdout
    return [int(line) for line in printed.split()]


class Header(unittest.TestCase):
    def agree(self, expected):
        self.assertEqual(dict(zip(expected, of_c_program(expected))), expected)

    def test_structs_have_the_compilers_sizes_and_offsets(self):
        expected = {}
        for name, struct in vars(h).items():
            if not name.endswith("Struct") or name == "SizedStruct":
                continue
            c_name = "clbake" + re.sub("([A-Z])", r"_\1", name[:-len("Struct")]).lower()
            expected[f"sizeof({c_name})"] = ctypes.sizeof(struct)
            for field, kind in struct._fields_:
                expected[f"offsetof({c_name}, {field})"] = getattr(struct, field).offset
                expected[f"sizeof((({c_name}*)0)->{field})"] = ctypes.sizeof(kind)
        self.assertGreater(len(expected), 150)
        self.agree(expected)

    def test_enumerations_have_the_compilers_values(self):
        enums = [h.Code, h.Argument, h.Precision, h.Element, h.Layout, h.Bias, h.Activation, h.OverlayMode, h.OnMiss, h.LogLevel,
                 h.Origin]
        prefixes = {h.Argument: "ARGUMENT_", h.Bias: "BIAS_", h.OverlayMode: "OVERLAY_"}
        expected = {f"CLBAKE_{prefixes.get(enum, '')}{member.name}": int(member) for enum in enums for member in enum}
        expected["CLBAKE_ACTIVATION_NONE"] = expected.pop("CLBAKE_NONE")
        self.assertEqual(set(re.findall(r"\b(CLBAKE_\w+) = \d", header)), set(expected))
        self.agree(expected)

    def test_enumerations_have_the_numbers_of_cpp(self):
        files = [root / "runtime/include/clbake", root / "cache/include/clbake"]
        text = "".join(path.read_text() for folder in files for path in sorted(folder.rglob("*.hpp")))
        compared = 0
        for name, body in re.findall(r"enum class (\w+)[^{;]*\{(.*?)\}", re.sub("//.*", "", text), flags=re.S):
            if not hasattr(h, name):
                continue
            numbers, number = {}, 0
            for member, value in re.findall(r"(\w+)(?: = (\d+))?", body):
                number = int(value) if value else number
                numbers[re.sub("_precision$", "", member).upper()] = number
                number += 1
            for member in getattr(h, name):
                self.assertEqual(numbers.get(member.name), member, f"{name}.{member.name}")
            compared += 1
        self.assertEqual(compared, 11)

    def test_version(self):
        names = ["CLBAKE_VERSION_MAJOR", "CLBAKE_VERSION_MINOR", "CLBAKE_VERSION_PATCH"]
        self.assertEqual(tuple(of_c_program(names)), h.VERSION)

    def test_every_function_is_described(self):
        declared = re.findall(r"^(?!static)[\w ]+\*? (clbake_\w+)\(", header, flags=re.M)
        self.assertEqual(set(declared), set(h.FUNCTIONS))

    @unittest.skipUnless(dll, "not for Windows")
    def test_the_dll_loads_and_has_every_function(self):
        found = [f'GetProcAddress(LoadLibraryA("{dll}"), "{name}") != 0' for name in h.FUNCTIONS]
        self.assertEqual(of_c_program(found, "windows.h"), [1] * len(found))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""The module's structs, enumerations and signatures are the header's: a C program prints the header's.

    header_test.py ROOT CC [OPTIONS OF CC]
"""

import ctypes
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

root, compiler = Path(sys.argv[1]), sys.argv[2:]
sys.path.insert(0, str(root / "runtime/python"))
from clbake import _header as h  # noqa: E402

STRUCTS = {
    "clbake_error": h.ErrorStruct,
    "clbake_batch_offsets": h.BatchOffsetsStruct,
    "clbake_problem": h.ProblemStruct,
    "clbake_scalars": h.ScalarsStruct,
    "clbake_epilogue_buffers": h.EpilogueBuffersStruct,
    "clbake_options": h.OptionsStruct,
    "clbake_explanation": h.ExplanationStruct,
    "clbake_counters": h.CountersStruct,
}
# Prefix of the enumerators; names that the header gives no prefix of the enumeration.
ENUMS = {
    "clbake_code": (h.Code, ""),
    "clbake_argument": (h.Argument, "ARGUMENT_"),
    "clbake_precision": (h.Precision, ""),
    "clbake_layout": (h.Layout, ""),
    "clbake_bias": (h.Bias, "BIAS_"),
    "clbake_activation": (h.Activation, ""),
    "clbake_overlay_mode": (h.OverlayMode, "OVERLAY_"),
    "clbake_on_miss": (h.OnMiss, ""),
    "clbake_log_level": (h.LogLevel, ""),
    "clbake_origin": (h.Origin, ""),
}
OBJECTS = ("cl_mem", "cl_program", "cl_event", "cl_context", "cl_device_id", "cl_command_queue", "cl_platform_id")
NUMBERS = {"int": ctypes.c_int, "size_t": ctypes.c_size_t, "uint64_t": ctypes.c_uint64, "double": ctypes.c_double,
           "cl_uint": ctypes.c_uint32, "void": None, "clbake_log": h.LOG, "clbake_progress": h.PROGRESS,
           **{enum: ctypes.c_int for enum in ENUMS}, **{handle: ctypes.c_void_p for handle in OBJECTS}}


def header_text() -> str:
    text = (root / "runtime/include/clbake/clbake.h").read_text()
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def ctypes_of(declaration: str):
    """What a parameter or result like "const clbake_problem* problem" is in the module."""
    stars = declaration.count("*")
    name = [word for word in re.findall(r"\w+", declaration) if word not in ("const", "struct")][0]
    if stars == 0:
        return NUMBERS[name]
    if name == "char":
        return ctypes.c_char_p
    if stars == 1 and name in STRUCTS:
        return ctypes.POINTER(STRUCTS[name])
    if stars == 1 and name == "size_t":
        return ctypes.POINTER(ctypes.c_size_t)
    return ctypes.POINTER(ctypes.c_void_p) if stars == 2 or name in OBJECTS else ctypes.c_void_p


class Header(unittest.TestCase):
    def of_c_program(self, expressions):
        """The values of integer expressions, by a program that includes the header."""
        lines = "".join(f'printf("%lld\\n", (long long)({e}));\n' for e in expressions)
        source = f"#include <clbake/clbake.h>\n#include <stdio.h>\nint main(void) {{\n{lines}return 0;\n}}\n"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "values.c")
            path.write_text(source)
            subprocess.run([*compiler, f"-I{root}/runtime/include", "-DCL_TARGET_OPENCL_VERSION=120", str(path), "-o",
                            f"{folder}/values"], check=True)
            printed = subprocess.run([f"{folder}/values"], check=True, capture_output=True, text=True).stdout
        return [int(line) for line in printed.split()]

    def test_every_struct_is_known(self):
        self.assertEqual(set(re.findall(r"typedef struct (\w+) \{", header_text())), set(STRUCTS))

    def test_structs_have_the_headers_fields_in_its_order(self):
        for name, struct in STRUCTS.items():
            body = re.search(rf"typedef struct {name} \{{(.*?)\}} {name};", header_text(), flags=re.S)[1]
            fields = []
            for declaration in body.split(";")[:-1]:
                first, *more = declaration.split(",")
                fields += [re.findall(r"\w+", re.sub(r"\[.*\]", "", each))[-1] for each in (first, *more)]
            self.assertEqual([field for field, _ in struct._fields_], fields, name)

    def test_sizes_and_offsets(self):
        expected = {}
        for name, struct in STRUCTS.items():
            expected[f"sizeof({name})"] = ctypes.sizeof(struct)
            for field, kind in struct._fields_:
                expected[f"offsetof({name}, {field})"] = getattr(struct, field).offset
                expected[f"sizeof((({name}*)0)->{field})"] = ctypes.sizeof(kind)
        self.assertEqual(dict(zip(expected, self.of_c_program(expected))), expected)

    def test_enumerations(self):
        expected = {}
        for name, (enum, prefix) in ENUMS.items():
            body = re.search(rf"typedef enum {name} \{{(.*?)\}} {name};", header_text(), flags=re.S)[1]
            known = {}
            for member in enum:
                unprefixed = name == "clbake_activation" and member == h.Activation.NONE
                known[f"CLBAKE_{'ACTIVATION_' if unprefixed else prefix}{member.name}"] = int(member)
            self.assertEqual(set(re.findall(r"CLBAKE_\w+", body)), set(known), name)
            expected.update(known)
        self.assertEqual(set(re.findall(r"typedef enum (\w+) \{", header_text())), set(ENUMS))
        self.assertEqual(dict(zip(expected, self.of_c_program(expected))), expected)

    def test_version(self):
        names = ["CLBAKE_VERSION_MAJOR", "CLBAKE_VERSION_MINOR", "CLBAKE_VERSION_PATCH"]
        self.assertEqual(tuple(self.of_c_program(names)), h.VERSION)

    def test_signatures(self):
        declared = {}
        pattern = r"^(\w[\w ]*\*?) (clbake_\w+)\(([^)]*)\);"
        for result, name, arguments in re.findall(pattern, header_text(), flags=re.M):
            if not result.startswith("static"):
                parameters = [] if arguments == "void" else arguments.split(",")
                declared[name] = (ctypes_of(result), [ctypes_of(each) for each in parameters])
        self.assertGreater(len(declared), 25)
        for name, signature in h.FUNCTIONS.items():
            self.assertEqual(signature, declared[name], name)

    def test_callbacks(self):
        for name, callback in (("clbake_log", h.LOG), ("clbake_progress", h.PROGRESS)):
            result, arguments = re.search(rf"typedef (\w+) \(\*{name}\)\((.*?)\);", header_text()).groups()
            self.assertEqual(callback._restype_, NUMBERS[result])
            self.assertEqual(list(callback._argtypes_), [ctypes_of(each) for each in arguments.split(",")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""generate_header.py INCLUDE OUTPUT: writes the module's _header.py, which describes the C API for ctypes.

INCLUDE: the folder of clbake/clbake.h. setup.py and the tests run this.
"""

import re
import sys
from pathlib import Path

START = '''"""Enumerations, structs and functions of clbake/clbake.h, written by generate_header.py."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char, c_char_p, c_double, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from enum import IntEnum


class SizedStruct(ctypes.Structure):
    """A struct that begins with its size, as its _init function in C leaves it."""

    def __init__(self) -> None:
        super().__init__()
        self.struct_size = ctypes.sizeof(self)
'''
NUMBERS = {"int": "c_int", "char": "c_char", "size_t": "c_size_t", "uint64_t": "c_uint64", "double": "c_double",
           "cl_int": "c_int32", "cl_uint": "c_uint32", "void": "None"}
COMMENT = r"/\*((?:(?!\*/).)*)\*/"


def camel(name: str) -> str:
    """OnMiss for clbake_on_miss."""
    return "".join(word.capitalize() for word in name.split("_")[1:])


def split(declaration: str) -> tuple:
    """The type, with its stars, and the name of a parameter or field."""
    kind, name = re.fullmatch(r"((?:const )?(?:struct )?\w+(?:\* const\*|\*)* ?)(\w*)", " ".join(declaration.split())).groups()
    return kind.strip(), name


class Header:
    def __init__(self, text: str) -> None:
        self.text = re.sub(r"static inline .*?\n}\n", "", text.replace("CLBAKE_API ", ""), flags=re.S)
        self.code = re.sub(COMMENT, "", self.text, flags=re.S)
        self.structs = re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", self.code, flags=re.S)
        self.struct_names = [name for name, _ in self.structs]
        self.enums = re.findall(rf"(?:{COMMENT}\n)?typedef enum (\w+) \{{(.*?)\}} \2;", self.text, flags=re.S)
        self.callbacks = re.findall(r"typedef (\w+) \(\*(\w+)\)\((.*?)\);", self.code, flags=re.S)
        self.functions = re.findall(r"^(\w[\w ]*\*?) (clbake_\w+)\(([^)]*)\);", self.code, flags=re.M)

    def ctype(self, kind: str) -> str:
        """The type of ctypes for "const clbake_problem*", say."""
        stars = kind.count("*")
        name = re.sub(r"\b(const|struct)\b|\*", "", kind).strip()
        if stars:
            if stars == 1 and name in self.struct_names:
                return f"POINTER({camel(name)}Struct)"
            if name == "char":
                return "c_char_p" if stars == 1 else "POINTER(c_char_p)"
            return "c_void_p"
        if name in [callback for _, callback, _ in self.callbacks]:
            return camel(name)
        # Other names are objects of OpenCL and enumerations.
        return NUMBERS.get(name, "c_void_p" if name.startswith("cl_") else "c_int")

    def ctypes(self, parameters: str) -> str:
        return ", ".join(self.ctype(split(each)[0]) for each in parameters.split(",") if each != "void")

    def enum(self, comment: str, name: str, body: str) -> str:
        lines = [f"class {camel(name)}(IntEnum):"]
        if comment:
            text = " ".join(comment.replace(" * ", " ").replace("CLBAKE_", "").split())
            lines.append(f'    """{text}"""\n')
        prefix = name.split("_")[1].upper() + "_"  # of some enumerations
        for member, value, note in re.findall(r"CLBAKE_(\w+) = (\d+),?(?:[ ]*/\* (.*?) \*/)?", body):
            member = member[len(prefix):] if member.startswith(prefix) else member
            lines.append(f"    {member} = {value}" + (f"  # {note}" if note else ""))
        return "\n".join(lines)

    def struct(self, name: str, body: str) -> str:
        fields = []
        for declaration in filter(str.strip, body.split(";")):
            first, *more = declaration.split(",")
            kind, _ = split(re.sub(r"\[\d+\]", "", first))
            for field in (first.split()[-1], *more):
                field, size = re.match(r"\s*(\w+)(?:\[(\d+)\])?", field).groups()
                fields.append(f'        ("{field}", {self.ctype(kind)}{f" * {size}" if size else ""}),')
        base = "SizedStruct" if body.split()[1] == "struct_size;" else "ctypes.Structure"
        return "\n".join([f"class {camel(name)}Struct({base}):", "    _fields_ = [", *fields, "    ]"])

    def module(self, version: tuple) -> str:
        parts = [START, f"VERSION = {version}"]
        parts += [self.enum(*each) for each in self.enums]
        parts += [f"{camel(name)} = CFUNCTYPE({', '.join(filter(None, [self.ctype(result), self.ctypes(parameters)]))})"
                  for result, name, parameters in self.callbacks]
        parts += [self.struct(*each) for each in self.structs]
        return "\n\n\n".join([*parts, self.function_table("FUNCTIONS")]) + "\n"

    def function_table(self, table: str) -> str:
        functions = [f'    "{name}": ({self.ctype(split(result)[0])}, [{self.ctypes(parameters)}]),'
                     for result, name, parameters in self.functions]
        return "\n".join(["# name: (result, arguments)", table + " = {", *functions, "}"])

    def added_module(self, known: "Header", table: str) -> str:
        """A smaller header's part, which includes the known one."""
        self.struct_names += known.struct_names
        return "\n\n\n".join(["", *(self.struct(*each) for each in self.structs), self.function_table(table)]) + "\n"


def generate(include: Path, output: Path) -> None:
    version = re.findall(r"#define CLBAKE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (include / "clbake/version.h").read_text())
    header = Header((include / "clbake/clbake.h").read_text())
    weights = Header((include / "clbake/weights/pack.h").read_text())
    output.write_text(header.module(tuple(int(each) for each in version)) + weights.added_module(header, "WEIGHT_FUNCTIONS"))


if __name__ == "__main__":
    generate(Path(sys.argv[1]), Path(sys.argv[2]))

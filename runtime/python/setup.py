"""Builds the wheel: the module, its _header.py made from the C header, and beside them libclbake.so, which CMake makes.

CLBAKE_LIBRARY=FILE packs a library that is built already, CLBAKE_PLATFORM names the platform of its wheel.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

here = Path(__file__).resolve().parent
root = here.parents[1]
sys.path.insert(0, str(here))
from generate_header import generate  # noqa: E402


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        package = Path(self.build_lib, "clbake")
        generate(root / "runtime/include", package / "_header.py")
        library = os.environ.get("CLBAKE_LIBRARY")
        if not library:
            folder = Path(self.get_finalized_command("build").build_temp).resolve() / "cmake"
            library = folder / "runtime/libclbake.so"
            options = ["-DCMAKE_BUILD_TYPE=Release", "-DCLBAKE_BUILD_TOOLS=OFF", "-DCLBAKE_BUILD_TESTS=OFF"]
            subprocess.run(["cmake", "-S", root, "-B", folder, *options], check=True)
            subprocess.run(["cmake", "--build", folder, "--target", "clbake_shared", "clbake_weights_shared",
                            "--parallel", str(os.cpu_count() or 1)], check=True)
        suffix = ".dll" if Path(library).suffix == ".dll" else ".so"
        shutil.copy(library, package / f"libclbake{suffix}")
        weights = Path(library).with_name(f"libclbake_weights{suffix}")
        if weights.exists():
            shutil.copy(weights, package / weights.name)


class WithLibrary(Distribution):
    def has_ext_modules(self) -> bool:
        return True  # installed as belonging to a platform


class AnyPython(bdist_wheel):
    """For any Python 3 of the platform: the library knows nothing of Python."""

    def get_tag(self) -> tuple:
        return ("py3", "none", os.environ.get("CLBAKE_PLATFORM") or super().get_tag()[2])


header = (root / "runtime/include/clbake/version.h").read_text()
version = ".".join(re.findall(r"#define CLBAKE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
setup(version=version, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPython},
      distclass=WithLibrary)

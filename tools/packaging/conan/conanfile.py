"""The library of clbake for Conan 2, from this checkout, by

    conan create tools/packaging/conan [-o '&:system=True'] --build=missing

system=True takes OpenCL, zstd and libsodium from the system's packages in the place of ConanCenter's.
"""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps
from conan.tools.system.package_manager import Apt


class Clbake(ConanFile):
    name = "clbake"
    license = "Apache-2.0"
    description = "OpenCL with nothing left to compile at run time"
    topics = ("opencl", "gemm", "blas")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "trust": [True, False], "system": [True, False]}
    default_options = {"shared": False, "trust": True, "system": False}

    @property
    def _root(self):
        return Path(self.recipe_folder).parents[2]

    def set_version(self):
        text = (self._root / "CMakeLists.txt").read_text()
        self.version = re.search(r"project\(clbake VERSION (\S+)", text).group(1)

    def export_sources(self):
        sources = ["CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", ".github/*", "cache/*", "runtime/*",
                   "tools/cmake/*", "tools/packaging/documents*"]
        sources += [f"{folder}/*.{kind}" for folder in ("builder", "kernels", "tools") for kind in ("md", "svg")]
        for pattern in sources:
            copy(self, pattern, self._root, self.export_sources_folder, excludes=("build/*", "runtime/python/build/*"))

    def requirements(self):
        if self.options.system:
            return
        self.requires("opencl-icd-loader/2023.12.14", transitive_headers=True)
        self.requires("zstd/[>=1.5 <1.6]")
        if self.options.trust:
            self.requires("libsodium/[>=1.0.18 <2]")

    def system_requirements(self):
        if self.options.system:
            packages = ["ocl-icd-opencl-dev", "opencl-c-headers", "opencl-clhpp-headers", "libzstd-dev", "pkg-config"]
            Apt(self).check(packages + (["libsodium-dev"] if self.options.trust else []))

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("BUILD_TOOLS", "BUILD_TESTS", "LAYER", "CLBLAST"):
            toolchain.variables[f"CLBAKE_{part}"] = False
        toolchain.variables["CLBAKE_TRUST"] = bool(self.options.trust)
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # Its own CMake package: find_package(clbake COMPONENTS runtime trust).
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/clbake"]
        self.cpp_info.libs = ["clbake_trust", "clbake"] if self.options.trust else ["clbake"]

# The Debian packages that clbake needs; sourced by the scripts beside it.
compiler_packages=(cmake g++ ninja-build pkg-config)
library_packages=(libzstd-dev ocl-icd-opencl-dev opencl-c-headers opencl-clhpp-headers)
build_packages=("${compiler_packages[@]}" "${library_packages[@]}" libboost-program-options-dev libsodium-dev nlohmann-json3-dev)
test_packages=(abigail-tools binutils chromium-headless-shell make libboost-test-dev libclblast-dev libxxhash-dev oclgrind clang-15 libclc-15)
test_packages+=(python3-numpy python3-pip python3-pyopencl python3-setuptools python3-venv python3-wheel)
cpu_driver_packages=(pocl-opencl-icd)
fleet_packages=(slurmctld slurmd slurm-client munge mesa-opencl-icd clang-15 libclc-15)
lint_packages=(clang-format clang-tidy doxygen git)
fuzz_packages=(clang libclang-rt-14-dev)
deb_packages=(debhelper dpkg-dev fakeroot git)
foreign_packages=(pkgconf libzstd-dev ocl-icd-opencl-dev libboost-program-options-dev libsodium-dev)  # of another architecture, for its .deb
release_packages=(minisign python3-venv)
coverage_packages=(gcovr)
cross_packages=(g++-aarch64-linux-gnu qemu-user-static)  # tools/test-arm64
# tools/test-windows
windows_packages=(g++-mingw-w64-x86-64-posix wine wine64 xz-utils libboost-dev nlohmann-json3-dev opencl-c-headers opencl-clhpp-headers)

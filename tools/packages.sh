# The Debian packages that clbake needs; sourced by the scripts beside it.
compiler_packages=(cmake g++ ninja-build pkg-config)
library_packages=(libzstd-dev ocl-icd-opencl-dev opencl-c-headers opencl-clhpp-headers)
build_packages=("${compiler_packages[@]}" "${library_packages[@]}" libboost-program-options-dev nlohmann-json3-dev)
test_packages=(binutils make libboost-test-dev libxxhash-dev oclgrind clang-15 libclc-15)
cpu_driver_packages=(pocl-opencl-icd)
fleet_packages=(slurmctld slurmd slurm-client munge mesa-opencl-icd clang-15 libclc-15)
lint_packages=(clang-format clang-tidy doxygen git)
fuzz_packages=(clang libclang-rt-14-dev)

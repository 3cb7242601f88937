#!/usr/bin/env bash
# platforms.sh ROOT: only the table of platforms and its builder's half know the names of platforms. The other files
# excepted here state whole targets, of offline compilers.
set -u
cd "$1" || exit 1
names='"(Portable Computing Language|NVIDIA CUDA|Intel\(R\) OpenCL|AMD Accelerated|rusticl"|Oclgrind")'
compared='platform_name(\.|\) *)?(find|rfind|compare|starts_with)\(|platform_name *[!=]= *"'
found=$(git grep -nE "$names|$compared" -- 'cache/*.[ch]pp' 'kernels/*.[ch]pp' 'runtime/*.[ch]pp' 'builder/*.[ch]pp' 'tools/*.[ch]pp' \
  ':!runtime/src/opencl/platform.cpp' ':!builder/src/process/platforms.cpp' \
  ':!builder/src/compile/offline/offline_targets.cpp')
[ -z "$found" ] && exit 0
echo "the name of a platform outside of the table (runtime/src/opencl/platform.cpp):"
echo "$found"
exit 1

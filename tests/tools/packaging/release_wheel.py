"""release_wheel.py BUNDLE SITE: the module, which must come from SITE, multiplies on a device by a program of BUNDLE.
Exit status 77: pyopencl, numpy or a device is not here."""

import sys

try:
    import numpy as np
    import pyopencl as cl
    import pyopencl.array as cl_array

    context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
except Exception as reason:  # an import, or the loader without a platform
    print(f"skipped: {reason}")
    sys.exit(77)

import clbake

bundle, site = sys.argv[1:]
if not clbake.__file__.startswith(site):
    sys.exit(f"{clbake.__file__} is not of {site}")
queue = cl.CommandQueue(context)
library = clbake.Library(context, context.devices[0], clbake.Bundle(bundle), on_miss=clbake.OnMiss.COMPILE)
a = np.arange(48 * 32, dtype=np.float32).reshape(48, 32) % 7
b = np.arange(32 * 40, dtype=np.float32).reshape(32, 40) % 5
c = cl_array.zeros(queue, (48, 40), np.float32)
library.matmul(cl_array.to_device(queue, a), cl_array.to_device(queue, b), c)
np.testing.assert_array_equal(c.get(), a @ b)

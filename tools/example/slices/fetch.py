#!/usr/bin/env python3
"""fetch.py STORE CACHE [M N K]: a product with the slices of a release that this device needs, and no others.

STORE: a folder of `clbake split`, or the URL of one on any web server, such as `python3 -m http.server`. CACHE: a folder
that keeps slices from one run, and one release, to the next. Says what it fetched.
"""

import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

import clbake
import numpy as np
import pyopencl as cl
import pyopencl.array

INDEX = "index.clbake-index"
MINIMUM_RELEASE = 1  # of the release that this application was tested with


def fetched(url: str, begin: int = 0) -> tuple:
    """The bytes at the URL from `begin` on, and whether they begin there: not every server sends a part."""
    request = urllib.request.Request(url, headers={"Range": f"bytes={begin}-"} if begin else {})
    with urllib.request.urlopen(request) as answer:
        return answer.read(), getattr(answer, "status", None) == 206


def fetch_slice(store: str, slice: clbake.Slice, path: Path, begin: int) -> str:
    """Writes the file from `begin` on; what an interrupted run left of it is not fetched again."""
    content, is_rest = fetched(f"{store}/{slice.name}", begin)
    with open(path, "ab" if is_rest else "wb") as file:
        file.write(content)
    return f"fetched {len(content)} of {slice.bytes} bytes"


def open_slice(store: str, index: clbake.SliceIndex, slice: clbake.Slice, cache: Path) -> clbake.Bundle:
    """The slice of the cache or, if it is not there or not whole, of the store."""
    path = cache / slice.name
    how = "in the cache"
    try:
        bundle = index.open_slice(slice.name, path)
    except clbake.Error as error:
        begin = path.stat().st_size if error.code == clbake.Code.TRUNCATED else 0
        how = fetch_slice(store, slice, path, begin)
        try:
            bundle = index.open_slice(slice.name, path)
        except clbake.Error:  # what was there was not its beginning
            how = fetch_slice(store, slice, path, 0)
            bundle = index.open_slice(slice.name, path)
    print(f"{slice.name[:16]}: {slice.origin.name.lower()}, {how}")
    return bundle


def open_index(store: str, cache: Path) -> clbake.SliceIndex:
    """The store's index or, when the store is out of reach, that of the last run."""
    try:
        content, _ = fetched(f"{store}/{INDEX}")
    except urllib.error.URLError as reason:
        print(f"{store}: {reason.reason}")
        return clbake.SliceIndex(cache / INDEX, minimum_release=MINIMUM_RELEASE)
    index = clbake.SliceIndex(content, minimum_release=MINIMUM_RELEASE)
    temporary = cache / f"{INDEX}.{os.getpid()}"
    temporary.write_bytes(content)
    temporary.replace(cache / INDEX)
    return index


def main(store: str, cache: Path, m: int = 64, n: int = 64, k: int = 64) -> None:
    if "://" not in store:
        store = Path(store).resolve().as_uri()
    cache.mkdir(parents=True, exist_ok=True)
    context = cl.create_some_context(interactive=False)
    device, queue = context.devices[0], cl.CommandQueue(context)
    index = open_index(store, cache)
    needed = index.needed(device, [clbake.Problem(m, n, k)])
    print(f"release {index.release}: {len(needed.slices)} slices, {sum(slice.bytes for slice in needed.slices)} bytes")
    library = clbake.Library(context, device, [open_slice(store, index, slice, cache) for slice in needed.slices])
    a, b = (np.random.default_rng(7).random(shape, np.float32) for shape in ((m, k), (k, n)))
    c = cl.array.empty(queue, (m, n), np.float32)
    library.matmul(cl.array.to_device(queue, a), cl.array.to_device(queue, b), c)
    np.testing.assert_allclose(c.get(), a @ b, rtol=1e-4)
    print(f"{m} x {n} x {k}: right, by {library.explain(clbake.Problem(m, n, k)).origin.name.lower()} code")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 6):
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))

#!/usr/bin/env python3
"""fetch.py STORE CACHE [M N K]: a product with the slices of a release that this device needs, and no others.

STORE: a folder of `clbake split`, or the URL of one on any web server, such as `python3 -m http.server`. CACHE: a folder
that keeps slices from one run, and one release, to the next. Says what it fetched.
"""

import contextlib
import os
import shutil
import sys
import typing
import urllib.error
import urllib.request
from pathlib import Path

import clbake
import numpy as np
import pyopencl as cl
import pyopencl.array

INDEX = "index.clbake-index"
MINIMUM_RELEASE = 1  # of the release that this application was tested with


def opened(url: str, begin: int = 0) -> typing.BinaryIO:
    """The file at the URL from `begin` on, as far as the server sends parts."""
    request = urllib.request.Request(url, headers={"Range": f"bytes={begin}-"} if begin else {})
    return urllib.request.urlopen(request, timeout=60)


def fetch_slice(store: str, slice: clbake.Slice, path: Path) -> str:
    """Puts the file at its place when all of it is there; what an interrupted run left of it is not fetched again."""
    part = path.with_suffix(".part")
    begin = part.stat().st_size if part.exists() else 0
    if begin >= slice.bytes:
        begin = 0
    with opened(f"{store}/{slice.name}", begin) as answer:
        is_rest = getattr(answer, "status", None) == 206  # not every server sends a part
        with open(part, "ab" if is_rest else "wb") as file:
            start = file.tell()
            shutil.copyfileobj(answer, file)
            count = file.tell() - start
    with contextlib.suppress(FileNotFoundError):  # another run was faster
        part.replace(path)
    return f"fetched {count} of {slice.bytes} bytes"


def open_slice(store: str, index: clbake.SliceIndex, slice: clbake.Slice, cache: Path) -> clbake.Bundle:
    """The slice of the cache or, if it is not there or not whole, of the store."""
    path = cache / slice.name
    how = "in the cache"
    for attempts in (2, 1, 0):
        try:
            bundle = index.open_slice(slice.name, path)
            break
        except clbake.Error as error:
            if attempts == 0:
                raise
            if error.code == clbake.Code.TRUNCATED:
                path.replace(path.with_suffix(".part"))
        how = fetch_slice(store, slice, path)
    print(f"{slice.name[:16]}: {slice.origin.name.lower()}, {how}")
    return bundle


def open_index(store: str, cache: Path) -> clbake.SliceIndex:
    """The store's index or, when the store is out of reach, that of the last run."""
    try:
        with opened(f"{store}/{INDEX}") as answer:
            content = answer.read()
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

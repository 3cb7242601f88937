#!/usr/bin/env python3
"""Kernel Tuner beside `clbake tune`: the same kernels, the same device, the same seconds.

    python3 tools/bench/peers/beside_kernel_tuner.py --clbake build/release/tools/clbake --minutes 10

Both search local_tile and register_tile for one square product in single precision, nothing transposed. Kernel Tuner
compiles the sources in kernels/ with the macros of KERNELS.md. It holds every point of its space in memory, so it gets
those with one kernel (one slice of k, operands as stored), and of local_tile only those with ks = 16, early loads,
loads as wide as the vectors and rows padded by a vector: at most three million. clbake searches all points of both.

Each search has a process, an empty cache of the driver, and its own file in --work, which a second run reuses. The
best points are checked and timed in turns at the end.
"""
import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

try:
    import kernel_tuner
    import kernel_tuner.interface
    import numpy as np
    import pyopencl as cl
    from kernel_tuner.backends.opencl import OpenCLFunctions
except ImportError as missing:
    sys.exit(f"{missing}; needed: {sys.executable} -m pip install kernel_tuner pyopencl")

KERNELS = Path(__file__).resolve().parents[3] / "kernels"
FAMILIES = ["register_tile", "local_tile"]
MAPS = ["blocked", "cyclic", "zigzag"]
# The standard value of each parameter that names leave out, in the order of names.
OPTIONS = {"buffers": 1, "prefetch": 1, "load_width": 1, "padding": 0, "map": 1, "fragments": 1, "exchange": 0}
BLOCKS = ["ml", "nl", "kl", "ms", "ns", "ks", "vector_width"]
PARAMETERS = ["family", *BLOCKS, *OPTIONS]
REAL_BYTES = 4


# ---- The space: points are dictionaries, many points a dictionary of arrays ----

def combinations(values):
    arrays = np.meshgrid(*values.values(), indexing="ij")
    return {name: array.ravel() for name, array in zip(values, arrays)}


def where(points, admitted):
    return {name: array[admitted] for name, array in points.items()}


def blocks_that_divide(values, accumulator_bytes):
    points = combinations({name: values[name] for name in ("vector_width", "ns", "nl", "ms", "ml")})
    return where(points, (points["ns"] % points["vector_width"] == 0) & (points["nl"] % points["ns"] == 0) &
                 (points["ml"] % points["ms"] == 0) & (points["ms"] * points["ns"] * REAL_BYTES <= accumulator_bytes))


def joined(blocks, options):
    """Every block with every combination of the options."""
    number = combinations({"block": np.arange(len(blocks["nl"])), **options})
    points = {name: array[number["block"]] for name, array in blocks.items()}
    return {**points, **{name: number[name] for name in options}}


def register_tile_points(values, limits):
    points = joined(blocks_that_divide(values, 2048), {"kl": values["kl"], "ks": values["ks"]})
    points = where(points, (points["kl"] % points["ks"] == 0) &
                   (points["kl"] * points["nl"] * REAL_BYTES <= limits["private_memory_bytes"]))
    for name, standard in OPTIONS.items():
        points[name] = np.full(len(points["nl"]), standard)
    return points


def local_tile_blocks(values, limits):
    blocks = blocks_that_divide(values, 512)
    x, y = blocks["nl"] // blocks["ns"], blocks["ml"] // blocks["ms"]
    most_x, most_y = limits["max_work_item_sizes"][:2]
    return where(blocks, (x >= 2) & (x <= most_x) & (y <= most_y) & (x * y <= limits["max_work_group_size"]))


def local_tile_admitted(p, limits):
    x, y = p["nl"] // p["ns"], p["ml"] // p["ms"]
    width = p["vector_width"]
    memory = sum(-(-p["buffers"] * p["kl"] * (p[rows] + p["padding"]) // width) * width for rows in ("ml", "nl"))
    whole = (p["padding"] % width == 0)
    for name in ("ml", "nl", "kl"):
        whole = whole & (p[name] % p["load_width"] == 0)
    warps = (p["map"] != MAPS.index("zigzag")) | ((x % 8 == 0) & (y % 4 == 0))
    alike = (p["map"] != MAPS.index("zigzag")) & (p["ms"] <= 16) & (p["ms"] & (p["ms"] - 1) == 0)
    alike = alike & (x % p["ms"] == 0) & (x * y % 32 == 0) & bool(limits["shuffle"] or limits["ptx"])
    return whole & warps & ((p["exchange"] == 0) | alike) & (memory * REAL_BYTES <= limits["local_memory_bytes"])


def local_tile_points(values, limits):
    points = joined(local_tile_blocks(values, limits),
                    {"kl": values["kl"], "ks": [16], "buffers": values["buffers"], "prefetch": [1],
                     "map": np.arange(len(MAPS)), "fragments": values["fragments"], "exchange": [0]})
    points["load_width"] = np.minimum(points["vector_width"], max(values["load_width"]))
    points["padding"] = np.where(np.isin(points["vector_width"], values["padding"]), points["vector_width"], 0)
    return where(points, local_tile_admitted(points, limits))


def keep_settings(options):
    """Results in the work folder serve only the same settings."""
    now = {name: getattr(options, name) for name in ("device", "size", "minutes", "family", "iterations", "parallel")}
    path = options.work / "settings.json"
    if path.exists() and json.loads(path.read_text()) != now:
        sys.exit(f"{options.work} has results of other settings ({path}): name another folder with --work")
    path.write_text(json.dumps(now))


def space_of(clbake, device, work):
    """What `clbake space` says, kept in the work folder."""
    path = work / "space.json"
    if not path.exists():
        command = [clbake, "space", "--json", *(["--device", device] if device else [])]
        path.write_text(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    space = json.loads(path.read_text())
    if not space["limits"]:
        sys.exit("clbake finds no OpenCL device")
    return space


def points_of(space, families):
    """All of Kernel Tuner's points as tuples in the order of PARAMETERS."""
    rows = []
    for family in families:
        entry = next(found for found in space["families"] if found["family"] == family)
        values = {p["name"]: np.array([v for v in p["values"] if v not in ("mma", "mma8")]) for p in entry["parameters"]}
        if family == "register_tile":
            points = register_tile_points(values, space["limits"])
        else:
            points = local_tile_points(values, space["limits"])
        points["family"] = np.full(len(points["nl"]), FAMILIES.index(family))
        rows += zip(*(points[name].tolist() for name in PARAMETERS))
    return rows


# ---- One point: its name, source and launch ----

def name_of(p):
    text = "{}-s-nn-{ml}x{nl}x{kl}-{ms}x{ns}x{ks}-v{vector_width}".format(FAMILIES[p["family"]], **p)
    tags = {"load_width": "load{}", "prefetch": "noprefetch", "exchange": "exchange"}
    for option, standard in OPTIONS.items():
        if p[option] != standard:
            value = MAPS[p[option]] if option == "map" else p[option]
            text += "-" + tags.get(option, option + "{}").format(value)
    return text


def point_of(name):
    """The point with this name; None if it has several kernels, or is of another family."""
    match = re.fullmatch(r"(\w+)-s-nn-(\d+)x(\d+)x(\d+)-(\d+)x(\d+)x(\d+)-v(\d+)(.*)", name)
    if not match or match[1] not in FAMILIES:
        return None
    p = {"family": FAMILIES.index(match[1]), **dict(zip(BLOCKS, map(int, match.groups()[1:8]))), **OPTIONS}
    for option in filter(None, match[9].split("-")):
        tag, value = re.fullmatch(r"(noprefetch|map|[a-z]+)(.*)", option).groups()
        if tag == "noprefetch":
            p["prefetch"] = 0
        elif option == "exchange":
            p["exchange"] = 1
        elif tag == "map" and value in MAPS:
            p["map"] = MAPS.index(value)
        elif tag in ("buffers", "load", "padding", "fragments") and value.isdigit():
            p["load_width" if tag == "load" else tag] = int(value)
        else:
            return None
    return p if name_of(p) == name else None


def source_of(p):
    family = FAMILIES[p["family"]]
    names = BLOCKS + (list(OPTIONS) if family == "local_tile" else [])
    macros = {name.upper(): MAPS[p[name]].upper() if name == "map" else p[name] for name in names}
    macros |= {"PRECISION": 32, "TRANS_A": 0, "TRANS_B": 0, "SPLIT_K": 1, "LAYOUT_A": "ROW_MAJOR",
               "LAYOUT_B": "ROW_MAJOR"}
    defines = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    return defines + (KERNELS / "common.cl").read_text() + (KERNELS / f"{family}.cl").read_text()


def work_group(p):
    return (1, 1, 1) if p["family"] == 0 else (p["nl"] // p["ns"], p["ml"] // p["ms"], 1)


class Product:
    """C = A * B with m = n = k = size, and how well C was computed."""

    def __init__(self, size):
        random = np.random.default_rng(1)
        self.size = size
        self.a, self.b = (random.uniform(-1, 1, (size, size)).astype(np.float32) for _ in range(2))
        self.c = np.zeros((size, size), np.float32)

        self.offsets = np.zeros(3, np.uint64)  # of a batch of one product; Kernel Tuner has no null pointers

    def arguments(self, a, b, c, offsets):
        n, zero = np.int32(self.size), np.uint64(0)
        return [n, n, n, np.float32(1), a, zero, n, b, zero, n, np.float32(0), c, zero, n, zero, zero, zero,
                offsets, np.int32(0)]

    def gflops(self, seconds):
        return 2e-9 * self.size**3 / seconds

    def is_right(self, c):
        rows = slice(0, self.size, 7)
        expected = self.a[rows].astype(np.float64) @ self.b.astype(np.float64)
        return np.max(np.abs(c[rows] - expected)) < 1e-6 * self.size


# ---- Kernel Tuner ----

def adapt_kernel_tuner(rows):
    """Three things that Kernel Tuner has no options for."""
    values = {name: sorted({row[i] for row in rows}) for i, name in enumerate(PARAMETERS)}
    points = {row: dict(zip(PARAMETERS, row)) for row in rows}
    listed = kernel_tuner.interface.Searchspace(None, None, None, from_cache={"tune_params": values, "cache": points})
    # The space as a list: to build it from restrictions would take minutes of the search.
    kernel_tuner.interface.Searchspace = lambda *_, **__: listed
    # A work-group's size that follows from other parameters.
    kernel_tuner.util.get_thread_block_dimensions = lambda p, _=None: work_group(p)
    # A point that does not compile is left out; else it would end the search.
    backend = OpenCLFunctions
    compile_point = backend.compile

    def compile_or_none(self, instance):
        try:
            return compile_point(self, instance)
        except cl.Error:
            return None

    backend.compile = compile_or_none
    return values


def device_number(name):
    for platform, devices in enumerate(p.get_devices() for p in cl.get_platforms()):
        for device, found in enumerate(devices):
            if found.name == name:
                return {"platform": platform, "device": device}
    return sys.exit(f"pyopencl finds no device named {name}")


def search(options, space, strategy, seconds):
    """Runs one strategy until the time is over; each new best is a line of its file."""
    values = adapt_kernel_tuner(points_of(space, options.family))
    product = Product(options.size)
    lines = (options.work / f"{strategy}.jsonl.part").open("w")
    state = {"tried": 0, "best": 0}
    # Also ends a compilation that hangs.
    signal.setitimer(signal.ITIMER_REAL, seconds + 1)
    start = time.monotonic()

    def record(p):
        state["tried"] += 1
        speed = product.gflops(p["time"] / 1e3)
        best = speed > state["best"]
        state["best"] = max(speed, state["best"])
        line = {"seconds": time.monotonic() - start, "tried": state["tried"]}
        lines.write(json.dumps({**line, **({"gflops": speed, "variant": name_of(p)} if best else {})}) + "\n")
        lines.flush()
        return speed

    # Random search would copy a tenth of the space first.
    limits = {"max_fevals": 20000} if strategy == "random_sample" else {}
    kernel_tuner.tune_kernel(
        "clbake_gemm", source_of, lambda p: (-(-options.size // p["nl"]), -(-options.size // p["ml"])),
        product.arguments(product.a, product.b, product.c, product.offsets), values, grid_div_x=[], grid_div_y=[],
        lang="OpenCL", defines={}, iterations=options.iterations, metrics={"gflops": record}, quiet=True,
        strategy=strategy, strategy_options={"time_limit": seconds, **limits},
        **device_number(space["limits"]["device"]))


# ---- The searches ----

def environment(work, name, cores, pinned):
    """An empty cache of the driver. POCL_AFFINITY pins PoCL's threads, to the first cores."""
    cache = work / f"cache-{name}"
    cache.mkdir(exist_ok=True)
    env = {**os.environ, "PYOPENCL_NO_CACHE": "1", "POCL_CACHE_DIR": str(cache), "CUDA_CACHE_PATH": str(cache)}
    if pinned:
        env["POCL_AFFINITY"] = "1"
    if cores:
        env |= {"POCL_MAX_PTHREAD_COUNT": str(len(cores)), "POCL_CPU_MAX_CU_COUNT": str(len(cores))}
    return env


def start(options, name, cores):
    prefix = ["taskset", "-c", ",".join(map(str, cores))] if cores else []
    own = [sys.executable, __file__, "--work", str(options.work), "--size", str(options.size), "--family",
           ",".join(options.family), "--strategies", ",".join(options.strategies), "--minutes", str(options.minutes),
           "--iterations", str(options.iterations)]
    if name == "clbake":
        shapes = options.work / "shapes.txt"
        shapes.write_text(f"{options.size}x{options.size}x{options.size}\n")
        command = [options.clbake, "tune", "--shapes", shapes, "--precision", "single", "--trans", "nn", "--family",
                   ",".join(options.family), "--prior", "none", "--budget", f"{options.minutes * 60:g}s", "--fresh",
                   "-o", options.work / "clbake.json"]
        command += ["--device", options.device] if options.device else []
        command += ["--jobs", str(len(cores))] if cores else []
    else:
        command = [*own, "--only", name]
    pinned = not cores or name in ("clbake", "measure")
    log = (options.work / f"{name}.log").open("w")
    output = subprocess.PIPE if name == "measure" else log
    return subprocess.Popen([*prefix, *map(str, command)], env=environment(options.work, name, cores, pinned),
                            stdout=output, stderr=log, text=True)


def result_file(options, name):
    return options.work / ("clbake.json" if name == "clbake" else f"{name}.jsonl")


def finish(options, name, process):
    process.wait()
    part = options.work / f"{name}.jsonl.part"
    if part.exists() and part.stat().st_size:
        part.rename(result_file(options, name))
    if not result_file(options, name).exists():
        sys.exit(f"{name} found nothing (exit status {process.returncode}); see {options.work / name}.log")


def run_searches(options, cores):
    names = [name for name in ["clbake", *options.strategies] if not result_file(options, name).exists()]
    print(f"{', '.join(names) or 'nothing'} to search, {options.minutes:g} min each", file=sys.stderr, flush=True)
    if options.parallel:
        for name, process in [(name, start(options, name, cores[name])) for name in names]:
            finish(options, name, process)
    else:
        for name in names:
            finish(options, name, start(options, name, []))


# ---- The results ----

def clbake_curve(path):
    """New bests as (seconds, GFLOP/s), the number of points tried, and the best that has one kernel."""
    profile = json.loads(path.read_text())
    names = profile["variants"]
    winner = profile["winners"][0]
    # The curve ends with the first stage, half of the time; the winner is that of the final race.
    curve = [(row[0], row[4]) for row in profile["curve"]] + [(profile["elapsed_s"], winner["gflops"])]
    ranked = sorted((row for row in profile["measurements"] if row[4] > 1), key=lambda row: (not row[5], row[2]))
    single = [winner["variant"]] + [names[row[0]] for row in ranked]
    return curve, profile["tried"], next(name for name in single if point_of(name))


def strategy_curve(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    bests = [line for line in lines if "gflops" in line]
    return [(line["seconds"], line["gflops"]) for line in bests], lines[-1]["tried"], bests[-1]["variant"]


def results_of(options):
    marks = sorted({m for m in (1, 5, 10) if m < options.minutes} | {options.minutes})
    rows = []
    for name in ["clbake", *options.strategies]:
        path = result_file(options, name)
        curve, tried, best = clbake_curve(path) if name == "clbake" else strategy_curve(path)
        after = [max((gflops for seconds, gflops in curve if seconds <= 60 * mark or mark == options.minutes),
                     default=0) for mark in marks]
        rows.append({"search": name, "tried": tried, "gflops_after_minutes": dict(zip(map(str, marks), after)),
                     "variant": best})
    return rows


def measure(options, space, names):
    """Checks the points, then times them in turns: GFLOP/s of the median call, enqueue to finish."""
    found = device_number(space["limits"]["device"])
    device = cl.get_platforms()[found["platform"]].get_devices()[found["device"]]
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    product = Product(options.size)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (product.a, product.b, product.c, product.offsets)]
    c = buffers[2]
    calls = {}
    for name in names:
        p = point_of(name)
        kernel = cl.Program(context, source_of(p)).build().clbake_gemm
        kernel.set_args(*product.arguments(*buffers))
        local = work_group(p)
        groups = (-(-options.size // p["nl"]), -(-options.size // p["ml"]), 1)
        calls[name] = (kernel, tuple(x * y for x, y in zip(groups, local)), local)
        cl.enqueue_copy(queue, c, np.full_like(product.c, np.nan))
        cl.enqueue_nd_range_kernel(queue, *calls[name])
        result = np.empty_like(product.c)
        cl.enqueue_copy(queue, result, c)
        if not product.is_right(result):
            sys.exit(f"{name}: wrong result")
    times = {name: [] for name in names}
    for _ in range(15):
        for name, call in calls.items():
            turn = time.perf_counter()
            while time.perf_counter() - turn < 0.1:
                begin = time.perf_counter()
                cl.enqueue_nd_range_kernel(queue, *call)
                queue.finish()
                times[name].append(time.perf_counter() - begin)
    return {name: product.gflops(statistics.median(list_)) for name, list_ in times.items()}


def print_table(rows):
    marks = list(rows[0]["gflops_after_minutes"])
    print("| GFLOP/s | points tried |", " | ".join(f"after {mark} min" for mark in marks), "| in turns | best point |")
    print("| --- | ---: |", " | ".join("---:" for _ in marks), "| ---: | --- |")
    for row in rows:
        after = " | ".join(f"{value:,.1f}" for value in row["gflops_after_minutes"].values())
        print(f"| {row['search']} | {row['tried']} | {after} | {row['gflops_in_turns']:,.1f} | {row['variant']} |")


# ---- The command ----

def parsed():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--clbake", default="clbake", help="the program; default: clbake of the PATH")
    parser.add_argument("--device", help="as for 'clbake tune'; default: the first")
    parser.add_argument("--size", type=int, default=1024, help="m = n = k; default 1024")
    parser.add_argument("--minutes", type=float, default=10, help="of each search; default 10")
    parser.add_argument("--strategies", default="random_sample,genetic_algorithm,simulated_annealing",
                        help="of Kernel Tuner, separated by commas; default %(default)s")
    parser.add_argument("--family", default="local_tile,register_tile", help="default: %(default)s")
    parser.add_argument("--iterations", type=int, default=3,
                        help="calls that Kernel Tuner times; default 3, not its 7: slow points take less time")
    parser.add_argument("--parallel", action="store_true",
                        help="all searches at the same time, each on as many cores; for PoCL on many cores")
    parser.add_argument("--work", type=Path, default=Path("kernel-tuner.work"),
                        help="folder for results; searches whose results it has are not run again; default %(default)s")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--only", help=argparse.SUPPRESS)  # in a process of its own: a strategy, or the measurement
    options = parser.parse_args()
    options.strategies = options.strategies.split(",")
    options.family = options.family.split(",")
    unknown = [family for family in options.family if family not in FAMILIES]
    if unknown:
        parser.error(f"--family: {unknown[0]} is none of {', '.join(FAMILIES)}")
    return options


def cores_of(options):
    """The cores of each search: clbake gets the first ones, to which PoCL pins its threads."""
    names = ["clbake", *options.strategies]
    available = sorted(os.sched_getaffinity(0))
    each = len(available) // len(names)
    if each == 0:
        sys.exit(f"--parallel: {len(names)} searches need as many cores, and there are {len(available)}")
    return {name: available[i * each:(i + 1) * each] for i, name in enumerate(names)}


def main():
    options = parsed()
    options.work.mkdir(parents=True, exist_ok=True)
    if not options.only:
        keep_settings(options)
    space = space_of(options.clbake, options.device, options.work)
    if options.only == "measure":
        print(json.dumps(measure(options, space, [row["variant"] for row in results_of(options)])))
        return
    if options.only:
        search(options, space, options.only, options.minutes * 60)
        return
    if options.parallel and "pthread" not in space["limits"]["device"] and "cpu" not in space["limits"]["device"]:
        sys.exit("--parallel: the searches would share the device; it is for PoCL, whose devices are cores")
    cores = cores_of(options) if options.parallel else {"clbake": []}
    run_searches(options, cores)
    rows = results_of(options)
    measurement = start(options, "measure", cores["clbake"])
    text = measurement.communicate()[0]
    if measurement.returncode:
        sys.exit(f"the best points could not be timed; see {options.work / 'measure.log'}")
    speeds = json.loads(text)
    listed = set(points_of(space, options.family))
    for row in rows:
        row["gflops_in_turns"] = speeds[row["variant"]]
        point = point_of(row["variant"])
        row["known_to_kernel_tuner"] = tuple(point[name] for name in PARAMETERS) in listed
    if options.json:
        print(json.dumps({"size": options.size, "points_of_kernel_tuner": len(listed), "results": rows}, indent=2))
        return
    print_table(rows)
    among = "among" if rows[0]["known_to_kernel_tuner"] else "not among"
    print(f"\nKernel Tuner had {len(listed):,} points; clbake's best is {among} them.")


if __name__ == "__main__":
    main()

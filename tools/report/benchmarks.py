#!/usr/bin/env python3
"""Draws the tables and the picture of tools/BENCHMARKS.md from the measurements in tools/report/data.

    python3 tools/report/benchmarks.py            # writes the page's tables and the picture
    python3 tools/report/benchmarks.py --check    # writes nothing; fails where one differs from the data
    python3 tools/report/benchmarks.py --add gemm.json --machine H100 --commit 1a2b3c4 --command 'clbake bench gemm ...'

--add appends what `clbake bench gemm --json` or `bench cold --json` printed, or the rows of `bench-programs --csv`, to
the data, and then writes. The tables stand in the page between `<!--NAME-->` and `<!--end-->`. Each line of the data
begins with the number of its run in runs.csv.
"""
import argparse
import csv
import datetime
import itertools
import json
import math
import sys
from html import escape
from pathlib import Path

COLUMNS = {
    "runs": ["run", "date", "machine", "device", "driver", "commit", "command"],
    "cold": ["run", "m", "path", "load_ms", "first_launch_ms", "first_result_ms", "first_result_ms_min",
             "first_result_ms_max", "trials", "steady_ms"],
    "gemm": ["run", "precision", "trans", "m", "n", "k", "batch", "activation", "gflops", "peer", "peer_gflops",
             "ratio"],
    # Earlier runs of which only the geometric mean and the least ratio of a list of products were kept.
    "classes": ["run", "precision", "trans", "shapes", "count", "peer", "mean", "least"],
    "slower": ["run", "precision", "peer", "products", "ratio", "why"],
    "figures": ["run", "table", "row", "column", "value"],
}
NUMBERS = {"load_ms", "first_launch_ms", "first_result_ms", "first_result_ms_min", "first_result_ms_max", "trials",
           "steady_ms", "m", "n", "k", "batch", "gflops", "peer_gflops", "ratio", "count", "mean", "least", "value"}

PATHS = {
    "bundle": ("clbake bundle", "nothing left to compile"),
    "source-cold": ("OpenCL source", "driver's cache empty"),
    "source-warm": ("OpenCL source", "cached by the driver"),
    "plain": ("The driver's binary", "from clGetProgramInfo"),
    "clblast-cold": ("CLBlast", "driver's cache empty"),
    "clblast-warm": ("CLBlast", "cached by the driver"),
    "openblas": ("OpenBLAS", "CPU library, no OpenCL"),
    "cublas": ("cuBLAS", "CUDA library, no OpenCL"),
}
WAYS = {  # of bench-programs
    "empty": "driver's cache empty",
    "warm": "driver's cache filled",
    "served": "served by a bundle",
    "learnt": "learnt",
    "idle": "layer, nothing baked",
}
PEERS = {"openblas": "OpenBLAS", "blis": "BLIS", "mkl": "MKL", "blas": "fastest of three", "onednn": "oneDNN",
         "clblast": "CLBlast", "cublas": "cuBLAS", "cublaslt": "cuBLASLt",
         "separate": "a kernel of its own", "cuda": "cuBLAS(Lt)"}
FASTEST = {"blas": ("openblas", "blis", "mkl"), "cuda": ("cublas", "cublaslt")}  # libraries for the same device
SHAPES = ["small squares", "squares", "unaligned squares", "few rows or columns", "small C, long k", "batches",
          "other shapes"]
# The first column of a table of figures.csv.
HEADS = {"application": "driver", "size": "bundle", "open": "entries", "read": "program",
         "programs": "whole process, ms"}


class DataError(Exception):
    """The fault in the data or the page, and its place."""


# ---- Data ----

def read_table(folder, name):
    """A list of rows, each with its place, for messages."""
    path = folder / (name + ".csv")
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    if not lines or lines[0] != COLUMNS[name]:
        raise DataError(f"{path}: the first line is not {','.join(COLUMNS[name])}")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        place = f"{path}: line {number}"
        if len(line) != len(COLUMNS[name]):
            raise DataError(f"{place}: {len(line)} fields, not {len(COLUMNS[name])}")
        row = dict(zip(COLUMNS[name], line))
        for column in NUMBERS & row.keys():
            try:
                row[column] = float(row[column]) if row[column] else None
            except ValueError:
                raise DataError(f"{place}: {column}: '{row[column]}' is not a number") from None
        check_names(place, row)
        rows.append({**row, "place": place})
    return rows


def check_names(place, row):
    for key, known in (("peer", PEERS), ("path", PATHS)):
        if row.get(key) and row[key] not in known:
            raise DataError(f"{place}: the {key} '{row[key]}' is none of {', '.join(known)}")


def read_data(folder):
    """Lists of rows by the name of their file; `row["at"]` is the row's run."""
    data = {name: read_table(folder, name) for name in COLUMNS}
    runs = {row["run"]: row for row in data.pop("runs")}
    for row in itertools.chain(*data.values()):
        if row["run"] not in runs:
            raise DataError(f"{row['place']}: run {row['run']} is not in runs.csv")
        row["at"] = runs[row["run"]]
    return data


def printed(path):
    """The printed benchmark, and the name of the data's table that its rows belong to."""
    if path.suffix != ".csv":
        report = json.loads(path.read_text(encoding="utf-8"))
        return report, "cold" if "path" in report["rows"][0] else "gemm"
    with open(path, newline="", encoding="utf-8") as file:
        rows = [{"table": "programs", "row": row["program"], "column": WAYS[row["way"]],
                 "value": f"{float(row['ms']):.0f}"} for row in csv.DictReader(file)]
    return {"device": "", "driver": "", "rows": rows or None}, "figures"


def add(folder, path, run):
    """Appends a measurement, or writes nothing; `run` has machine, commit, command and what the file does not tell."""
    number = 1 + max((int(row["run"]) for row in read_table(folder, "runs")), default=0)
    try:
        report, name = printed(path)
        read_table(folder, name)  # fails where the file has other columns
        common = {**report, **run, "run": number, "date": datetime.date.today().isoformat()}
        rows = [{**common, **row} for row in report["rows"]]
        lines = {table: [[row[column] for column in COLUMNS[table]] for row in added]
                 for table, added in ((name, rows), ("runs", [common]))}
    except (ValueError, KeyError, IndexError, TypeError) as error:
        benchmarks = "'clbake bench gemm', 'bench cold' or 'bench-programs'"
        raise DataError(f"{path}: is not what {benchmarks} printed: {error!r}") from None
    for row in rows:
        check_names(path, row)
    for table, added in lines.items():
        with open(folder / (table + ".csv"), "a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [f"{value:.4g}" if isinstance(value, float) else value for value in line] for line in added)


def shapes_of(row):
    """The class of a product."""
    m, n, k = row["m"], row["n"], row["k"]
    if row["batch"] > 1:
        return "batches"
    if min(m, n) <= 32 < max(m, n):
        return "few rows or columns"
    if max(m, n) <= 256 and k >= 8192:
        return "small C, long k"
    if m == n == k:
        return "small squares" if m <= 384 else "squares" if m % 64 == 0 else "unaligned squares"
    return "other shapes"


def newest(rows, key):
    """The rows, of those with the same key only the newest run's."""
    last = {}
    for row in rows:
        run = (row["at"]["date"], int(row["run"]))
        last[key(row)] = max(last.get(key(row), run), run)
    return [row for row in rows if (row["at"]["date"], int(row["run"])) == last[key(row)]]


def beside_fastest(rows):
    """The rows, but of those of a run beside several libraries of FASTEST only the one beside the fastest for each
    product."""
    others, products = [], {}
    for row in rows:
        group = next((name for name, libraries in FASTEST.items() if row["peer"] in libraries), None)
        key = (group, *(row[column] for column in ("run", "precision", "trans", "m", "n", "k", "batch")))
        if group:
            products.setdefault(key, []).append(row)
        else:
            others.append(row)
    for (group, *_), members in products.items():
        least = min(members, key=lambda row: row["ratio"])
        alone = len({row["peer"] for row in members}) == 1 and group != "blas"
        others.append(least if alone else {**least, "peer": group})
    return others


def ratios_by_shapes(data):
    """{(machine, peer, precision): {shapes: (geometric mean or None, least)}}, of all transposes together."""
    rows = list(data["classes"])
    for row in beside_fastest([row for row in data["gemm"] if row["peer"] and not row["activation"]]):
        rows.append({**row, "shapes": shapes_of(row), "count": 1, "mean": row["ratio"], "least": row["ratio"]})
    kind = lambda row: (row["at"]["machine"], row["peer"], row["precision"])
    groups = {}
    size = lambda row: (row["m"], row["n"], row["k"]) if "m" in row else None
    for row in newest(rows, lambda row: (kind(row), row["shapes"], row["trans"], size(row))):
        groups.setdefault(kind(row), {}).setdefault(row["shapes"], []).append(row)
    result = {}
    for group, by_shapes in groups.items():
        for shapes, members in by_shapes.items():
            known = [row for row in members if row["mean"]]
            count = sum(row["count"] for row in known)
            logs = sum(row["count"] * math.log(row["mean"]) for row in known)
            mean = math.exp(logs / count) if known else None
            result.setdefault(group, {})[shapes] = (mean, min(row["least"] for row in members))
    return result


# ---- Tables ----

def text_of(value):
    """Three digits, more only in front of the point."""
    if value is None:
        return ""
    return f"{value:,.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def sources(rows):
    """The runs and dates that the figures of a table are from."""
    runs = sorted({int(row["run"]) for row in rows})
    dates = sorted({row["at"]["date"] for row in rows})
    span = dates[0] if len(dates) == 1 else f"until {dates[-1]}"
    ranges = []
    for run in runs:
        if ranges and run == ranges[-1][1] + 1:
            ranges[-1][1] = run
        else:
            ranges.append([run, run])
    numbers = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
    return f"Run{'s' if len(runs) > 1 else ''} {numbers}, {span}."


def ordered(values):
    return list(dict.fromkeys(values))


def table(corner, cells, used, columns=None):
    """A table of {(row, column): text}, in the order of first appearance, made of the rows `used` of the data."""
    columns = columns or ordered(column for _, column in cells)
    lines = [[corner, *columns]]
    for title in ordered(row for row, _ in cells):
        lines.append([title] + [cells.get((title, column), "") for column in columns])
    lines = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([lines[0], "|---|" + "---:|" * len(columns), *lines[1:]]) + "\n\n" + sources(used)


def first_result_table(data):
    rows = newest(data["cold"], lambda row: (row["at"]["machine"], row["path"]))
    rows.sort(key=lambda row: list(PATHS).index(row["path"]))
    machines = ordered(row["at"]["machine"] for row in data["cold"])  # newer runs change no column
    cells = {}
    for row in rows:
        title, machine = ", ".join(PATHS[row["path"]]), row["at"]["machine"]
        least, most = text_of(row["first_result_ms_min"]), text_of(row["first_result_ms_max"])
        cells[title, machine] = text_of(row["first_result_ms"]) + (f" ({least}-{most})" if least else "")
        if machine == machines[0]:
            cells[title, f"later calls, {machine}"] = text_of(row["steady_ms"])
    return table("first result, ms", cells, rows, machines + [f"later calls, {machines[0]}"])


def speed_table(data):
    result = ratios_by_shapes(data)
    machines = ordered(machine for machine, _, _ in result)
    cells = {}
    for key in sorted(result, key=lambda key: (machines.index(key[0]), list(PEERS).index(key[1]))):
        machine, peer, precision = key
        if not precision.startswith("complex"):  # these are in the table of what is slower
            for shapes, (mean, least) in result[key].items():
                cells[f"{machine}, {precision}, {PEERS[peer]}", shapes] = f"{text_of(mean)}/{text_of(least)}"
    rows = [row for row in data["classes"] + data["gemm"] if row["peer"] and not row.get("activation")]
    return table("mean/least ratio", cells, rows, SHAPES)


def slower_table(data):
    cells = {}
    for row in sorted(data["slower"], key=lambda row: row["ratio"]):
        title = f"{row['at']['machine']}, {row['precision']}: {row['products']}"
        cells.update({(title, "peer"): PEERS[row["peer"]], (title, "ratio"): text_of(row["ratio"]),
                      (title, "why"): row["why"]})
    return table("products", cells, data["slower"])


def epilogue_table(data):
    rows = newest([row for row in data["gemm"] if row["activation"]],
                  lambda row: (row["at"]["machine"], row["m"], row["activation"]))
    cells = {(row["activation"], f"{row['at']['machine']}, {row['m']:.0f}"): text_of(row["ratio"]) for row in rows}
    return table("activation", cells, rows)


def figures_table(data, name):
    rows = newest([row for row in data["figures"] if row["table"] == name], lambda row: (row["row"], row["column"]))
    cells = {(row["row"], row["column"]): f"{row['value']:,.12g}" for row in rows}  # as in the data
    return table(HEADS.get(name, ""), cells, rows)


# ---- The picture: dots on a logarithmic axis. Lengths in user units ----

WIDTH, TOP, BELOW, LEFT, RIGHT, ROW = 760, 84, 62, 190, 670, 42

STYLE = """<style>
  text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", Arial, sans-serif; fill: #1f2328; }
  .title { font-size: 20px; font-weight: 600; }
  .name, .value { font-size: 15px; }
  .small { font-size: 12.5px; fill: #59636e; }
  .middle { text-anchor: middle; }
  .page { fill: #ffffff; stroke: #d1d9e0; }
  .grid { stroke: #d1d9e0; }
  .band { stroke-width: 8; stroke-linecap: round; stroke-opacity: 0.35; }
  .a { fill: #0969da; stroke: #0969da; }
  .other { fill: #6e7781; stroke: #6e7781; }
  .value { paint-order: stroke; stroke: #ffffff; stroke-width: 6px; }
  .bold { font-weight: 700; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .value { stroke: #0d1117; }
    .page { fill: #0d1117; stroke: #3d444d; }
    .grid { stroke: #30363d; }
    .a { fill: #4493f8; stroke: #4493f8; }
    .other { fill: #8b949e; stroke: #8b949e; }
  }
</style>
"""


def label(x, y, classes, text):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}">{escape(text)}</text>\n'


def line(x1, y1, x2, y2, classes):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{classes}"/>\n'


def duration(ms):
    if ms < 999.5:
        return f"{ms:.{1 if ms < 9.95 else 0}f} ms"
    return f"{ms / 1000:.1f} s"


def first_result_picture(data):
    machine = data["cold"][0]["at"]["machine"]
    rows = newest([row for row in data["cold"] if row["at"]["machine"] == machine], lambda row: row["path"])
    rows.sort(key=lambda row: row["first_result_ms"])
    bottom = TOP + ROW * len(rows)
    least = math.floor(math.log10(min(row["first_result_ms_min"] for row in rows)))
    most = math.ceil(math.log10(max(row["first_result_ms_max"] for row in rows)))
    x_of = lambda ms: LEFT + (math.log10(ms) - least) / (most - least) * (RIGHT - LEFT)
    body = described = ""
    for power in range(least, most + 1):
        x = x_of(10.0 ** power)
        body += line(x, TOP - 6, x, bottom, "grid")
        body += label(x, bottom + 18, "small middle", f"{10 ** power} ms" if power < 3 else f"{10 ** (power - 3)} s")
    for i, row in enumerate(rows):
        name, detail = PATHS[row["path"]]
        y, x = TOP + ROW * (i + 0.5), x_of(row["first_result_ms"])
        ours = row["path"] == "bundle"
        body += label(20, y - 2, "name", name) + label(20, y + 14, "small", detail)
        fastest, slowest = x_of(row["first_result_ms_min"]), x_of(row["first_result_ms_max"])
        body += line(fastest, y, slowest, y, "band a" if ours else "band other")
        body += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" class="{"a" if ours else "other"}"/>\n'
        body += label(max(x + 7, slowest) + 10, y + 5, "value bold" if ours else "value",
                      duration(row["first_result_ms"]))
        described += f" {name} ({detail}): {duration(row['first_result_ms'])}."
    size, height = f"{rows[0]['m']:.0f}", bottom + BELOW
    title = "Time to the first correct matrix product"
    subtitle = f"{size} x {size} x {size} in single precision on {rows[0]['at']['device']}, {rows[0]['at']['driver']}"
    foot = (f"Median of {rows[0]['trials']:.0f} new processes, from an existing OpenCL context; band: fastest to "
            "slowest; logarithmic scale")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title text" width="{WIDTH}" '
            f'height="{height:.0f}" viewBox="0 0 {WIDTH} {height:.0f}">\n<title id="title">{escape(title)}</title>\n'
            f'<desc id="text">{escape(subtitle + "." + described)}</desc>\n{STYLE}'
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1:.0f}" rx="8" class="page"/>\n'
            + label(20, 34, "title", title) + label(20, 56, "small", subtitle) + body
            + label(20, bottom + 46, "small", foot) + "</svg>\n")


# ---- The page ----

def filled(page, tables):
    """The page with its tables between their marks."""
    for name, text in tables.items():
        begin, end = f"<!--{name}-->\n", "<!--end-->"
        if page.count(begin) != 1:
            raise DataError(f"BENCHMARKS.md: '{begin.strip()}' must stand in it once")
        head, rest = page.split(begin)
        page = head + begin + "\n" + text + "\n\n" + rest[rest.index(end):]
    return page


def drawn(tools):
    """{path: text} of the page and the picture, from the folder `tools`."""
    data = read_data(tools / "report/data")
    tables = {"first-result": first_result_table(data), "speed": speed_table(data), "slower": slower_table(data),
              "epilogue": epilogue_table(data)}
    for name in ordered(row["table"] for row in data["figures"]):
        tables[name] = figures_table(data, name)
    page = tools / "BENCHMARKS.md"
    return {page: filled(page.read_text(encoding="utf-8"), tables),
            tools / "report/first-result.svg": first_result_picture(data)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file differs from the data")
    parser.add_argument("--add", type=Path, metavar="FILE", help="first append this measurement to the data")
    for name in ("machine", "commit", "command"):
        parser.add_argument("--" + name, default="", help="of the measurement, as runs.csv has it")
    for name in ("device", "driver"):
        parser.add_argument("--" + name, help="the same, of a file that does not tell")
    parser.add_argument("tools", nargs="?", type=Path, default=Path(__file__).resolve().parents[1],
                        help="the folder of BENCHMARKS.md; default: this script's")
    arguments = parser.parse_args()
    try:
        if arguments.add:
            run = {name: getattr(arguments, name) for name in ("machine", "commit", "command", "device", "driver")}
            add(arguments.tools / "report/data", arguments.add, {k: v for k, v in run.items() if v is not None})
        files = drawn(arguments.tools)
    except (DataError, OSError) as error:
        return f"benchmarks.py: {error}"
    differing = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if arguments.check and differing:
        return "benchmarks.py: differs from the data; run it without --check: " + ", ".join(map(str, differing))
    for path in differing:
        path.write_text(files[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

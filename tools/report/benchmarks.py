#!/usr/bin/env python3
"""Draws the tables and pictures of tools/BENCHMARKS.md from the measurements in tools/report/data.

    python3 tools/report/benchmarks.py            # writes the page's tables and the pictures
    python3 tools/report/benchmarks.py --check    # writes nothing; fails where one differs from the data

`clbake bench gemm` and `bench cold` append to the data with `--csv tools/report/data`. The tables stand in the page
between `<!--NAME-->` and `<!--end-->`. Each line of the data begins with the number of its run in runs.csv.
"""
import argparse
import csv
import math
import sys
from html import escape
from pathlib import Path

COLUMNS = {
    "runs": ["run", "date", "machine", "device", "driver", "commit", "command"],
    "cold": ["run", "size", "path", "load_ms", "first_launch_ms", "first_result_ms", "min_ms", "max_ms", "trials",
             "steady_ms"],
    "gemm": ["run", "precision", "trans", "m", "n", "k", "batch", "activation", "gflops", "peer", "peer_gflops",
             "ratio"],
    # Earlier runs of which only the geometric mean and the least ratio of a list of products were kept.
    "classes": ["run", "precision", "trans", "shapes", "count", "peer", "mean", "least"],
    "slower": ["run", "precision", "peer", "products", "ratio", "why"],
    "figures": ["run", "table", "row", "column", "value"],
}
NUMBERS = {"size", "load_ms", "first_launch_ms", "first_result_ms", "min_ms", "max_ms", "trials", "steady_ms", "m", "n",
           "k", "batch", "gflops", "peer_gflops", "ratio", "count", "mean", "least", "value"}

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
PEERS = {"openblas": "OpenBLAS", "clblast": "CLBlast", "cublas": "cuBLAS", "cublaslt": "cuBLASLt",
         "separate": "a kernel of its own"}
SHAPES = {
    "small squares": "16 to 384",
    "squares": "512 to 8192",
    "unaligned squares": "rows not, or not well, aligned",
    "few rows or columns": "1 to 32",
    "small C, long k": "64 to 256, k from 8192",
    "batches": "64 to 4096 small products",
    "other shapes": "random ones",
}


# The first column of a table of figures.csv.
HEADS = {"application": "driver", "size": "bundle", "open": "entries", "read": "program"}


class DataError(Exception):
    """What is wrong with the data or the page, and where."""


# ---- Data ----

def read_table(folder, name):
    path = folder / (name + ".csv")
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    if not lines or lines[0] != COLUMNS[name]:
        raise DataError(f"{path}: the first line is not {','.join(COLUMNS[name])}")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(COLUMNS[name]):
            raise DataError(f"{path}: line {number}: {len(line)} fields, not {len(COLUMNS[name])}")
        row = dict(zip(COLUMNS[name], line))
        for column in NUMBERS & row.keys():
            try:
                row[column] = float(row[column]) if row[column] else None
            except ValueError:
                raise DataError(f"{path}: line {number}: {column}: '{row[column]}' is not a number") from None
        rows.append((number, row))
    return path, rows


def read_data(folder):
    """Lists of rows by the name of their file; `row["at"]` is the row's run."""
    _, lines = read_table(folder, "runs")
    data = {"runs": [row for _, row in lines]}
    runs = {row["run"]: row for row in data["runs"]}
    for name in COLUMNS.keys() - {"runs"}:
        path, lines = read_table(folder, name)
        for number, row in lines:
            if row["run"] not in runs:
                raise DataError(f"{path}: line {number}: run {row['run']} is not in runs.csv")
            row["at"] = runs[row["run"]]
        data[name] = [row for _, row in lines]
    return data


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
    """Of rows with the same key only those of the newest run."""
    last = {}
    for row in rows:
        run = (row["at"]["date"], int(row["run"]))
        last[key(row)] = max(last.get(key(row), run), run)
    return [row for row in rows if (row["at"]["date"], int(row["run"])) == last[key(row)]]


def ratios_by_shapes(data):
    """{(machine, peer, precision): {shapes: (geometric mean or None, least)}}, of all transposes together."""
    rows = list(data["classes"])
    for row in data["gemm"]:
        if row["peer"] and not row["activation"]:
            rows.append({**row, "shapes": shapes_of(row), "count": 1, "mean": row["ratio"], "least": row["ratio"]})
    kind = lambda row: (row["at"]["machine"], row["peer"], row["precision"])
    groups = {}
    for row in newest(rows, lambda row: (kind(row), row["shapes"], row["trans"])):
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


def figure(value):
    """As it stands in the data."""
    return f"{value:,.12g}"


def table(head, rows):
    lines = ["| " + " | ".join(line) + " |" for line in [head, *rows]]
    return "\n".join([lines[0], "|---|" + "---:|" * (len(head) - 1), *lines[1:]])


def sources(rows):
    """Where the figures of a table are from."""
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


def first_result_table(data):
    rows = newest(data["cold"], lambda row: (row["at"]["machine"], row["path"]))
    machines = ordered(row["at"]["machine"] for row in rows)
    cells = {(row["path"], row["at"]["machine"]): row for row in rows}
    lines = []
    for path, (name, detail) in PATHS.items():
        line = [f"{name}, {detail}"]
        for machine in machines:
            row = cells.get((path, machine))
            spread = f" ({text_of(row['min_ms'])}-{text_of(row['max_ms'])})" if row and row["min_ms"] else ""
            line.append(text_of(row["first_result_ms"]) + spread if row else "")
        line.append(text_of(cells[path, machines[0]]["steady_ms"]) if (path, machines[0]) in cells else "")
        lines.append(line)
    head = ["first result, ms"] + machines + [f"later calls, {machines[0]}"]
    return table(head, lines) + "\n\n" + sources(rows)


def speed_table(data):
    result = ratios_by_shapes(data)
    lines = []
    for machine, peer, precision in sorted(result, key=lambda key: (ordered(k[0] for k in result).index(key[0]),
                                                                    list(PEERS).index(key[1]))):
        if precision.startswith("complex"):  # in the table of what is slower
            continue
        line = [f"{machine}, {precision}, {PEERS[peer]}"]
        for shapes in SHAPES:
            mean, least = result[machine, peer, precision].get(shapes, (None, None))
            line.append("" if least is None else f"{text_of(mean)}/{text_of(least)}")
        lines.append(line)
    rows = [row for row in data["classes"] + data["gemm"] if row["peer"] and not row.get("activation")]
    return table(["mean/least ratio"] + list(SHAPES), lines) + "\n\n" + sources(rows)


def slower_table(data):
    lines = [[f"{row['at']['machine']}, {row['precision']}: {row['products']}", PEERS[row["peer"]],
              text_of(row["ratio"]), row["why"]] for row in sorted(data["slower"], key=lambda row: row["ratio"])]
    return table(["products", "peer", "ratio", "why"], lines) + "\n\n" + sources(data["slower"])


def epilogue_table(data):
    rows = newest([row for row in data["gemm"] if row["activation"]],
                  lambda row: (row["at"]["machine"], row["m"], row["activation"]))
    columns = ordered((row["at"]["machine"], row["m"]) for row in rows)
    cells = {(row["activation"], (row["at"]["machine"], row["m"])): row["ratio"] for row in rows}
    lines = [[activation] + [text_of(cells.get((activation, column))) for column in columns]
             for activation in ordered(row["activation"] for row in rows)]
    return table(["activation"] + [f"{machine}, {m:.0f}" for machine, m in columns], lines) + "\n\n" + sources(rows)


def figures_table(data, name):
    rows = [row for row in data["figures"] if row["table"] == name]
    columns = ordered(row["column"] for row in rows)
    cells = {(row["row"], row["column"]): row["value"] for row in rows}
    lines = [[title] + [figure(cells[title, column]) if (title, column) in cells else "" for column in columns]
             for title in ordered(row["row"] for row in rows)]
    return table([HEADS.get(name, "")] + columns, lines) + "\n\n" + sources(rows)


# ---- Pictures: dots on logarithmic axes. Lengths in user units, of which a picture is 760 wide ----

WIDTH, TOP, BELOW = 760, 84, 62

STYLE = """<style>
  text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", Arial, sans-serif; fill: #1f2328; }
  .title { font-size: 20px; font-weight: 600; }
  .name, .value { font-size: 15px; }
  .small { font-size: 12.5px; fill: #59636e; }
  .middle { text-anchor: middle; }
  .page { fill: #ffffff; stroke: #d1d9e0; }
  .grid { stroke: #d1d9e0; }
  .one { stroke: #59636e; stroke-width: 1.5; }
  .band { stroke-width: 8; stroke-linecap: round; stroke-opacity: 0.35; }
  .a { fill: #0969da; stroke: #0969da; }
  .b { fill: #bc4c00; stroke: #bc4c00; }
  .c { fill: #1a7f37; stroke: #1a7f37; }
  .other { fill: #6e7781; stroke: #6e7781; }
  .value { paint-order: stroke; stroke: #ffffff; stroke-width: 6px; }
  .bold { font-weight: 700; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .value { stroke: #0d1117; }
    .page { fill: #0d1117; stroke: #3d444d; }
    .grid { stroke: #30363d; }
    .one { stroke: #9198a1; }
    .a { fill: #4493f8; stroke: #4493f8; }
    .b { fill: #f0883e; stroke: #f0883e; }
    .c { fill: #3fb950; stroke: #3fb950; }
    .other { fill: #8b949e; stroke: #8b949e; }
  }
</style>
"""


def label(x, y, classes, text):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}">{escape(text)}</text>\n'


def line(x1, y1, x2, y2, classes):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{classes}"/>\n'


class Axis:
    """Logarithmic, from the user unit `left` to `right`."""

    def __init__(self, left, right, least, most):
        self.left, self.right, self.least, self.most = left, right, least, most

    def x(self, value):
        return self.left + math.log(value / self.least) / math.log(self.most / self.least) * (self.right - self.left)

    def draw(self, ticks, bottom):
        """`ticks`: {value: its label}."""
        svg = ""
        for value, text in ticks.items():
            svg += line(self.x(value), TOP - 6, self.x(value), bottom, "grid")
            svg += label(self.x(value), bottom + 18, "small middle", text)
        return svg

    def mark(self, y, low, value, high, classes, radius=7):
        """A band from low to high, and a dot at the value."""
        svg = line(self.x(low), y, self.x(high), y, f"band {classes}") if low < high else ""
        return svg + f'<circle cx="{self.x(value):.1f}" cy="{y:.1f}" r="{radius}" class="{classes}"/>\n'


def row_names(names, height):
    """`names`: pairs of a row's name and its detail."""
    svg = ""
    for i, (name, detail) in enumerate(names):
        middle = TOP + height * (i + 0.5)
        svg += label(20, middle - 2 if detail else middle + 5, "name", name)
        svg += label(20, middle + 14, "small", detail) if detail else ""
    return svg


def picture(title, subtitle, described, bottom, body, foot):
    height = bottom + BELOW
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title text" width="{WIDTH}" '
            f'height="{height:.0f}" viewBox="0 0 {WIDTH} {height:.0f}">\n<title id="title">{escape(title)}</title>\n'
            f'<desc id="text">{escape(described)}</desc>\n{STYLE}'
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1:.0f}" rx="8" class="page"/>\n'
            + label(20, 34, "title", title) + label(20, 56, "small", subtitle) + body
            + label(20, bottom + 46, "small", foot) + "</svg>\n")


def duration(ms):
    if ms < 999.5:
        return f"{ms:.{1 if ms < 9.95 else 0}f} ms"
    return f"{ms / 1000:.1f} s"


def first_result_picture(data):
    machine = data["cold"][0]["at"]["machine"]
    rows = newest([row for row in data["cold"] if row["at"]["machine"] == machine], lambda row: row["path"])
    rows.sort(key=lambda row: row["first_result_ms"])
    names = [PATHS.get(row["path"], (row["path"], "")) for row in rows]
    height = 42
    bottom = TOP + height * len(rows)
    least = 10 ** math.floor(math.log10(min(row["min_ms"] for row in rows)))
    most = 10 ** math.ceil(math.log10(max(row["max_ms"] for row in rows)))
    axis = Axis(190, 670, least, most)
    ticks = {10.0 ** e: f"{10 ** e} ms" if e < 3 else f"{10 ** (e - 3)} s"
             for e in range(round(math.log10(least)), round(math.log10(most)) + 1)}
    body = axis.draw(ticks, bottom) + row_names(names, height)
    described = ""
    for i, row in enumerate(rows):
        y = TOP + height * (i + 0.5)
        ours = row["path"] == "bundle"
        body += axis.mark(y, row["min_ms"], row["first_result_ms"], row["max_ms"], "a" if ours else "other")
        x = max(axis.x(row["first_result_ms"]) + 7, axis.x(row["max_ms"])) + 10
        body += label(x, y + 5, "value bold" if ours else "value", duration(row["first_result_ms"]))
        described += f" {names[i][0]} ({names[i][1]}): {duration(row['first_result_ms'])}."
    size = f"{rows[0]['size']:.0f}"
    subtitle = f"{size} x {size} x {size} in single precision on {rows[0]['at']['device']}, {rows[0]['at']['driver']}"
    foot = (f"Median of {rows[0]['trials']:.0f} new processes, from an existing OpenCL context; band: fastest to "
            "slowest; logarithmic scale")
    return picture("Time to the first correct matrix product", subtitle, subtitle + "." + described, bottom, body, foot)


def speed_picture(data):
    result = ratios_by_shapes(data)
    panels = [("H100", "cublas"), ("H100", "cublaslt"), ("CPU", "openblas")]
    precisions = {"half": "b", "single": "a", "double": "c"}
    height, left, width, gap = 48, 230, 150, 30
    bottom = TOP + height * len(SHAPES)
    body, described = row_names(SHAPES.items(), height), ""
    for i, (precision, color) in enumerate(precisions.items()):
        body += f'<circle cx="{540 + 70 * i}" cy="29" r="5" class="{color}"/>\n'
        body += label(550 + 70 * i, 34, "small", precision)
    for p, (machine, peer) in enumerate(panels):
        axis = Axis(left + p * (width + gap), left + p * (width + gap) + width, 0.65, 1.6)
        title = f"{machine}, {PEERS[peer]}"
        body += label(axis.left, TOP - 12, "small", title) + axis.draw({0.7: "0.7", 1: "1", 1.4: "1.4"}, bottom)
        body += line(axis.x(1), TOP - 6, axis.x(1), bottom, "one")
        for s, shapes in enumerate(SHAPES):
            for i, (precision, color) in enumerate(precisions.items()):
                mean, least = result.get((machine, peer, precision), {}).get(shapes, (None, None))
                if least is None:
                    continue
                y = TOP + height * s + 12 * (i + 1)
                body += axis.mark(y, least, mean or least, mean or least, color, 5 if mean else 3)
                described += f" {title}, {precision}, {shapes}: {text_of(mean)}/{text_of(least)}."
    subtitle = "clbake's speed divided by the peer's; right of 1 clbake is faster"
    foot = "Dot: geometric mean; band: down to the slowest product; small dot: only the slowest is known; logarithmic scale"
    return picture("Speed beside other libraries", subtitle, subtitle + "." + described, bottom, body, foot)


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
    """{path: text} of the page and the pictures, from the folder `tools`."""
    data = read_data(tools / "report/data")
    tables = {"first-result": first_result_table(data), "speed": speed_table(data), "slower": slower_table(data),
              "epilogue": epilogue_table(data)}
    for name in ordered(row["table"] for row in data["figures"]):
        tables[name] = figures_table(data, name)
    page = tools / "BENCHMARKS.md"
    return {page: filled(page.read_text(encoding="utf-8"), tables),
            tools / "report/first-result.svg": first_result_picture(data),
            tools / "report/speed.svg": speed_picture(data)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file differs from the data")
    parser.add_argument("tools", nargs="?", type=Path, default=Path(__file__).resolve().parents[1],
                        help="the folder of BENCHMARKS.md; default: this script's")
    arguments = parser.parse_args()
    try:
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

(() => {
  const {data, h, s, none, number, whole, ratio, percent, many, time} = page;
  const head = data.head;
  const state = {kind: null, time: "", map: "gflops", sort: {by: "class", up: true}};

  // ---- elements, numbers, colours -------------------------------------------------------------------------------

  const part = (section, rest) => document.querySelector("#" + section + " " + rest);

  const lead = value => value === 1 ? "tie" : ratio(value);  // less than the noise

  // Three digits, for the cells of the map.
  function brief(value) {
    const thousands = value >= 9995;
    const v = thousands ? value / 1000 : value;
    const digits = v < 0.995 ? 2 : v < 9.95 || (thousands && v < 99.5) ? 1 : 0;
    return v.toFixed(digits) + (thousands ? "k" : "");
  }
  function duration(seconds) {
    if (seconds === null) return "-";
    if (seconds < 60) return number(seconds) + " s";
    const all = Math.round(seconds);
    const parts = [[Math.floor(all / 3600), "h"], [Math.floor(all / 60) % 60, "min"], [all % 60, "s"]];
    return parts.filter(([count]) => count > 0).map(([count, unit]) => count + " " + unit).join(" ");
  }

  const viridis = [[68, 1, 84], [71, 45, 123], [59, 82, 139], [44, 114, 142], [33, 145, 140], [40, 174, 128],
                   [94, 201, 98], [173, 220, 48], [253, 231, 37]];
  function heat(part) {
    const place = Math.min(Math.max(part, 0), 1) * (viridis.length - 1);
    const low = Math.min(Math.floor(place), viridis.length - 2);
    return viridis[low].map((c, i) => Math.round(c + (viridis[low + 1][i] - c) * (place - low)));
  }
  const rgb = c => "rgb(" + c.join(",") + ")";
  function textOn(c) {
    const linear = c.map(v => v <= 10 ? v / 3295 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.18 ? "#000" : "#fff";
  }
  // Okabe and Ito's colours, which colour-blind people can also tell apart.
  const hues = [[0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0],
                [240, 228, 66]];
  const grey = [150, 155, 160];
  const familyHues = [hues[1], hues[0], hues[2], hues[3], grey];

  // ---- tooltips -------------------------------------------------------------------------------------------------

  const tip = document.getElementById("tip");
  let lit = null;
  function hideTip() {
    tip.hidden = true;
    if (lit) lit.classList.remove("lit");
    lit = null;
  }
  function showTip(mark) {
    hideTip();
    lit = mark.element;
    lit.classList.add("lit");
    const [title, ...rows] = mark.tell();
    tip.replaceChildren(h("b", {}, title),
                        ...rows.map(([name, value]) => h("div", {}, h("span", {}, name), h("span", {}, value))));
    tip.hidden = false;
    placeTip();
  }
  function placeTip() {
    if (!lit) return;
    const box = lit.getBoundingClientRect();
    const below = box.top - tip.offsetHeight - 8 < 0;
    const left = box.left + box.width / 2 - tip.offsetWidth / 2;
    const rightmost = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = Math.max(Math.min(left, rightmost), 8) + "px";
    tip.style.top = (below ? box.bottom + 8 : box.top - tip.offsetHeight - 8) + "px";
  }
  const middle = mark => {
    const box = mark.element.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };

  // Gives the marks {element, tell() -> [title, [name, value]...]} of a drawing tooltips, for pointer, touch and, while
  // the drawing has the focus, the arrow keys. `reach`: how many pixels beside a mark still count as on it.
  function tellable(drawn, marks, reach) {
    if (!marks.length) return drawn;
    let current = null;
    const at = (x, y) => {
      let best = null, least = reach;
      for (const mark of marks) {
        const box = mark.element.getBoundingClientRect();
        const d = Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
        if (d <= least) [best, least] = [mark, d];
      }
      return best;
    };
    const point = event => {
      const mark = at(event.clientX, event.clientY);
      if (mark) showTip(current = mark); else hideTip();
    };
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    function move([dx, dy]) {
      const [x, y] = middle(current);
      let best = null, least = Infinity;
      for (const mark of marks) {
        const [mx, my] = middle(mark);
        const along = (mx - x) * dx + (my - y) * dy;
        const off = Math.abs((mx - x) * dy) + Math.abs((my - y) * dx);
        if (mark === current || along < 0.5 || along + 3 * off >= least) continue;
        [best, least] = [mark, along + 3 * off];
      }
      if (!best) return;
      best.element.scrollIntoView({block: "nearest", inline: "nearest"});
      showTip(current = best);
    }
    drawn.setAttribute("tabindex", "0");
    drawn.addEventListener("pointermove", point);
    drawn.addEventListener("pointerdown", point);
    drawn.addEventListener("pointerleave", event => event.pointerType === "mouse" && hideTip());
    drawn.addEventListener("focus", () => drawn.matches(":focus-visible") && showTip(current = current || marks[0]));
    drawn.addEventListener("blur", hideTip);
    drawn.addEventListener("keydown", event => {
      if (!steps[event.key]) return;
      event.preventDefault();
      if (current) move(steps[event.key]); else showTip(current = marks[0]);
    });
    return drawn;
  }

  // ---- axes -----------------------------------------------------------------------------------------------------

  function ticks(bottom, top, count) {
    const raw = (top - bottom) / count;
    const base = 10 ** Math.floor(Math.log10(raw));
    const step = base * [1, 2, 2.5, 5, 10].find(f => f * base >= raw * 0.999);
    const list = [];
    for (let i = Math.ceil(bottom / step - 1e-4); i * step <= top * 1.0001; ++i) list.push(i * step + 0);  // + 0: no -0
    return list;
  }
  const tickText = value => value.toLocaleString("en-US", {maximumSignificantDigits: 4});
  const drawing = (width, height, label) =>
      s("svg", {width, height, viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": label});
  const label = (x, y, anchor, text, kind) => s("text", {x, y, "text-anchor": anchor, class: kind}, text);
  const line = (x1, y1, x2, y2, kind) => s("line", {x1, y1, x2, y2, class: kind});

  // How wide each of the figures of a section can be, as its grid lays them out.
  function widthIn(box, count) {
    const columns = Math.max(1, Math.min(count, Math.floor((box.clientWidth + 26) / (430 + 26))));
    return Math.floor((box.clientWidth - 26 * (columns - 1)) / columns);
  }

  // ---- sections -------------------------------------------------------------------------------------------------

  const variant = index => data.variants[index];
  const letter = i => (i >= 26 ? letter(Math.floor(i / 26) - 1) : "") + String.fromCharCode(65 + i % 26);
  // Of a winner of this kind: most shapes served, first letter. The first seven have a colour of their own.
  const rank = (kind, index) => kind.losses.rows.findIndex(row => row.variant === index);
  const hue = place => place >= 0 && place < hues.length ? hues[place] : grey;
  function chip(kind, index) {
    const place = rank(kind, index);
    return h("span", {class: "chip", style: "background:" + rgb(hue(place)) + ";color:" + textOn(hue(place))},
             place < 0 ? "?" : letter(place));
  }
  const kindName = kind => kind.precision + " " + kind.transposes;

  function drawHead() {
    document.title = "clbake: tuning of " + head.device;
    const share = head.shards > 1 ? ", shard " + head.shard + " of " + head.shards : "";
    const budget = head.budget_s > 0 ? " of a budget of " + duration(head.budget_s) : "";
    const units = head.compute_units ? many(head.compute_units, "compute unit", "compute units") : "";
    const platform = head.platform + (head.platform_version ? " (" + head.platform_version + ")" : "");
    const facts = list => h("div", {class: "facts"}, list.filter(Boolean).join(" \u00b7 "));
    const best = name => {
      const cells = data.kinds.filter(kind => kind.precision === name).flatMap(
          kind => kind.cells.map(cell => ({...cell, transposes: kind.transposes})));
      const top = cells.reduce((a, b) => a && a.gflops >= b.gflops ? a : b, null);
      return top && h("div", {class: "tile"}, h("b", {}, number(top.gflops)),
                      h("span", {}, "GFLOP/s, " + name + " " + top.transposes + ", " + sizes(top)));
    };
    const tile = (figure, words) => h("div", {class: "tile"}, h("b", {}, figure), h("span", {}, words));
    document.getElementById("head").replaceChildren(
        h("h1", {}, "Tuning of " + head.device + " ",
          h("span", {class: "badge " + (head.complete ? "good" : "warn")}, head.complete ? "complete" : "interrupted")),
        facts([head.vendor, head.architecture, units, platform, head.driver && "driver " + head.driver]),
        facts([head.date.replace("T", " ").replace("Z", " UTC"), head.tool,
               head.strategy && "strategy " + head.strategy, "seed " + head.seed + share]),
        h("code", {class: "command", hidden: !head.command}, head.command),
        h("div", {class: "tiles"},
          tile(duration(head.elapsed_s), "spent" + budget),
          tile(whole(head.tried), "variants tried, " + whole(head.failed) + " failed"),
          tile(whole(head.measurements), "measurements, " + many(head.shapes, "shape", "shapes")),
          tile(head.noise > 0 ? (100 * head.noise).toFixed(1) + " %" : "-", "noise: the same variant against itself"),
          tile(whole(head.chosen), "variants chosen, by " + many(head.models, "cost model", "cost models")),
          ["half", "bfloat16", "single", "double"].map(best)));
  }
  const sizes = cell => cell.m + " x " + cell.n + " x " + cell.k + (cell.batch > 1 ? ", batch " + cell.batch : "");

  // The span of time that the curves show: the whole search, or only until this kind of problem stopped improving.
  function timeRange(kind) {
    const seconds = kind.curves.flatMap(curve => curve.points.map(p => p[0]));
    const end = Math.max(head.elapsed_s || 0, ...seconds, 1e-9);
    const [first, last] = [Math.min(...seconds), Math.max(...seconds)];
    const part = [Math.max(0, first - 0.06 * (last - first)), Math.min(end, last + 0.3 * (last - first))];
    const short = last > first && part[1] - part[0] < 0.4 * end;
    return short && state.time !== "whole" ? {from: part[0], to: part[1], short} : {from: 0, to: end, short};
  }

  // A step line of GFLOP/s over time.
  function curveFigure(curve, range, width) {
    const height = 256, left = 56, right = 14, top = 22, bottom = 42;
    const {from, to} = range;
    const short = to < 180 || (to < 3600 && to - from < 180);
    const [unit, per] = short ? ["seconds", 1] : to < 10800 ? ["minutes", 60] : ["hours", 3600];
    const peak = Math.max(...curve.points.map(p => p[3]), curve.winner || 0) * 1.06;
    const x = seconds => left + (width - left - right) * (seconds - from) / (to - from);
    const y = gflops => height - bottom - (height - top - bottom) * gflops / peak;
    const svg = drawing(width, height, "Best GFLOP/s so far on " + curve.shape + " over time");
    for (const t of ticks(0, peak, 5)) {
      svg.append(line(left, y(t), width - right, y(t), t ? "grid" : "axis"),
                 label(left - 7, y(t) + 4, "end", tickText(t)));
    }
    for (const t of ticks(from / per, to / per, width > 420 ? 7 : 4)) {
      svg.append(line(x(t * per), height - bottom, x(t * per), height - bottom + 4, "axis"),
                 label(x(t * per), height - bottom + 17, "middle", tickText(t)));
    }
    svg.append(label(left + (width - left - right) / 2, height - 6, "middle", unit), label(2, 10, "start", "GFLOP/s"));
    if (curve.winner) svg.append(line(left, y(curve.winner), width - right, y(curve.winner), "goal"));
    let path = "";
    for (const p of curve.points) path += path ? "H" + x(p[0]) + "V" + y(p[3]) : "M" + x(p[0]) + " " + y(p[3]);
    svg.append(s("path", {d: path + "H" + x(to), class: "step"}));
    const marks = curve.points.map(p => ({
      element: s("circle", {cx: x(p[0]), cy: y(p[3]), r: 4, class: "dot"}),
      tell: () => [variant(p[2]), ["speed", number(p[3]) + " GFLOP/s"], ["after", duration(p[0])],
                   ["variants tried", whole(p[1])]],
    }));
    svg.append(...marks.map(mark => mark.element));
    const last = curve.points[curve.points.length - 1];
    return h("figure", {},
             h("figcaption", {}, curve.shape + " ", h("small", {}, "best found " + number(last[3]) +
               (curve.winner ? ", winner measured again " + number(curve.winner) : "") + " GFLOP/s")),
             tellable(svg, marks, 24));
  }

  function drawCurves(kind) {
    const box = part("curves", ".figures");
    const width = widthIn(box, kind.curves.length), range = timeRange(kind);
    part("curves", ".choice").replaceChildren(...(range.short ? [radios("time", "Time shown",
        [{value: "", text: "while this kind improved"}, {value: "whole", text: "whole search"}], state.time, value => {
          state.time = value;
          drawCurves(kind);
          part("curves", "input:checked").focus();
        })] : []));
    box.replaceChildren(...kind.curves.map(curve => curveFigure(curve, range, width)));
    if (!kind.curves.length) box.append(none("The profile has no history of the search for this kind of problem."));
  }

  // An axis of the map: the values themselves or, when there are too many, ranges between powers of two.
  function axis(values) {
    const all = [...new Set(values)].sort((a, b) => a - b);
    if (all.length <= 12) return {key: v => v, label: v => String(v)};
    return {key: v => 2 ** Math.floor(Math.log2(v)), label: v => v === 1 ? "1" : v + "\u2013" + (2 * v - 1)};
  }
  const groups = (list, key) => {
    const map = new Map();
    for (const item of list) map.set(key(item), [...(map.get(key(item)) || []), item]);
    return map;
  };

  // The grid of m and n for one k (and batch). A cell holds one shape, or several where the axes have ranges.
  function mapFigure(kind, title, cells, axes, scale, room) {
    const rows = [...groups(cells, c => axes.m.key(c.m)).keys()].sort((a, b) => a - b);
    const columns = [...groups(cells, c => axes.n.key(c.n)).keys()].sort((a, b) => a - b);
    const longest = Math.max(...rows.map(v => axes.m.label(v).length));
    const left = Math.max(12 + 7.5 * longest, 62), top = 20, rowHeight = 30;
    const wanted = Math.max(50, 7.5 * Math.max(...columns.map(v => axes.n.label(v).length)) + 8);
    const cellWidth = Math.max(20, Math.min(wanted, (room - left - 1) / columns.length));
    const width = left + cellWidth * columns.length + 1, height = top + rowHeight * rows.length + 1;
    const svg = drawing(width, height, "GFLOP/s of the winners for " + title);
    const slanted = cellWidth < wanted - 12 ? 2 : 1;  // then every second label has room
    columns.forEach((n, i) => {
      if (i % slanted === 0) svg.append(label(left + cellWidth * (i + 0.5), top - 6, "middle", axes.n.label(n)));
    });
    rows.forEach((m, i) => svg.append(label(left - 6, top + rowHeight * (i + 0.5) + 4, "end", axes.m.label(m))));
    svg.append(label(left - 6, top - 6, "end", "m \u2193 n \u2192"));
    const held = groups(cells, c => axes.m.key(c.m) + " " + axes.n.key(c.n));
    const marks = [];
    rows.forEach((m, row) => columns.forEach((n, column) => {
      const place = {x: left + cellWidth * column + 1, y: top + rowHeight * row + 1, width: cellWidth - 2,
                     height: rowHeight - 2, rx: 3};
      const here = held.get(m + " " + n);
      if (!here) return svg.append(s("rect", {...place, class: "empty"}));
      const mean = Math.exp(here.reduce((sum, c) => sum + Math.log(c.gflops), 0) / here.length);
      const favourite = here.reduce((a, b) => rank(kind, b.variant) < rank(kind, a.variant) ? b : a).variant;
      const winners = state.map === "winner";
      const color = winners ? hue(rank(kind, favourite)) : heat(scale.part(mean));
      const element = s("rect", {...place, fill: rgb(color)});
      const text = winners ? letter(rank(kind, favourite)) : brief(mean);
      svg.append(element);
      if (cellWidth >= 7.2 * text.length + 2) {
        svg.append(s("text", {x: place.x + place.width / 2, y: place.y + place.height / 2 + 4, "text-anchor": "middle",
                              style: "pointer-events:none;fill:" + textOn(color)}, text));
      }
      marks.push({element, tell: () => tellCell(kind, here)});
    }));
    return h("figure", {}, h("figcaption", {}, title), tellable(svg, marks, 1));
  }
  function tellCell(kind, here) {
    const c = here[0];
    if (here.length === 1) {
      return [sizes(c), ["speed", number(c.gflops) + " GFLOP/s"], ["median", time(c.median_us)],
              ["spread", percent(c.spread)], ["calls", whole(c.runs)], ["variants timed", whole(c.timed)],
              ["lead over the second", lead(c.lead)], ["class", c.class],
              ["winner " + letter(rank(kind, c.variant)), variant(c.variant)]];
    }
    const shown = here.slice(0, 8).map(
        c => [sizes(c), number(c.gflops) + " GFLOP/s, " + letter(rank(kind, c.variant))]);
    return [many(here.length, "shape", "shapes"), ...shown];
  }

  function drawMap(kind) {
    const box = part("map", ".figures"), legend = part("map", ".legend");
    legend.replaceChildren();
    if (!kind.cells.length) return box.replaceChildren(none("No shape of this kind has a winner yet."));
    const top = Math.max(...kind.cells.map(c => c.gflops));
    const scale = {top, part: v => Math.sqrt(v / top)};  // small problems are slow: the root tells them apart
    drawLegend(kind, legend, scale);
    const figures = [];
    for (const some of [kind.cells.filter(c => c.batch === 1), kind.cells.filter(c => c.batch > 1)]) {
      const axes = {m: axis(some.map(c => c.m)), n: axis(some.map(c => c.n)), k: axis(some.map(c => c.k))};
      const order = [...some].sort((a, b) => a.batch - b.batch || a.k - b.k);
      for (const cells of groups(order, c => c.batch + " " + axes.k.key(c.k)).values()) {
        const c = cells[0];
        const title = "k = " + axes.k.label(axes.k.key(c.k)) + (c.batch > 1 ? ", batch " + c.batch : "");
        figures.push(mapFigure(kind, title, cells, axes, scale, box.clientWidth));
      }
    }
    box.replaceChildren(...figures);
  }
  function drawLegend(kind, legend, scale) {
    if (state.map === "winner") {
      return legend.append(...kind.losses.rows.map(row => h("span", {}, chip(kind, row.variant), h("span", {},
          h("span", {class: "mono"}, variant(row.variant)), ", ",
          many(row.all ? row.all.served : 0, "shape", "shapes")))));
    }
    const width = Math.min(360, part("map", ".figures").clientWidth), svg = drawing(width, 34, "Colours of GFLOP/s");
    const inner = width - 75;
    for (let i = 0; i < 60; ++i) {
      const fill = rgb(heat((i + 0.5) / 60));
      svg.append(s("rect", {x: 8 + inner * i / 60, y: 0, width: inner / 60 + 0.6, height: 14, fill}));
    }
    for (const p of [0, 0.25, 0.5, 0.75, 1]) {
      svg.append(label(8 + inner * p, 29, "middle", p ? brief(p * p * scale.top) : "0"));
    }
    svg.append(label(8 + inner + 8, 12, "start", "GFLOP/s"));
    legend.append(svg);
  }

  // Rows of bars, one for each family, over a common axis of GFLOP/s.
  function spreadFigure(d, width) {
    const rows = d.rows.map((row, i) => ({...row, name: data.families[i], hue: familyHues[i]}))
                     .filter(row => row.count);
    const left = 10, right = 14, top = 26, rowHeight = 62, bottom = 40;
    const height = top + rowHeight * rows.length + bottom;
    const most = Math.max(...rows.flatMap(row => row.bins));
    const x = gflops => left + (width - left - right) * gflops / (1.02 * d.top);
    const svg = drawing(width, height, "Variants by GFLOP/s on " + d.shape);
    const marks = [];
    for (const t of ticks(0, d.top, width > 420 ? 7 : 4)) {
      svg.append(line(x(t), top, x(t), height - bottom, "grid"),
                 label(x(t), height - bottom + 16, "middle", tickText(t)));
    }
    rows.forEach((row, r) => {
      const base = top + rowHeight * (r + 1), size = d.top / row.bins.length;
      svg.append(line(left, base, width - right, base, "axis"));
      row.bins.forEach((count, i) => {
        if (!count) return;
        const tall = Math.max(2.5, Math.sqrt(count / most) * (rowHeight - 22));
        const place = {x: x(i * size) + 0.5, y: base - tall, width: x(size) - x(0) - 1, height: tall};
        const element = s("rect", {...place, fill: rgb(row.hue)});
        marks.push({element, tell: () => [row.name, ["variants", whole(count)],
                                          ["GFLOP/s", number(i * size) + " to " + number((i + 1) * size)]]});
        svg.append(element);
      });
    });
    const flag = (at, kind, words, from) => {
      const end = x(at.gflops) > width * 0.55;
      const element = line(x(at.gflops), top - from, x(at.gflops), height - bottom, kind);
      marks.push({element, tell: () => [variant(at.variant), [words, number(at.gflops) + " GFLOP/s"]]});
      const text = words + " " + number(at.gflops);
      svg.append(element, label(x(at.gflops) + (end ? -5 : 5), top - from + 9,
                                end ? "end" : "start", text, "strong halo"));
    };
    if (d.winner) flag(d.winner, "goal", "winner", 24);
    if (d.default && !(d.winner && d.winner.variant === d.default.variant)) {
      flag(d.default, "default", "best default", 10);
    }
    rows.forEach((row, r) => svg.append(label(left + 2, top + rowHeight * r + 16, "start",
        row.name + ": " + many(row.count, "variant", "variants") + ", best " + number(row.best.gflops), "halo")));
    svg.append(label(left + (width - left - right) / 2, height - 6, "middle", "GFLOP/s"));
    return h("figure", {},
             h("figcaption", {}, d.shape + " ",
               h("small", {}, many(d.count, "variant", "variants") + ", " +
                 whole(d.stopped) + " stopped after one call")),
             tellable(svg, marks, 4));
  }
  function drawSpread(kind) {
    const box = part("spread", ".figures");
    const width = widthIn(box, kind.distributions.length);
    box.replaceChildren(...kind.distributions.map(d => spreadFigure(d, width)));
    if (!kind.distributions.length) box.append(none("No variant of this kind was timed."));
  }

  function drawLosses(kind) {
    const box = part("losses", ".table"), {classes, rows} = kind.losses;
    if (!rows.length) return box.replaceChildren(none("No winners yet."));
    const marks = [];
    const cell = (row, loss, place) => {
      if (!loss) return h("td", {}, "");
      const strength = Math.min(Math.log2(Math.max(loss.ratio, 1)), 1) * 0.62;
      const text = ratio(loss.ratio);
      const element = h("td", {style: "background:rgba(var(--loss)," + strength.toFixed(3) + ")"},
                        loss.served ? h("b", {}, text) : text);
      marks.push({element, tell: () => [variant(row.variant) + ", " + place, ["geometric mean", text],
                                        ["worst", ratio(loss.worst)],
                                        ["timed on", many(loss.measured, "shape", "shapes")],
                                        ["the best on", many(loss.served, "shape", "shapes")]]});
      return element;
    };
    const title = (words, kind, more) =>
        h("th", {scope: "col", class: kind}, words, more ? h("small", {}, more) : null);
    const table = h("table", {},
        h("thead", {}, h("tr", {}, title("", "left"), title("winner", "left"), title("serves"), title("all"),
                         classes.map(c => title(c.name, null, many(c.shapes, "shape", "shapes"))))),
        h("tbody", {}, rows.map(row => h("tr", {},
          h("td", {class: "left"}, chip(kind, row.variant)), h("td", {class: "left mono"}, variant(row.variant)),
          h("td", {}, whole(row.all ? row.all.served : 0)), cell(row, row.all, "all classes"),
          row.cells.map((loss, i) => cell(row, loss, classes[i].name))))));
    box.replaceChildren(tellable(table, marks, 0));
  }

  const columns = [
    {by: "class", name: "class", left: true, value: c => c.class, text: c => c.class},
    {by: "shape", name: "m x n x k", value: c => c.m * c.n * c.k * c.batch, text: c => sizes(c)},
    {by: "gflops", name: "GFLOP/s", value: c => c.gflops, text: c => number(c.gflops)},
    {by: "lead", name: "lead", value: c => c.lead || 0, text: c => lead(c.lead)},
    {by: "median", name: "median", value: c => c.median_us, text: c => time(c.median_us)},
    {by: "spread", name: "spread", value: c => c.spread, text: c => percent(c.spread)},
    {by: "variant", name: "variant", left: true, value: c => variant(c.variant), text: null},
  ];
  function drawWinners(kind) {
    const box = part("winners", ".table");
    if (!kind.cells.length) return box.replaceChildren(none("No winners yet."));
    const top = Math.max(...kind.cells.map(c => c.gflops));
    const by = columns.find(column => column.by === state.sort.by);
    const rows = [...kind.cells].sort((a, b) => {
      const [x, y] = [by.value(a), by.value(b)];
      return (x < y ? -1 : x > y ? 1 : a.m * a.n * a.k - b.m * b.n * b.k) * (state.sort.up ? 1 : -1);
    });
    const title = column => {
      const button = h("button", {type: "button"}, column.name);
      button.addEventListener("click", () => {
        state.sort = {by: column.by, up: state.sort.by === column.by ? !state.sort.up : column.left === true};
        drawWinners(kind);
        part("winners", "th[aria-sort] button").focus();
      });
      const sorted = state.sort.by === column.by && (state.sort.up ? "ascending" : "descending");
      return h("th", {scope: "col", class: column.left && "left", "aria-sort": sorted}, button);
    };
    const cell = (column, c) => {
      if (column.by === "variant") {
        return h("td", {class: "left"}, chip(kind, c.variant), " ", h("span", {class: "mono"}, variant(c.variant)));
      }
      const part = column.by === "gflops" && "--part:" + (100 * c.gflops / top).toFixed(1) + "%";
      return h("td", {class: column.left ? "left" : part && "bar", style: part}, column.text(c));
    };
    box.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, columns.map(title))),
                          h("tbody", {}, rows.map(c => h("tr", {}, columns.map(column => cell(column, c)))))));
  }

  function drawFailures() {
    const box = part("failures", ".causes");
    if (!data.failures.length) return box.replaceChildren(none("None."));
    const most = data.failures[0].count;
    const examples = group => group.examples.length ? h("details", {},
        h("summary", {}, (group.examples.length < group.count ? "the first " : "") +
                         many(group.examples.length, "variant", "variants")),
        h("ul", {}, group.examples.map(name => h("li", {class: "mono"}, name)))) : null;
    box.replaceChildren(...data.failures.map(group => h("div", {class: "cause"}, h("b", {}, whole(group.count)),
        h("div", {},
        h("span", {class: "meter", style: "width:" + Math.max(100 * group.count / most, 0.5).toFixed(1) + "%"}),
        h("pre", {class: "mono"}, group.cause), examples(group)))));
  }

  // ---- what is shown --------------------------------------------------------------------------------------------

  // One choice of several, as radio buttons.
  function radios(name, title, options, chosen, choose) {
    return h("fieldset", {}, h("legend", {}, title), options.map(option => {
      const {value, disabled} = option;
      const input = h("input", {type: "radio", name, value, disabled, checked: value === chosen});
      input.addEventListener("change", () => choose(value));
      return h("label", {}, input, option.text || value);
    }));
  }
  function drawKinds() {
    const bar = document.getElementById("kinds");
    const focused = document.activeElement && document.activeElement.name;
    const has = (precision, transposes) =>
        data.kinds.find(k => k.precision === precision && (!transposes || k.transposes === transposes));
    const choose = (precision, transposes) => {
      state.kind = has(precision, transposes) || has(precision);
      drawKinds();
      draw();
    };
    bar.hidden = data.kinds.length < 2;
    bar.replaceChildren(
        radios("precision", "Precision", ["half", "bfloat16", "single", "double"].filter(p => has(p)).map(value => ({value})),
               state.kind.precision, precision => choose(precision, state.kind.transposes)),
        radios("transposes", "Transposes of A and B",
               ["nn", "nt", "tn", "tt"].filter(t => data.kinds.some(k => k.transposes === t))
                   .map(value => ({value, disabled: !has(state.kind.precision, value)})),
               state.kind.transposes, transposes => choose(state.kind.precision, transposes)));
    if (focused) bar.querySelector("input[name=" + focused + "]:checked")?.focus();
  }
  function drawChoice() {
    part("map", ".choice").replaceChildren(radios("map", "Cells show",
        [{value: "gflops", text: "GFLOP/s"}, {value: "winner", text: "winning variant"}], state.map, value => {
          state.map = value;
          drawMap(state.kind);
        }));
  }
  function draw() {
    hideTip();
    for (const place of document.querySelectorAll("h2 .kind")) place.textContent = kindName(state.kind);
    for (const one of [drawCurves, drawMap, drawSpread, drawLosses, drawWinners]) one(state.kind);
  }

  drawHead();
  drawFailures();
  for (const form of document.querySelectorAll("form")) {
    form.addEventListener("submit", event => event.preventDefault());
  }
  for (const box of document.querySelectorAll(".table")) box.tabIndex = 0;  // to scroll by keys
  document.addEventListener("keydown", event => event.key === "Escape" && hideTip());
  document.addEventListener("scroll", placeTip, {passive: true, capture: true});
  if (!data.kinds.length) {
    document.getElementById("main").prepend(none("Nothing was measured."));
    for (const id of ["curves", "map", "spread", "losses", "winners"]) document.getElementById(id).hidden = true;
    document.getElementById("kinds").hidden = true;
    return;
  }
  state.kind = data.kinds.find(k => k.precision === "single" && k.transposes === "nn") || data.kinds[0];
  drawKinds();
  drawChoice();
  draw();
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    draw();
  });
})();

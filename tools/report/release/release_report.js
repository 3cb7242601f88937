(() => {
  const {data, h, none, number, whole, percent, many} = page;
  const sources = ["native", "portable", "source", "none"];
  const words = {native: "native", portable: "portable", source: "from source", none: "not served"};
  const place = (section, rest) => document.querySelector("#" + section + " " + rest);

  // A figure of the JSON, with the path to it: what the page shows can be compared with what the JSON says.
  function figure(path, show) {
    const value = path.split("/").slice(1).reduce((at, key) => at[key], data);
    return h("span", {"data-figure": path}, show(value));
  }
  const bytes = value => value < 1e4 ? whole(value) + " B" : value < 1e6 ? number(value / 1e3) + " kB" :
                         number(value / 1e6) + " MB";
  const gained = value => value === null ? "" : (value < 1 ? "\u2212" : "+") + (100 * Math.abs(value - 1)).toFixed(1) +
                                                " %";

  // ---- head -----------------------------------------------------------------------------------------------------

  const tile = (shown, text) => h("div", {class: "tile"}, h("b", {}, shown), h("span", {}, text));

  function drawHead() {
    const gone = data.targets.filter(target => target.status === "lost").map(
        target => target.device + (target.driver ? " " + target.driver : ""));
    const files = data.bundles.map(bundle => bundle.file).join(", ");
    document.title = "clbake: release " + files;
    const facts = (...list) => h("div", {class: "facts"}, list.filter(Boolean).join(" \u00b7 "));
    const part = (key, text) => tile(figure("/total/" + key, whole), text);
    document.getElementById("head").replaceChildren(
        h("h1", {}, files),
        facts(!data.precisions.length ? null : data.shapes ? "problems of " + data.shapes : "squares from 64 to 4096",
              data.precisions.map(p => many(p.problems, "problem", "problems") + " of " + p.precision).join(", "),
              data.programs.length && many(data.programs.length, "program of its own", "programs of its own"),
              data.newer_driver && "code for older drivers allowed"),
        data.against.length ? facts("compared with " + data.against.map(bundle => bundle.file).join(", ")) : null,
        h("div", {class: "tiles"},
          tile(whole(data.targets.filter(target => target.status !== "lost").length), "devices with a driver"),
          data.precisions.length ? tile(figure("/total/native_share", percent), "served by machine code, of this release's devices and all problems" +
               (gone.length ? "; gone: " + gone.slice(0, 3).join(", ") +
                 (gone.length > 3 ? " and " + whole(gone.length - 3) + " more" : "") : "")) : null,
          data.precisions.length ? [part("proven", "proven, of " + whole(data.total.problems)),
                                    part("jit_free", "JIT-free, of " + whole(data.total.problems))] : null,
          data.programs.length ? tile(figure("/own/jit_free", whole), "programs of its own JIT-free, of " +
                                      whole(data.own.programs) + " on all devices") : null,
          data.against.length ? tile(figure("/worse", whole), "problems and programs served worse than before") : null,
          tile(bytes(data.bundles.reduce((sum, bundle) => sum + bundle.bytes, 0)), "as shipped")));
  }

  // ---- what serves ----------------------------------------------------------------------------------------------

  function deviceName(target, ...more) {
    const badge = {added: h("span", {class: "badge good"}, "new"), lost: h("span", {class: "badge warn"}, "gone")};
    return h("div", {class: "name"}, h("b", {}, target.device), " ", badge[target.status],
             h("small", {}, target.driver ? "driver " + target.driver : ""), more.map(text => h("small", {}, text)));
  }
  const platformOf = target => target.offline
      ? "any device of this architecture; its machine code serves with newer_driver only"
      : [target.platform, target.platform_version, target.architecture].filter(Boolean).join(" \u00b7 ");
  const grid = (columns, titles, rows) => [
    h("div", {class: "row titles", style: "--columns:" + columns}, titles.map(title => h("div", {}, title))),
    rows.map(row => h("div", {class: "row", style: "--columns:" + columns}, row)),
  ];

  function meter(cell) {
    const parts = sources.filter(source => cell[source] > 0);
    return h("div", {class: "meter", role: "img", "aria-label": parts.map(p => cell[p] + " " + words[p]).join(", ")},
             parts.map(p => h("i", {class: p, style: "flex-grow:" + cell[p]})));
  }

  function servesCell(cell, path) {
    const counts = sources.filter(source => cell[source] > 0).map(
        source => [figure(path + "/" + source, whole), " " + words[source]]);
    const reasons = Object.entries(cell.misses).map(([why, count]) => why + (count < cell.problems ? " " + count : ""));
    return h("div", {class: "cell"}, h("span", {class: "label"}, cell.precision), meter(cell),
             counts.map((parts, i) => [i ? ", " : "", parts]),
             h("small", {}, "proven ", figure(path + "/proven", whole), ", JIT-free ",
               figure(path + "/jit_free", whole), " of ", figure(path + "/problems", whole)),
             reasons.length ? h("small", {class: "warn"}, "why: " + reasons.join(", ")) : null,
             cell.gflops === null ? null : h("small", {}, h("b", {}, figure(path + "/gflops", number)), " GFLOP/s",
               cell.expected < cell.problems ? [", of ", figure(path + "/expected", whole), " problems"] : null),
             cell.before ? sinceLast(cell, path) : null);
  }

  function sinceLast(cell, path) {
    const was = sources.filter(source => cell.before[source] !== cell[source]).map(
        source => [figure(path + "/before/" + source, whole), " " + words[source]]);
    const parts = was.length ? ["before: ", was.map((part, i) => [i ? ", " : "", part])] : [];
    if (cell.speedup !== null && Math.abs(cell.speedup - 1) >= 0.0005) {
      parts.push(parts.length ? "; " : "", "speed ", figure(path + "/speedup", gained));
    }
    return parts.length ? h("small", {}, parts) : null;
  }

  function drawMatrix() {
    document.getElementById("matrix").hidden = data.precisions.length === 0;
    place("matrix", ".legend").replaceChildren(
        ...sources.map(source => h("span", {}, h("i", {class: source}), words[source])));
    const rows = data.targets.map((target, t) => [
      deviceName(target, platformOf(target)), target.cells.map((cell, c) => servesCell(cell, "/targets/" + t + "/cells/" + c)),
    ]);
    place("matrix", ".devices").replaceChildren(...(rows.length
        ? grid(data.precisions.length, ["device and driver", ...data.precisions.map(p => p.precision)], rows).flat()
        : [none("The bundle has no programs: everything is compiled from source.")]));
  }

  function speedCell(shown, path, problem) {
    const mark = shown.origin === "native" ? null : h("small", {}, words[shown.origin]);
    return h("div", {class: "cell"}, h("span", {class: "label"}, problem),
             h("div", {}, figure(path + "/gflops", number), mark));
  }

  function drawSpeed() {
    document.getElementById("speed").hidden = data.precisions.length === 0;
    const parts = data.precisions.flatMap((precision, c) => {
      const rows = data.targets.map((target, t) => [
        deviceName(target),
        target.cells[c].shown.map((shown, i) => speedCell(shown, "/targets/" + t + "/cells/" + c + "/shown/" + i,
                                                          precision.shown[i])),
      ]);
      const titles = ["", ...precision.shown.map(name => name.replace(precision.precision + " ", ""))];
      return [h("h3", {}, precision.precision), ...grid(precision.shown.length, titles, rows).flat()];
    });
    place("speed", ".devices").replaceChildren(...parts);
  }

  // The application's own programs, a few beside each other.
  function programCell(cell, path, name) {
    const facts = cell.origin === "native" || cell.origin === "portable"
        ? [cell.proven ? "proven" : "not proven", cell.jit_free ? "JIT-free" : "not JIT-free"].join(", ") : null;
    return h("div", {class: "cell"}, h("span", {class: "label"}, name), h("b", {}, words[cell.origin]),
             cell.bytes === null ? null : [", ", figure(path + "/bytes", bytes)],
             facts ? h("small", {}, facts) : null,
             cell.why ? h("small", {class: "warn"}, cell.why) : null,
             cell.before !== null && cell.before !== cell.origin ? h("small", {}, "before: " + words[cell.before]) : null);
  }

  function drawPrograms() {
    const beside = 4;
    document.getElementById("own").hidden = data.programs.length === 0;
    const parts = [];
    for (let first = 0; first < data.programs.length; first += beside) {
      const names = data.programs.slice(first, first + beside);
      const rows = data.targets.map((target, t) => [
        deviceName(target),
        names.map((name, i) => programCell(target.own[first + i], "/targets/" + t + "/own/" + (first + i), name)),
      ]);
      parts.push(...grid(names.length, ["device and driver", ...names], rows).flat());
    }
    place("own", ".devices").replaceChildren(...parts);
  }

  // ---- changes and sizes ----------------------------------------------------------------------------------------

  function drawChanges() {
    document.getElementById("changes").hidden = data.against.length === 0;
    if (!data.against.length) return;
    const status = kind => many(data.targets.filter(target => target.status === kind).length, "device", "devices");
    place("changes", ".summary").replaceChildren(
        "New: " + status("added") + ". Gone: " + status("lost") + ". Problems and programs served worse: ", figure("/worse", whole),
        ", better: ", figure("/better", whole), ".");
    const rows = data.changes.map((change, i) => [
      h("div", {class: "name"}, change.target),
      h("div", {class: "cell"}, change.kind === "program" ? null : change.kind + ", ",
        figure("/changes/" + i + "/problems", whole),
        (change.kind === "program" ? " program" : " problem") + (change.problems === 1 ? "" : "s"),
        h("small", {}, change.examples.map(name => name.replace(change.kind + " ", "")).join(", ") +
          (change.problems > change.examples.length ? " ..." : ""))),
      h("div", {class: "cell"}, h("b", {class: change.why === null ? "good" : "warn"},
                                  words[change.before] + " \u2192 " + words[change.after]),
        change.why === null ? null : h("small", {}, change.why)),
    ]);
    place("changes", ".list").replaceChildren(...(rows.length ? grid(2, ["device and driver", "what", "served by"],
                                                                     rows).flat()
                                                              : [none("Everything is served as before.")]),
                                              data.more_changes > 0 ? none("and " + whole(data.more_changes) + " more such groups") : "");
  }

  function drawSizes() {
    const before = file => data.against.find(bundle => bundle.file === file);
    const cell = (label, path) => h("div", {class: "cell"}, h("span", {class: "label"}, label), figure(path, bytes));
    const files = (list, key) => list.map((bundle, i) => [
      h("div", {class: "name"}, h("b", {}, bundle.file), h("small", {}, many(bundle.targets, "device", "devices") +
        " with a driver, " + many(bundle.entries, "program", "programs"))),
      cell("file", "/" + key + "/" + i + "/bytes"), cell("programs", "/" + key + "/" + i + "/program_bytes"),
      cell("compressed", "/" + key + "/" + i + "/stored_bytes"),
    ]);
    const titles = ["bundle", "file", "programs", "compressed"];
    place("sizes", ".files").replaceChildren(
        ...grid(3, titles, files(data.bundles, "bundles")).flat(),
        ...(data.against.length ? [h("h3", {}, "the last release"),
                                   ...grid(3, titles, files(data.against, "against")).flat()] : []));
    const most = Math.max(1, ...data.targets.map(target => target.program_bytes));
    place("sizes", ".bars").replaceChildren(...data.targets.map((target, t) => h("div", {class: "row",
                                                                                      style: "--columns:2"},
        deviceName(target),
        h("div", {}, h("span", {class: "bar", style: "width:" + (100 * target.program_bytes / most).toFixed(1) + "%"})),
        h("div", {class: "cell"}, figure("/targets/" + t + "/program_bytes", bytes), " in ",
          figure("/targets/" + t + "/entries", whole), target.entries === 1 ? " program" : " programs"))));
  }

  drawHead();
  drawMatrix();
  drawSpeed();
  drawPrograms();
  drawChanges();
  drawSizes();
})();

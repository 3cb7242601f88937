"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const sources = ["native", "portable", "source", "none"];
  const words = {native: "native", portable: "portable", source: "from source", none: "not served"};

  // All text becomes text nodes: what drivers said is never markup.
  function h(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children.flat(Infinity).filter(child => child !== null));
    return made;
  }
  const small = (text, kind) => h("small", {class: kind || ""}, text);
  const none = text => h("p", {class: "none"}, text);

  function number(value) {
    if (value === null) return "-";
    const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return value.toLocaleString("en-US", {minimumFractionDigits: digits, maximumFractionDigits: digits});
  }
  const whole = value => value.toLocaleString("en-US");
  const percent = value => (100 * value).toFixed(1) + " %";
  const gained = value => (value < 1 ? "\u2212" : "+") + percent(Math.abs(value - 1));
  const many = (count, noun) => whole(count) + " " + noun + (count === 1 ? "" : "s");
  const bytes = value => value < 1e4 ? whole(value) + " B" : value < 1e6 ? number(value / 1e3) + " kB" :
                         number(value / 1e6) + " MB";
  const list = (names, count) => names.join(", ") + (count > names.length ? " and " + whole(count - names.length) +
                                                     " more" : "");

  // A figure of the JSON, with the path to it: what the page shows can be compared with what the JSON says.
  function figure(path, show) {
    const value = path.split("/").slice(1).reduce((at, key) => at[key], data);
    return h("span", {"data-figure": path}, show(value));
  }
  // A cell for each of `titles` but the first, of which narrow pages show the title as a label.
  const grid = (titles, rows) => [titles, ...rows].map((cells, r) =>
      h("div", {class: r ? "row" : "row titles", style: "--columns:" + (titles.length - 1)},
        cells.map((cell, c) => h("div", {}, r && c ? h("span", {class: "label"}, titles[c]) : null, cell))));
  function draw(section, hidden, titles, rows, empty) {
    const element = document.getElementById(section);
    element.hidden = hidden;
    element.querySelector(".rows").replaceChildren(...(rows.length ? grid(titles, rows) : [none(empty)]));
  }
  const part = (name, element) => document.querySelector("#" + name + " " + element);

  function drawHead() {
    const tile = (shown, text) => h("div", {class: "tile"}, h("b", {}, shown), h("span", {}, text));
    const facts = (...parts) => h("div", {class: "facts"}, parts.filter(Boolean).join(" \u00b7 "));
    const files = bundles => bundles.map(bundle => bundle.file).join(", ");
    const all = ", of " + whole(data.total.count);
    document.title = "clbake: release " + files(data.bundles);
    document.getElementById("head").replaceChildren(
        h("h1", {}, files(data.bundles)),
        facts(data.shapes ? "problems of " + data.shapes : "squares from 64 to 4096",
              data.columns.map(column => whole(column.count) + " " + column.name).join(", "),
              data.newer_driver && "code for older drivers allowed",
              data.against.length && "compared with " + files(data.against)),
        h("div", {class: "tiles"},
          tile(whole(data.targets.filter(target => target.status !== "lost").length), "devices with a driver"),
          tile(figure("/total/native_share", percent), "served by machine code, of all devices and problems"),
          tile(figure("/total/proven", whole), "proven" + all),
          tile(figure("/total/jit_free", whole), "JIT-free" + all),
          data.against.length ? tile(figure("/worse", whole), "served worse than before") : null,
          tile(bytes(data.bundles.reduce((sum, bundle) => sum + bundle.bytes, 0)), "as shipped")));
  }

  function deviceCell(target) {
    const badges = {added: ["good", "new"], lost: ["warn", "gone"]};
    const [kind, word] = badges[target.status] || [];
    return [h("b", {}, target.device), " ", word ? h("span", {class: "badge " + kind}, word) : null,
            small(target.driver ? "driver " + target.driver : ""),
            small(target.offline ? "any device of this architecture; its machine code serves with newer_driver only"
                                 : [target.platform, target.platform_version, target.architecture].filter(Boolean)
                                       .join(" \u00b7 "))];
  }

  function servesCell(cell, path) {
    const faster = cell.speedup !== null && Math.abs(cell.speedup - 1) >= 0.0005;
    return [h("div", {class: "meter"}, sources.filter(source => cell[source] > 0).map(
                source => h("i", {class: source, style: "flex-grow:" + cell[source]}))),
            sources.filter(source => cell[source] > 0).map(
                (source, i) => [i ? ", " : "", figure(path + "/" + source, whole), " " + words[source]]),
            small(["proven ", figure(path + "/proven", whole), ", JIT-free ", figure(path + "/jit_free", whole), " of ",
                   figure(path + "/count", whole)]),
            cell.gflops === null ? null : small([figure(path + "/gflops", number), " GFLOP/s", cell.expected < cell.count
                ? [", of ", figure(path + "/expected", whole)] : ""]),
            faster ? small(["speed ", figure(path + "/speedup", gained)]) : null];
  }

  drawHead();
  part("matrix", ".legend").replaceChildren(
      ...sources.map(source => h("span", {}, h("i", {class: source}), words[source])));
  draw("matrix", data.columns.length === 0, ["device and driver", ...data.columns.map(column => column.name)],
       data.targets.map((target, t) => [deviceCell(target), ...target.cells.map(
           (cell, c) => servesCell(cell, "/targets/" + t + "/cells/" + c))]),
       "The bundle has no programs: everything is compiled from source.");
  draw("missing", false, ["what it lacks", "problems and programs", "devices"],
       data.missing.map((group, i) => [
         [h("b", {class: "warn"}, group.missing), small(group.why)],
         [figure("/missing/" + i + "/count", whole), " on all devices: " + group.kinds.join(", "),
          small(list(group.examples, group.subjects))],
         list(group.targets.slice(0, 3), group.targets.length)]),
       "Nothing: everything is.");
  part("changes", ".summary").replaceChildren(
      "New: " + many(data.targets.filter(target => target.status === "added").length, "device") + ". Gone: " +
      many(data.targets.filter(target => target.status === "lost").length, "device") + ". Served worse: ",
      figure("/worse", whole), ", better: ", figure("/better", whole), ".");
  draw("changes", data.against.length === 0, ["device and driver", "what", "served by"],
       data.changes.map((change, i) => [
         change.target,
         [change.kind + ", ", figure("/changes/" + i + "/count", whole), small(list(change.examples, change.count))],
         [h("b", {class: change.why === null ? "good" : "warn"}, words[change.before] + " \u2192 " + words[change.after]),
          change.why === null ? null : small(change.why)]]),
       "Everything is served as before.");
  if (data.more_changes) part("changes", ".rows").append(none("and " + many(data.more_changes, "more such group")));
  const files = (key, remark) => data[key].map((bundle, i) => [
    [h("b", {}, bundle.file), small(remark)], figure("/" + key + "/" + i + "/bytes", bytes),
    figure("/" + key + "/" + i + "/entries", whole), figure("/" + key + "/" + i + "/targets", whole)]);
  draw("sizes", false, ["bundle", "size", "programs", "devices with a driver"],
       [...files("bundles", ""), ...files("against", "the last release")], "");
})();

"use strict";
// Shared by the scripts of the pages.
const page = (() => {
  // All text becomes text nodes: what drivers and compilers said is never markup.
  function element(space, tag, attributes, children) {
    const made = space ? document.createElementNS(space, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
    return made;
  }
  const h = (tag, attributes, ...children) => element(null, tag, attributes, children);
  const s = (tag, attributes, ...children) => element("http://www.w3.org/2000/svg", tag, attributes, children);
  const none = text => h("p", {class: "none"}, text);

  function number(value) {
    if (value === null || !Number.isFinite(value)) return "-";
    const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return value.toLocaleString("en-US", {minimumFractionDigits: digits, maximumFractionDigits: digits});
  }
  const whole = value => value.toLocaleString("en-US");
  const ratio = value => value === null ? "-" : value < 99.5 ? value.toFixed(2) : whole(Math.round(value));
  const percent = value => value === null ? "-" : (100 * value).toFixed(1) + " %";
  const many = (count, one, more) => whole(count) + " " + (count === 1 ? one : more);
  function time(us) {
    return us < 1000 ? number(us) + " us" : us < 1e6 ? number(us / 1e3) + " ms" : number(us / 1e6) + " s";
  }
  const data = JSON.parse(document.getElementById("data").textContent);
  return {data, h, s, none, number, whole, ratio, percent, many, time};
})();

// What the pages with a form share: their data, elements made of text.
"use strict";
var csbdata = globalThis.csbdata ??= {};
csbdata.packed = {};
// Called by each data script; what it holds is opened when it is asked for.
csbdata.data = (name, text) => { csbdata.packed[name] = text; };
csbdata.read = async (name) => {
  const bytes = Uint8Array.from(atob(csbdata.packed[name]), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
};

// An element with attributes; strings among its children are text, whatever they hold.
csbdata.element = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.map((child) => (typeof child === "string" ? csbdata.json.safe(child) : child)));
  return element;
};

// A table, maybe with a caption; in one of `cards` each row stands by itself where the page is narrow.
csbdata.table = (caption, heads, rows, { cards = false } = {}) => {
  const { element } = csbdata;
  const cell = (value, index) => {
    if (index === 0) return element("th", { scope: "row" }, value);
    const isFigure = typeof value === "number";
    const attributes = { class: isFigure ? "figure" : "text", "data-label": heads[index] };
    return element("td", attributes, isFigure ? csbdata.json.grouped(value) : value);
  };
  const region = cards ? { class: "cards" } : { class: "scroll", tabindex: "0", role: "group", "aria-label": caption || heads.join(", ") };
  return element("div", region, element("table", {},
    ...(caption ? [element("caption", {}, caption)] : []),
    element("thead", {}, element("tr", {}, ...heads.map((head, index) =>
      element("th", { scope: "col", class: typeof rows[0]?.[index] === "number" ? "figure" : "text" }, head)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell))))));
};

// Shows the record that the address names behind `#`: CONFIG/ID.
"use strict";
const place = document.getElementById("record");
const input = document.getElementById("name");
const state = document.getElementById("state");
const visible = (text) => csbdata.json.safe(String(text));
const element = (tag, attributes, ...children) =>
  csbdata.element(tag, attributes, ...children.map((child) => (child instanceof Node ? child : String(child))));
const columns = JSON.parse(place.dataset.columns);
const outcomes = JSON.parse(place.dataset.outcomes);
const LONGEST = 20000;

function crc32(text) {
  let value = -1;
  for (const byte of new TextEncoder().encode(text)) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return (value ^ -1) >>> 0;
}

// The records of one script, which is fetched once.
const load = (number) => csbdata.packed[`records-${number}`] !== undefined
  ? csbdata.read(`records-${number}`)
  : new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `records/${number}.js`;
    script.onload = () => resolve(csbdata.read(`records-${number}`));
    script.onerror = () => reject(new Error(`no ${script.src}`));
    document.head.append(script);
  });

function section(title, ...children) {
  return element("section", {}, element("h2", {}, title), ...children);
}

const table = (heads, rows) => csbdata.table("", heads, rows, { cards: heads.length > 2 });

// A value of a JSON text whose objects and arrays fold; names and strings in colour.
function folded(value, key, depth) {
  const name = key === null ? [] : [element("span", { class: "key-name" }, JSON.stringify(key)), ": "];
  const list = Array.isArray(value);
  if (!list && !csbdata.json.isObject(value)) {
    const kind = typeof value === "string" ? "string" : "scalar";
    const text = csbdata.json.isNumber(value) ? value.text : JSON.stringify(value);
    return element("div", {}, ...name, element("span", { class: kind }, cut(text)));
  }
  const entries = list ? value.map((each) => [null, each]) : [...value];
  if (!entries.length) return element("div", {}, ...name, list ? "[]" : "{}");
  const count = element("span", { class: "count" }, list ? `[${entries.length}]` : `{${entries.length}}`);
  const made = element("details", {}, element("summary", {}, ...name, count));
  const fill = () => {
    if (made.children.length === 1) made.append(...entries.map(([own, each]) => folded(each, own, depth + 1)));
  };
  made.open = depth < 3 && entries.length < 60;
  if (made.open) fill();
  made.addEventListener("toggle", fill);
  return made;
}

function cut(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} ... (${text.length} characters in all)` : text;
}

// A block of text whose line ends stay.
function block(text) {
  const made = element("pre", { tabindex: "0" });
  made.append(cut(text).split("\n").map(visible).join("\n"));
  return made;
}

function schemaOf(text) {
  try {
    return [element("div", { class: "json" }, folded(csbdata.json.parse(text), null, 0)),
      element("details", {}, element("summary", {}, "The text as it is"), block(text))];
  } catch {
    return [block(text)];
  }
}

function time(ns, isAtLeast = false) {
  if (ns === null) return "";
  const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([each]) => ns >= each) ?? [1, "ns"];
  return `${isAtLeast ? "≥\u00a0" : ""}${Number((ns / size).toPrecision(3))}\u00a0${unit}`;
}

function placesOf(row, texts) {
  return row.wrong.split(" ").filter(Boolean).map((each) => {
    const [number, tokens] = each.split(":");
    const text = texts?.[number];
    return `${text ? (text[1] ? "valid" : "invalid") + " " : ""}text ${number} after ${tokens} tokens`;
  });
}

function engines(record) {
  const rows = JSON.parse(place.dataset.engines).map((engine) => {
    const own = record.rows[engine];
    if (!own) return [engine, "not run", "", "", "", ""];
    const row = Object.fromEntries(columns.map((name, number) => [name, own[number]]));
    const places = placesOf(row, record.texts);
    const more = places.length > 6 ? [`and ${places.length - 6} more`] : [];
    // As `is_cut` in evaluation/results/edition.py: a deadline has cut off the call.
    const isCut = row.outcome === "timeout" && row.phase === "compile";
    const outcome = element("span", { title: outcomes[row.outcome] ?? "" }, row.outcome.replaceAll("_", " "));
    return [engine, outcome, [...places.slice(0, 6), ...more].join("; "), row.why.replaceAll(" | ", "; "),
      time(row.compile_ns, isCut), time(row.between_ns)];
  });
  return table(["engine", "outcome", "where", "why", "compile", "mask"], rows);
}

function texts(record) {
  return table(["number", "label", "made as", "text"], record.texts.map(([text, valid, kind, keyword, pointer], number) => [
    number, valid ? "valid" : "invalid", keyword ? `${kind}: ${keyword} at ${pointer || "the root"}` : kind,
    text.length > 200
      ? element("details", {}, element("summary", {}, `${text.slice(0, 200)} ...`), block(text))
      : element("code", {}, text)]));
}

function story(record) {
  const facts = Object.entries(record.story).filter(([, value]) => value !== null && String(value) !== "");
  const made = [table(["what", "value"], facts.map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : String(value)]))];
  if (record.edits.length) made.push(element("h3", {}, "Edits"), table(["rule", "place", "before", "after"], record.edits));
  return made;
}

function dispute(name, record) {
  const report = [`Record: ${name}`, `Edition: ${place.dataset.edition}`, `Schema: sha256 ${record.story.sha256 ?? "-"}`,
    "Text number: ", "Its label is wrong, since: "].map(visible).join("\n");
  const area = element("textarea", { rows: "6", cols: "60", id: "report", spellcheck: "false" });
  area.value = report;
  return section("Dispute a label", element("p", {}, "Both validators agreed on each label. If you think that one is wrong, say why, with these lines:"),
    element("label", { for: "report" }, "Report"), area);
}

const wanted = () => decodeURIComponent(location.hash.slice(1));

async function show() {
  const name = wanted();
  input.value = name;
  place.replaceChildren();
  state.textContent = name ? "reading" : "";
  if (!name) return;
  const number = crc32(name) % Number(place.dataset.scripts);
  try {
    const records = await load(number);
    // While a script is read the address may change, and change back.
    if (name !== wanted()) return;
    place.replaceChildren();
    const record = Object.hasOwn(records, name) ? records[name] : null;
    state.textContent = record ? "" : "no such record in this edition";
    document.querySelector("h1").textContent = visible(name);
    document.title = `${visible(name)} · csbdata`;
    if (!record) return;
    place.append(section("What engines did", engines(record)));
    if (record.schema === undefined) {
      place.append(element("p", { class: "note" }, "This site was built without its dataset: no schema and no texts."));
      return;
    }
    place.append(section("Schema", ...schemaOf(record.schema)), section("Texts", texts(record)),
      section("Story", ...story(record)), dispute(name, record));
  } catch (error) {
    if (name === wanted()) state.textContent = `cannot be read: ${visible(error.message)}`;
  }
}

input.addEventListener("change", () => { location.hash = `#${encodeURIComponent(input.value.trim()).replaceAll("%2F", "/")}`; });
addEventListener("hashchange", show);
show();

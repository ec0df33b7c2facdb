// The page that compares two engines on chosen records.
"use strict";
(async () => {
  const { element, address, json } = csbdata;
  const SHOWN = 100;
  const form = document.getElementById("pair");
  const [status, result] = ["status", "result"].map((id) => document.getElementById(id));
  status.textContent = "Reading the records ...";
  const data = csbdata.query.prepared(await csbdata.read("records"));
  const { records } = data;
  const names = data.engines.map(({ name }) => name);
  if (names.length < 2) {
    status.textContent = "There is no pair: fewer than two engines of this edition ran task masks.";
    return;
  }
  const SIZES = [["", "any"], ["<1000", "under 1,000 characters"], [">=1000 size:<10000", "1,000 to 9,999"], [">=10000", "10,000 and more"]];

  function fill(field, options) {
    const chosen = address.read().get(field) ?? form.dataset[field] ?? "";
    const select = form.elements[field];
    select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
    select.value = options.some(([value]) => value === chosen) ? chosen : options[0][0];
  }

  const any = (values) => [["", "any"], ...values.filter(Boolean).map((value) => [value, value])];
  const percent = (count, of) => `${(100 * count / of).toFixed(1)} %`;
  const pText = (p) => (p < 0.0001 ? p.toExponential(1) : p.toPrecision(2));

  function link(index) {
    const name = `${data.configs[records.config[index]]}/${records.id[index]}`;
    return element("a", { href: `${form.dataset.root}record.html#${name.split("/").map(encodeURIComponent).join("/")}` }, name);
  }

  function rows(title, indices, a, b) {
    if (!indices.length) return [];
    const word = (engine, index) => data.words[data.classes[data.outcomes[engine.outcome[index]]]];
    const more = indices.length > SHOWN ? `, the first ${SHOWN}` : "";
    return [element("h2", {}, `${title}: ${json.grouped(indices.length)}${more}`),
      csbdata.table(title, ["record", "title", "characters", a.name, b.name], indices.slice(0, SHOWN).map((index) =>
        [link(index), records.title[index], records.size[index] || "", word(a, index), word(b, index)]), { cards: true })];
  }

  function show() {
    const chosen = Object.fromEntries([...form.elements].map(({ name, value }) => [name, value]));
    // The address of a page names its pair; others have theirs on the page of all.
    if (["a", "b"].some((field) => form.dataset[field] && form.dataset[field] !== chosen[field])) {
      location = `${form.dataset.root}vs.html#${new URLSearchParams(chosen)}`;
      return;
    }
    address.write(form.dataset.a ? { ...chosen, a: "", b: "" } : chosen);
    const [a, b] = [chosen.a, chosen.b].map((name) => data.engines.find((it) => it.name === name));
    const terms = ["config", "dialect", "size", "kw"].filter((field) => chosen[field]).map((field) => `${field}:${chosen[field]}`);
    const { found } = csbdata.query.search(terms.join(" "), data);
    const { paired, flag, times } = csbdata.query;
    const passes = paired(flag(a.passed), flag(b.passed), found);
    const compiles = paired(flag(a.compiled), flag(b.compiled), found);
    const of = (counts) => counts.both.length + counts.onlyA.length + counts.onlyB.length + counts.neither.length;
    if (!of(compiles)) {
      status.textContent = `No record with this was asked of both. ${json.grouped(found.length)} records have it.`;
      result.replaceChildren();
      return;
    }
    const verdict = (counts) => {
      const [won, lost] = [counts.onlyA.length, counts.onlyB.length];
      return counts.p < 0.05 ? `${won > lost ? a.name : b.name} passes more` : "neither is shown to pass more";
    };
    status.textContent = of(passes)
      ? `Of ${json.grouped(of(passes))} records with texts that both were asked, ${verdict(passes)} (p ${pText(passes.p)}).`
      : "No record with texts was asked of both.";
    const line = (name, counts) => [name, of(counts), counts.both.length, counts.onlyA.length, counts.onlyB.length,
      counts.neither.length, of(counts) ? percent(counts.both.length + counts.onlyA.length, of(counts)) : "",
      of(counts) ? percent(counts.both.length + counts.onlyB.length, of(counts)) : "", pText(counts.p)];
    const time = times(a, b, found);
    const ratio = time.of ? `Compile time of B over that of A, geometric mean of ${json.grouped(time.of)} records that both compile: ${time.mean.toPrecision(3)}. `
      + `A is faster on ${json.grouped(time.fasterA)}, B on ${json.grouped(time.fasterB)} (sign test: p ${pText(time.p)}).` : "No record is compiled by both.";
    result.replaceChildren(
      csbdata.table(`A: ${a.name}; B: ${b.name}`, ["A and B", "records", "both", "only A", "only B", "neither", "A", "B", "p"],
        [line("passes", passes), line("compiles", compiles)], { cards: true }),
      element("p", {}, ratio),
      element("p", { class: "note" }, "p: McNemar's exact test on records of which only one of the two passes, or compiles. It is not adjusted for how many choices you try."),
      ...rows(`Only A passes (${a.name})`, passes.onlyA, a, b),
      ...rows(`Only B passes (${b.name})`, passes.onlyB, a, b));
  }

  function start() {
    const engines = names.map((name) => [name, name]);
    fill("a", engines);
    fill("b", engines);
    if (form.elements.a.value === form.elements.b.value) form.elements.b.value = names.find((name) => name !== form.elements.a.value) ?? names[0];
    fill("config", any(data.configs));
    fill("dialect", any(data.dialects));
    fill("size", SIZES);
    fill("kw", any([...data.keywords.keys()]));
    form.hidden = false;
    show();
  }

  form.addEventListener("change", show);
  addEventListener("hashchange", start);
  start();
})();

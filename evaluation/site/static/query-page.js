// The page of queries: reads the address, shows the records, and saves them as CSV.
"use strict";
(async () => {
  const { element, address } = csbdata;
  const SHOWN = 50;
  const [form, field, status, result, save] = ["query", "q", "status", "result", "csv"].map((id) => document.getElementById(id));
  status.textContent = "Reading the records ...";
  const data = csbdata.query.prepared(await csbdata.read("records"));
  const { records } = data;
  let last = { found: [], engines: [] };

  const wordOf = (engine, index) => {
    const outcome = data.outcomes[engine.outcome[index]];
    return outcome === undefined ? "not asked" : data.words[data.classes[outcome]];
  };

  function row(index) {
    const name = `${data.configs[records.config[index]]}/${records.id[index]}`;
    return [
      element("a", { href: `record.html#${name.split("/").map(encodeURIComponent).join("/")}` }, name),
      records.title[index], records.size[index] || "", data.dialects[records.dialect[index]],
      ...last.engines.map((engine) => wordOf(engine, index)),
    ];
  }

  function show() {
    const text = address.read().get("q") ?? "";
    if (field.value.trim() !== text) field.value = text;
    last = csbdata.query.search(text, data);
    const { found, problems, engines } = last;
    if (!engines.length) last.engines = data.engines;
    save.hidden = !found.length;
    const more = found.length > SHOWN ? `, the first ${SHOWN} of them below; all are in the CSV` : "";
    status.textContent = problems.length
      ? csbdata.json.safe(`Not understood: ${problems.join("; ")}`)
      : `${csbdata.json.grouped(found.length)} of ${csbdata.json.grouped(data.size)} records${more}`;
    result.replaceChildren(...(found.length ? [csbdata.table("Records", [
      "record", "title", "characters", "dialect", ...last.engines.map(({ name }) => name),
    ], found.slice(0, SHOWN).map(row), { cards: true })] : []));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    address.write({ q: field.value.trim() });
    show();
  });
  field.addEventListener("input", () => {
    address.write({ q: field.value.trim() });
    show();
  });
  addEventListener("hashchange", show);
  save.addEventListener("click", () => {
    const engines = last.engines;
    const lines = [["config", "id", "title", "characters", "dialect", ...engines.map(({ name }) => name)],
      ...last.found.map((index) => [data.configs[records.config[index]], records.id[index], records.title[index],
        records.size[index] || "", data.dialects[records.dialect[index]], ...engines.map((engine) => wordOf(engine, index))])];
    const link = element("a", { download: "records.csv", href: URL.createObjectURL(new Blob([csbdata.csv(lines)], { type: "text/csv" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  });
  show();
})();

// The page that judges a schema by all profiles as it is typed.
"use strict";
(async () => {
  const { element, json, fit, metaschema } = csbdata;
  const MOST = 2000000;
  const SHOWN = 100;
  const EXAMPLE = {
    type: "object",
    properties: {
      email: { type: "string", format: "email", maxLength: 80 },
      tags: { type: "array", items: { type: "string" }, minItems: 1, uniqueItems: true },
      payment: { oneOf: [{ type: "string" }, { type: "object", patternProperties: { "^x-": { type: "number" } } }] },
    },
    required: ["email"],
  };
  const [field, file, example, status, result] = ["schema", "file", "example", "status", "result"].map((id) => document.getElementById(id));
  const tables = await csbdata.read("profiles");
  const code = (text) => element("code", {}, text);
  // What stands between backticks is code, unless a quotation has an odd one.
  const words = (text) => {
    const parts = text.split("`");
    return element("span", {}, ...(parts.length % 2 ? parts.map((part, index) => (index % 2 ? code(part) : part)) : [text]));
  };
  const CLAIMS = {
    equal: "the same values",
    narrower: "fewer values, all valid",
    wider: "answers must be validated",
  };

  const INVALID = { title: "the metaschema", evidence: "documented" };

  function verdict(findings) {
    if (!fit.isTaken(findings)) return ["refused", "refused"];
    return findings.some(({ effect }) => effect === "ignored") ? ["silent", "taken, in part ignored"] : ["right", "taken"];
  }

  const symbol = { refused: "\u2715", silent: "\u25d0", right: "\u2713" };
  const badge = ([kind, text]) => element("span", { class: `verdict ${kind}` }, `${symbol[kind]} ${text}`);

  function sourceOf({ url, title, evidence }) {
    return element("span", {}, url ? element("a", { href: url }, title) : title, `, ${evidence}`);
  }

  function rewritesOf(finding, profile) {
    const known = finding.effect === "routed" || finding.effect === "ignored" ? [] : fit.rewrites(finding, tables);
    if (!known.length) return "none known";
    const list = element("ul", {}, ...known.map((it) => element("li", {}, code(it.name), ": ", words(it.sentence), ` (${CLAIMS[it.claim] ?? it.claim})`)));
    return element("details", {}, element("summary", {}, `${known.length} known`), list);
  }

  function section(profile, findings, untold) {
    const head = element("h2", { id: `target-${profile.name}` }, `${profile.title}: `, badge(verdict(findings)));
    const rows = findings.slice(0, SHOWN).map((it) => [
      code(it.pointer || "(root)"), it.keyword || it.rule, it.effect, words(it.sentence), rewritesOf(it, profile), sourceOf(it.source),
    ]);
    const parts = [head];
    if (profile.note) parts.push(element("p", { class: "note" }, words(profile.note)));
    if (rows.length) parts.push(csbdata.table(`What ${profile.title} does not take as it is meant`, ["place", "about", "effect", "what", "rewrites", "source"], rows, { cards: true }));
    if (findings.length > SHOWN) parts.push(element("p", {}, `and ${json.grouped(findings.length - SHOWN)} more`));
    if (untold.length) parts.push(element("p", { class: "note" }, `No source tells anything of ${untold.join(", ")}.`));
    const broken = findings[0]?.rule === "invalid_schema";
    const then = broken ? ["To mend it first: ", "csbdata check schema.json"] : ["To rewrite it: ", `csbdata fit schema.json --for ${profile.name} --write sent.json`];
    if (!fit.isTaken(findings)) parts.push(element("p", { class: "note" }, then[0], code(then[1])));
    return element("section", {}, ...parts);
  }

  function judge() {
    const text = field.value;
    result.replaceChildren();
    if (!text.trim()) { status.textContent = "Nothing is pasted yet."; return; }
    if (text.length > MOST) { status.textContent = `Too long: at most ${json.grouped(MOST)} characters are judged here; csbdata fit FILE has no such limit.`; return; }
    let pasted;
    try {
      pasted = json.parse(text);
    } catch (error) {
      status.textContent = json.safe(`Not JSON: ${error.message}`);
      return;
    }
    const [tokens, schema] = fit.inRequest(pasted, tables) ?? [[], pasted];
    if (!json.isSchema(schema)) { status.textContent = "No JSON Schema: neither an object nor a boolean."; return; }
    const scan = new fit.Scan(schema, tables);
    const fault = metaschema.fault(schema, tables);
    const broken = fault ? [{ ...fault, keyword: "", rule: "invalid_schema", effect: "refused", source: INVALID }] : [];
    const judged = tables.profiles.map((profile) => [profile, [...broken, ...fit.judge(scan, profile, tables)], fit.untold(scan, profile, tables)]);
    const taken = judged.filter(([, findings]) => fit.isTaken(findings)).length;
    const why = fault ? `: ${fault.sentence}, at ${fault.pointer || "the root"}` : "";
    const where = tokens.length ? ` It is the schema at ${json.pointer(tokens)} of what was pasted, and judged alone.` : "";
    status.textContent = json.safe(`${taken} of ${judged.length} targets take it${why}.${where}`);
    const count = (findings, effects) => findings.filter(({ effect }) => effects.includes(effect)).length;
    result.replaceChildren(
      csbdata.table("What becomes of it", ["target", "verdict", "refused", "ignored", "left to another engine"], judged.map(([profile, findings]) => [
        element("a", { href: `#target-${profile.name}` }, profile.title), badge(verdict(findings)),
        count(findings, ["refused", "limited"]), count(findings, ["ignored"]), count(findings, ["routed"])]), { cards: true }),
      ...judged.map((each) => section(...each)));
  }

  let timer;
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(judge, 150); });
  example.addEventListener("click", () => { field.value = JSON.stringify(EXAMPLE, null, 2); judge(); });
  file.addEventListener("change", async () => { if (file.files[0]) { field.value = await file.files[0].text(); judge(); } });
  judge();
})();

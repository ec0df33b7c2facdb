// The page that judges a schema by all profiles as it is typed.
"use strict";
(async () => {
  const { fit } = csbdata;
  const LONGEST = 2000000;
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
  const VERDICTS = { refused: "\u2715 rejected", silent: "\u25d0 ignored in part", unknown: "? unknown", right: "\u2713 accepted" };
  const [field, file, example, status, result] = ["schema", "file", "example", "status", "result"].map((id) => document.getElementById(id));
  const tables = await csbdata.read("profiles");
  const escaped = (text) => fit.safe(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const code = (text) => `<code>${escaped(text)}</code>`;
  // What stands between backticks is code, unless a quotation has an odd one.
  const words = (text) => {
    const parts = text.split("`");
    return parts.length % 2 ? parts.map((part, index) => (index % 2 ? code(part) : escaped(part))).join("") : escaped(text);
  };
  const cell = (value, label) => `<td class="${typeof value === "number" ? "figure" : "text"}" data-label="${label}">${value}</td>`;
  const table = (caption, heads, rows) => `<div class="cards"><table><caption>${escaped(caption)}</caption>
    <thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead>
    <tbody>${rows.map(([first, ...cells]) => `<tr><th scope="row">${first}</th>${cells.map((value, index) => cell(value, heads[index + 1])).join("")}</tr>`).join("")}</tbody></table></div>`;

  function kindOf(findings, untold) {
    const has = (name) => findings.some(({ effect }) => effect === name);
    if (!fit.isTaken(findings)) return "refused";
    if (untold.length || has("unknown")) return "unknown";
    return has("ignored") ? "silent" : "right";
  }

  function badge(findings, untold) {
    const kind = kindOf(findings, untold);
    return `<span class="verdict ${kind}">${VERDICTS[kind]}</span>`;
  }

  const source = ({ url, title, date, evidence }) => {
    const name = escaped(`${title} (${date})`);
    return `${url ? `<a href="${escaped(url)}">${name}</a>` : name}, ${evidence}`;
  };

  function section([{ name, title, note }, findings, untold]) {
    const rows = findings.slice(0, SHOWN).map((it) => [code(it.pointer || "(root)"), escaped(it.keyword || it.rule), it.effect, words(it.sentence), source(it.source)]);
    const more = findings.length - rows.length;
    const notes = [
      untold.length && `No source says what happens to ${escaped(untold.join(", "))}.`,
      !fit.isTaken(findings) && `To rewrite it: ${code(`csbdata fit schema.json --for ${name} --write sent.json`)}`,
    ];
    const paragraphs = (texts) => texts.map((text) => (text ? `<p class="note">${text}</p>` : "")).join("");
    return `<section><h2 id="target-${name}">${escaped(title)}: ${badge(findings, untold)}</h2>
      ${paragraphs([words(note)])}
      ${rows.length ? table(`What ${title} rejects or ignores`, ["place", "about", "effect", "what", "source"], rows) : ""}
      ${paragraphs([more && `and ${fit.grouped(more)} more`, ...notes])}</section>`;
  }

  // Shows what becomes of a schema; returns the line above it.
  function judge(text) {
    result.replaceChildren();
    if (!text.trim()) return "Nothing is pasted yet.";
    if (text.length > LONGEST) return `Too long: at most ${fit.grouped(LONGEST)} characters are judged here; csbdata fit FILE has no such limit.`;
    let pasted;
    try {
      pasted = JSON.parse(text);
    } catch (error) {
      return `Not JSON: ${error.message}`;
    }
    const [tokens, schema] = fit.inRequest(pasted, tables) ?? [[], pasted];
    if (!fit.isSchema(schema)) return "No JSON Schema: neither an object nor a boolean.";
    const scan = new fit.Scan(schema, tables);
    const judged = tables.profiles.map((profile) => {
      const findings = fit.judge(scan, profile, tables);
      return [profile, findings, fit.untold(scan, profile, tables, findings)];
    });
    const count = (findings, ...effects) => findings.filter(({ effect }) => effects.includes(effect)).length;
    const rows = judged.map(([{ name, title }, findings, untold]) => [`<a href="#target-${name}">${escaped(title)}</a>`, badge(findings, untold),
      count(findings, "refused", "limited"), count(findings, "ignored"), count(findings, "routed")]);
    result.innerHTML = table("What becomes of it", ["target", "verdict", "refused", "ignored", "left to another engine"], rows) + judged.map(section).join("");
    const accepted = judged.filter(([, findings, untold]) => kindOf(findings, untold) === "right").length;
    const where = tokens.length ? ` It is the schema at ${fit.pointer(tokens)} of what was pasted, and judged alone.` : "";
    return `${accepted} of ${judged.length} targets accept all of it.${where}`;
  }

  const show = () => { status.textContent = fit.safe(judge(field.value)); };
  let timer;
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 150); });
  example.addEventListener("click", () => { field.value = JSON.stringify(EXAMPLE, null, 2); show(); });
  file.addEventListener("change", async () => { if (file.files[0]) { field.value = await file.files[0].text(); show(); } });
  show();
})();

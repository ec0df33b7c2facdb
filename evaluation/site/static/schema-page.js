// The page that judges schemas by all profiles as they are typed (`evaluation.site.schema`).
"use strict";
(() => {
  const { judge, safe } = csbdata;
  const EXAMPLE = {
    type: "object",
    properties: {
      email: { type: "string", format: "email" },
      payment: { oneOf: [{ type: "string" }, { type: "array", items: { minimum: 0 } }] },
    },
    required: ["email"],
  };
  const SIGNS = { rejected: ["refused", "\u2715"], "ignored in part": ["silent", "\u25d0"], unknown: ["unknown", "?"], accepted: ["right", "\u2713"] };
  const [field, file, example, status, result] = ["schema", "file", "example", "status", "result"].map((id) => document.getElementById(id));
  const escaped = (text) => safe(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const words = (text) => escaped(text).replace(/`([^`]*)`/g, "<code>$1</code>");
  const code = (text) => `<code>${escaped(text)}</code>`;

  function section({ name, fault, targets }) {
    const heading = name ? `<h2>${escaped(name)}</h2>` : "";
    if (fault) return `${heading}<p>Not a valid schema: ${escaped(fault)}. ${code("csbdata check FILE")} says where.</p>`;
    return heading + targets.map(([{ title, note }, verdict, findings]) => {
      const [tone, sign] = SIGNS[verdict];
      const why = findings.slice(0, 100).map(({ pointer, sentence, source, evidence }) => `<li>${code(pointer || "(root)")}: ${words(sentence)} <small>(${escaped(source)}, ${evidence})</small></li>`);
      return `<details class="${tone}"><summary>${escaped(title)}: <b>${sign} ${verdict}</b></summary><ul>${why.join("")}</ul><p class="note">${words(note)}</p></details>`;
    }).join("");
  }

  // Shows what happens to a text; returns the line above it.
  function show(text) {
    result.replaceChildren();
    if (!text.trim()) return "Nothing is pasted yet.";
    if (text.length > 200000) return `Too long for this page: at most 200,000 characters; csbdata fit FILE has no such limit.`;
    let judged;
    try {
      judged = judge(JSON.parse(text, (_, value) => (value && typeof value === "object" && !Array.isArray(value) ? new Map(Object.entries(value)) : value)));
    } catch (error) {
      if (error instanceof SyntaxError && !/^\s*["{[/]/.test(text)) return "Not JSON. csbdata fit FILE reads YAML; for this page, convert it: yq -o=json FILE.";
      if (error instanceof SyntaxError) return `Not JSON: ${error.message}. Comments are read by csbdata fit FILE.jsonc.`;
      return `This page cannot judge it (${error.message}); csbdata fit FILE can.`;
    }
    result.innerHTML = judged.map(section).join("");
    const usable = judged.filter(({ fault }) => !fault);
    if (!usable.length) return "No target can use it.";
    const all = usable[0].targets.filter((_, at) => usable.every(({ targets }) => targets[at][1] === "accepted"));
    const what = judged.length > 1 ? "the whole request" : "all of it";
    return `${all.length} of ${usable[0].targets.length} targets accept ${what}.`;
  }

  const update = () => { status.textContent = safe(show(field.value)); };
  let timer;
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(update, 150); });
  example.addEventListener("click", () => { field.value = JSON.stringify(EXAMPLE, null, 2); update(); });
  file.addEventListener("change", async () => { if (file.files[0]) { field.value = await file.files[0].text(); update(); } });
  update();
})();

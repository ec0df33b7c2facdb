// The page that judges schemas by all profiles as they are typed (`evaluation.site.schema`).
"use strict";
(() => {
  const { judge, rewrite, safe } = csbdata;
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

  let judged = [];
  function section({ name, fault, targets }, of) {
    const heading = name ? `<h2>${escaped(name)}</h2>` : "";
    if (fault) return `${heading}<p>Not a valid schema: ${escaped(fault)}. ${code("csbdata check FILE")} says where.</p>`;
    return heading + targets.map(([{ title, note }, verdict, findings], at) => {
      const [tone, sign] = SIGNS[verdict];
      const why = findings.slice(0, 100).map(({ pointer, sentence, source, evidence }) => `<li>${code(pointer || "(root)")}: ${words(sentence)} <small>(${escaped(source)}, ${evidence})</small></li>`);
      return `<details class="${tone}" id="${of}-${at}"><summary>${escaped(title)}: <b>${sign} ${verdict}</b></summary><ul>${why.join("")}</ul><p class="note">${words(note)}</p></details>`;
    }).join("");
  }

  // Shows what happens to a text; returns the line above it.
  function show(text) {
    result.replaceChildren();
    if (!text.trim()) return "Nothing is pasted yet.";
    if (text.length > 200000) return `Too long for this page: at most 200,000 characters; csbdata fit FILE has no such limit.`;
    try {
      judged = judge(text);
    } catch (error) {
      return `This page cannot judge it (${error.message}); csbdata fit FILE can.`;
    }
    result.innerHTML = judged.map(section).join("");
    const usable = judged.filter(({ fault }) => !fault);
    if (!usable.length) return "No target can use it.";
    const all = usable[0].targets.filter((_, at) => usable.every(({ targets }) => targets[at][1] === "accepted"));
    const what = judged.length > 1 ? "the whole request" : "all of it";
    return `${all.length} of ${usable[0].targets.length} targets accept ${what}.`;
  }

  // Shows below the reasons of a target what it accepts instead, once they are opened.
  function offer(details) {
    const [of, at] = details.id.split("-"), { schema, targets } = judged[of], [profile, verdict] = targets[at];
    if (verdict !== "rejected" || !schema || details.querySelector("pre, .command")) return;
    let found = null;
    try { found = rewrite(schema, profile); } catch { /* The command has no such limit. */ }
    const words = found ? `Rewritten (${found.steps}): <b>${found.verdict}</b> <button type="button">Copy</button>`
      : `A rewrite that it accepts is found by ${code(`csbdata fit your.json --for ${profile.name} --write sent.json`)}, if there is one.`;
    details.insertAdjacentHTML("beforeend", `<p class="command">${words}</p>${found ? `<pre>${escaped(JSON.stringify(JSON.parse(found.schema), null, 2))}</pre>` : ""}`);
  }

  const update = () => { status.textContent = safe(show(field.value)); };
  result.addEventListener("toggle", ({ target }) => offer(target), true);
  result.addEventListener("click", ({ target }) => {
    if (target.type !== "button") return;
    getSelection().selectAllChildren(target.closest("details").querySelector("pre"));
    document.execCommand("copy");
    target.textContent = "Copied";
  });
  let timer;
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(update, 150); });
  example.addEventListener("click", () => { field.value = JSON.stringify(EXAMPLE, null, 2); update(); });
  file.addEventListener("change", async () => { if (file.files[0]) { field.value = await file.files[0].text(); update(); } });
  update();
})();

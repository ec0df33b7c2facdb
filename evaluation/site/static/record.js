// Shows the record that the address names behind `#`: CONFIG/ID. Its part of the page is
// written by `evaluation.site.records`, with all foreign text escaped.
"use strict";
const [place, input, state] = ["record", "name", "state"].map((id) => document.getElementById(id));

// As `evaluation.site.records.bundle_number`: the script that holds a record is told by its name.
const bundle = (name) => [...new TextEncoder().encode(name)]
  .reduce((value, byte) => (31 * value + byte) % place.dataset.scripts, 0);

// The records of one script, which sets `packed`: base64 of gzip of JSON. On `file://` there is no `fetch`.
const load = (number) => new Promise((resolve, reject) => {
  const script = document.createElement("script");
  script.src = `records/${number}.js`;
  script.onload = () => {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    resolve(new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json());
  };
  script.onerror = () => reject(new Error(`no ${script.src}`));
  document.head.append(script);
});

const wanted = () => decodeURIComponent(location.hash.slice(1));

async function show() {
  const name = wanted();
  input.value = name;
  place.replaceChildren();
  state.textContent = name ? "reading" : "";
  if (!name) return;
  let [content, message] = ["", ""];
  try {
    const records = await load(bundle(name));
    if (Object.hasOwn(records, name)) content = records[name];
    else message = "no such record in this edition";
  } catch (error) {
    message = `cannot be read: ${error.message}`;
  }
  // While a script is read the address may change, and change back.
  if (name !== wanted()) return;
  place.innerHTML = content;
  state.textContent = message;
  const title = place.querySelector("section")?.dataset.name ?? "A record";
  document.querySelector("h1").textContent = title;
  document.title = `${title} · csbdata`;
}

input.addEventListener("change", () => { location.hash = encodeURIComponent(input.value.trim()).replaceAll("%2F", "/"); });
addEventListener("hashchange", show);
show();

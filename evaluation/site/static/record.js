// Shows the record that the address names behind `#`: CONFIG/ID. Its part of the page is
// written by `evaluation.site.records`, with all foreign text escaped.
"use strict";
const [place, input, state] = ["record", "name", "state"].map((id) => document.getElementById(id));

// As `evaluation.site.records.bundle_of`: the script that holds a record is told by its name.
const bundle = (name) => [...new TextEncoder().encode(name)]
  .reduce((value, byte) => (31 * value + byte) % place.dataset.scripts, 0);

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

const wanted = () => decodeURIComponent(location.hash.slice(1));

async function show() {
  const name = wanted();
  input.value = name;
  place.replaceChildren();
  state.textContent = name ? "reading" : "";
  if (!name) return;
  let message = "";
  try {
    const records = await load(bundle(name));
    // While a script is read the address may change, and change back.
    if (name !== wanted()) return;
    if (Object.hasOwn(records, name)) place.innerHTML = records[name];
    else message = "no such record in this edition";
  } catch (error) {
    if (name !== wanted()) return;
    message = `cannot be read: ${error.message}`;
  }
  state.textContent = message;
  const title = place.querySelector("section")?.dataset.name ?? "A record";
  document.querySelector("h1").textContent = title;
  document.title = `${title} · csbdata`;
}

input.addEventListener("change", () => { location.hash = `#${encodeURIComponent(input.value.trim()).replaceAll("%2F", "/")}`; });
addEventListener("hashchange", show);
show();

// Reads the data scripts: each calls `csbdata.data`, and its text is opened when it is asked for.
"use strict";
var csbdata = globalThis.csbdata ??= {};
csbdata.packed = {};
csbdata.data = (name, text) => { csbdata.packed[name] = text; };
csbdata.read = async (name) => {
  const bytes = Uint8Array.from(atob(csbdata.packed[name]), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
};

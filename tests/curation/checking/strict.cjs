// Prints for each JSON text of a list on stdin whether ajv's strict mode refuses it.
"use strict";
const kinds = [
  [/draft-04/, require("ajv-draft-04")],
  [/draft-0[67]/, require("ajv")],
  [/2019-09/, require("ajv/dist/2019")],
  [/./, require("ajv/dist/2020")],
].map(([pattern, it]) => [pattern, it.default ?? it]);
const refused = (text) => {
  try {
    const schema = JSON.parse(text);
    const dialect = String(schema.$schema ?? "2020-12");
    const Ajv = kinds.find(([pattern]) => pattern.test(dialect))[1];
    new Ajv({ strict: true, allErrors: true, logger: false, validateFormats: false }).compile(schema);
    return false;
  } catch {
    return true;
  }
};
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map(refused)));

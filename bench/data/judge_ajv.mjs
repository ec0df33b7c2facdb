// AJV as a judge: one JSON object a line in, one out.
// In: {dialect, schema, texts, formats}; out: {verdicts} or {error}.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const Ajv = require("ajv").default;
const Ajv04 = require("ajv-draft-04").default;
const Ajv2019 = require("ajv/dist/2019").default;
const Ajv2020 = require("ajv/dist/2020").default;
const addFormats = require("ajv-formats").default;

const CLASSES = {
  "draft-04": Ajv04,
  "draft-06": Ajv,
  "draft-07": Ajv,
  "2019-09": Ajv2019,
  "2020-12": Ajv2020,
};

function judged({ dialect, schema, texts, formats }) {
  const options = {
    strict: false,
    logger: false,
    validateSchema: false,
    validateFormats: formats,
  };
  const ajv = new CLASSES[dialect](options);
  addFormats(ajv);
  const parsed = JSON.parse(schema);
  // The dialect is told; an unknown `$schema` would be looked for. `$async` is a
  // keyword of AJV's own, which answers with promises then.
  if (typeof parsed === "object") {
    delete parsed.$schema;
    delete parsed.$async;
  }
  const validate = ajv.compile(parsed);
  return { verdicts: texts.map((text) => Boolean(validate(JSON.parse(text)))) };
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = judged(JSON.parse(line));
  } catch (error) {
    answer = { error: String(error.message).slice(0, 200) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}

// json-schema-faker as a process: its synchronous generator with its own defaults,
// one schema a line on stdin, one answer a line on stdout. No resolver is given, so
// references are resolved inside the schema and nothing is fetched.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createGeneratorSync } from "json-schema-faker";

const FAILURES = 20;
const WARMING = {
  type: "object",
  properties: {
    name: { type: "string" },
    time: { type: "string", format: "date-time" },
    code: { type: "string", pattern: "^[a-z]+$" },
    sizes: { type: "array", items: { type: "number" } },
  },
  required: ["name", "time", "code", "sizes"],
};

function answer({ schema, seconds }) {
  const values = [];
  const start = performance.now();
  const until = start + 1000 * seconds;
  const generator = createGeneratorSync({ seed: 1 });
  let failures = 0;
  let ended = "in time";
  while (performance.now() < until) {
    try {
      const value = generator.generate(schema);
      failures = 0;
      // What is done too late does not count, as with the others.
      if (performance.now() < until) values.push(value);
    } catch (error) {
      failures += 1;
      if (failures === FAILURES) {
        ended = error?.constructor?.name ?? "Error";
        break;
      }
    }
  }
  const taken = Math.min(performance.now() - start, 1000 * seconds) / 1000;
  const texts = new Set();
  for (const value of values) {
    const text = written(value);
    if (text !== undefined) texts.add(text);
  }
  return { values: [...texts], seconds: taken, ended };
}

function written(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function say(object) {
  process.stdout.write(JSON.stringify(object) + "\n");
}

console.log = console.error;
const about = new URL("node_modules/json-schema-faker/package.json", import.meta.url);
answer({ schema: WARMING, seconds: 2 });
say({ version: JSON.parse(readFileSync(about)).version });
for await (const line of createInterface({ input: process.stdin })) {
  say(answer(JSON.parse(line)));
}

// Reads JSON without losing anything: objects are Maps in the order of the text, a number
// is a `Number` object that knows how it is spelled, so that no name is special and no
// order is another one than Python's.
"use strict";
var csbdata = globalThis.csbdata ??= {};
csbdata.json = (() => {
  const TOKEN = /"[^"\\]*(?:\\[^][^"\\]*)*"|[{}[\]]|[^\s{}[\]:,"]+/g;

  function numberOf(text) {
    const value = new Number(text);
    value.text = text;
    return value;
  }

  function scalar(token) {
    if (token === "null") return null;
    if (token === "true" || token === "false") return token === "true";
    return token[0] === '"' ? JSON.parse(token) : numberOf(token);
  }

  // Throws a SyntaxError as JSON.parse does.
  function parse(text) {
    JSON.parse(text);
    let result;
    const stack = [];
    let key;
    const put = (value) => {
      const top = stack.at(-1);
      if (!top) result = value;
      else if (Array.isArray(top.value)) top.value.push(value);
      else { top.value.delete(top.key); top.value.set(top.key, value); top.key = undefined; }
    };
    for (const [token] of text.matchAll(TOKEN)) {
      const top = stack.at(-1);
      if (token === "{" || token === "[") {
        const value = token === "{" ? new Map() : [];
        put(value);
        stack.push({ value });
      } else if (token === "}" || token === "]") stack.pop();
      else if (top && !Array.isArray(top.value) && top.key === undefined) top.key = JSON.parse(token);
      else put(scalar(token));
    }
    return result;
  }

  const isObject = (value) => value instanceof Map;
  const isNumber = (value) => value instanceof Number;
  const isSchema = (value) => isObject(value) || typeof value === "boolean";

  function typeOf(value) {
    if (value === null) return "null";
    if (isNumber(value)) return "number";
    return Array.isArray(value) ? "array" : isObject(value) ? "object" : typeof value;
  }

  // As Python spells a number: whole ones as they are, others as the shortest fraction.
  function spelled(number) {
    if (/^-?\d+$/.test(number.text)) return number.text === "-0" ? "0" : number.text;
    const [digits, power] = number.valueOf().toExponential().split("e");
    if (power >= 16 || power <= -6) return `${digits}e${Number(power)}`;
    const text = Object.is(number.valueOf(), -0) ? "-0" : String(number.valueOf());
    return text.includes(".") ? text : `${text}.0`;
  }

  // With `sorted`, equal values have equal texts.
  function write(value, sorted = false) {
    if (isNumber(value)) return sorted ? String(value.valueOf()) : spelled(value);
    if (Array.isArray(value)) return `[${value.map((item) => write(item, sorted)).join(",")}]`;
    if (!isObject(value)) return JSON.stringify(value);
    const names = sorted ? [...value.keys()].sort() : [...value.keys()];
    return `{${names.map((name) => `${JSON.stringify(name)}:${write(value.get(name), sorted)}`).join(",")}}`;
  }

  // Writes at most about `most` characters: enough for a quotation of them.
  function quoted(value, most) {
    let room = most;
    const short = (part) => {
      if (room <= 0) return null;
      if (typeof part === "string") { room -= part.length + 2; return part.slice(0, most * 2); }
      room -= 2;
      if (Array.isArray(part)) return part.slice(0, most).map(short);
      if (!isObject(part)) return part;
      return new Map([...part].slice(0, most).map(([name, inner]) => {
        room -= name.length + 3;
        return [name.slice(0, most * 2), short(inner)];
      }));
    };
    return write(short(value));
  }

  const UNSAFE = new RegExp("[\\x00-\\x1f\\x7f-\\x9f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e"
    + "\\u2060-\\u206f\\ud800-\\udfff\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]", "gu");

  // Control characters, and marks that reorder text, made visible.
  function safe(text) {
    return text.replace(UNSAFE, (character) => {
      const code = character.codePointAt(0);
      return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
    });
  }

  function shortened(text, length = 80) {
    const clean = [...safe([...text.slice(0, 2 * length + 2)].slice(0, length + 1).join(""))];
    return clean.length <= length ? clean.join("") : `${clean.slice(0, length - 3).join("")}...`;
  }

  const pointer = (tokens) => tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

  return { parse, write, quoted, safe, shortened, pointer, grouped, isObject, isNumber, isSchema, typeOf };
})();

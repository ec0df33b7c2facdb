// The types and functions of Python that translated rules use (`evaluation.site.translation`).
// An object of JSON is a Map, a tuple an array that is the same for the same members.
"use strict";
var csbdata = globalThis.csbdata ??= {};
csbdata.py = (() => {
  class Tuple extends Array {}
  class Made {
    constructor(...values) {
      const { names, defaults } = new.target;
      let others;
      names.forEach((name, at) => { this[name] = values[at] === undefined ? (others ??= defaults())[at] : values[at]; });
      this.$__init__?.(...values);
      this.$__post_init__?.();
    }
    // What PyYAML's parser does next.
    $state() { return this.state(); }
  }
  class Exception extends Error { constructor(...values) { super(values.join(": ")); this.$__init__?.(...values); } }
  class LookupError extends Exception {}
  class ValueError extends Exception {}
  class IndexError extends LookupError {}
  class UnicodeDecodeError extends ValueError {}
  class UnicodeEncodeError extends ValueError {}
  // A class with fields; of several others, it has what the later ones have as well.
  const struct = (names, defaults, base = Made, ...others) => {
    const kind = class extends base {};
    const calling = names.map((name) => [`$${name}`, { value(...all) { return this[name](...all); }, configurable: true }]);
    for (const other of others.reverse()) Object.defineProperties(kind.prototype, Object.getOwnPropertyDescriptors(other.prototype));
    return Object.assign(Object.defineProperties(kind, { prototype: { value: Object.defineProperties(kind.prototype, Object.fromEntries(calling)) } }), { names, defaults });
  };
  const known = new Map();
  const isArray = Array.isArray;
  const type = (value) => (value === null ? "NoneType" : value instanceof Tuple ? "tuple" : isArray(value) ? "list"
    : value instanceof Map ? "dict" : value instanceof Set ? "frozenset"
      : { string: "str", boolean: "bool", number: Number.isInteger(value) ? "int" : "float" }[typeof value] ?? "object");

  const isKey = (part) => typeof part === "string" || type(part) !== "object";
  const made = (parts) => Object.freeze(Tuple.from(parts));
  function of(...parts) {
    if (!parts.every(isKey)) return made(parts);
    const key = parts.every((part) => typeof part === "string") ? parts.join("\0") + parts.length : JSON.stringify(parts, (_, part) => (part instanceof Map || part instanceof Set ? part.id ??= Math.random() : part));
    if (!known.has(key)) known.set(key, made(parts));
    return known.get(key);
  }
  const like = (value, parts) => (value instanceof Tuple ? of(...parts) : typeof value === "string" ? parts.join("") : parts);
  const iter = (value) => (value instanceof Map ? value.keys() : value);
  const len = (value) => value.size ?? (typeof value === "string" ? signs(value) : value).length;
  const bool = (value) => (isArray(value) ? value.length > 0 : value instanceof Map || value instanceof Set ? value.size > 0 : Boolean(value));
  const json = (value, order = (pairs) => pairs) => JSON.stringify(value, (_, part) => (part instanceof Map ? Object.fromEntries(order([...part])) : part));
  const canonical = (value) => json(value, (pairs) => pairs.sort());
  // As `json.dumps` writes it, with members in their order.
  const dumps = (value) => {
    if (isArray(value)) return `[${value.map(dumps).join(", ")}]`;
    if (value instanceof Map) return `{${[...value].map((pair) => pair.map(dumps).join(": ")).join(", ")}}`;
    return JSON.stringify(value).replace(/[^ -~]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
  };
  // Members get names with a number, which keeps their order and shows equal ones.
  const loads = (text) => {
    let count = 0;
    const numbered = text.replace(/"((?:[^"\\]|\\.)*)"(\s*:)?/g, (whole, name, colon) => (colon ? `"${count += 1}.${name}":` : whole));
    const read = (_, value) => {
      if (Math.abs(value) === Infinity) throw new SyntaxError("a number is too large");
      if (typeof value !== "object" || value === null || isArray(value)) return value;
      const pairs = Object.entries(value), named = new Map(pairs.map(([name, part]) => [name.slice(name.indexOf(".") + 1), part]));
      if (named.size < pairs.length) throw new SyntaxError("a member stands twice");
      return named;
    };
    try { return JSON.parse(numbered, read); } catch (error) { throw new ValueError(error.message); }
  };
  const eq = (a, b) => a === b || (typeof a === "object" && type(a) === type(b) && a?.constructor === b?.constructor
    && (a instanceof Set ? a.size === b.size && le(a, b) : canonical(a) === canonical(b)));
  const has = (all, value) => (all instanceof Map || all instanceof Set ? all.has(value)
    : typeof all === "string" ? all.includes(value) : [...all].some((part) => eq(part, value)));
  const le = (a, b) => (a instanceof Set ? [...a].every((part) => b.has(part)) : a <= b);
  const lt = (a, b) => a < b;
  const sub = (a, b) => (a instanceof Set ? new Set([...a].filter((part) => !has(b, part))) : a - b);
  const add = (a, b) => (isArray(a) ? like(a, [...a, ...b]) : a + b);
  const union = (a, b) => (a instanceof Map && b instanceof Map ? new Map([...a, ...b]) : typeof a === "function" || typeof b === "function" ? [a, b].flat() : typeof a === "boolean" ? a || b : new Set([...a, ...iter(b)]));
  const common = (a, b) => a.$__and__?.(b) ?? new Set([...a].filter((part) => has(b, part)));
  const str = (value, commas) => (commas ? value.toLocaleString("en") : value === null ? "None" : typeof value === "boolean" ? (value ? "True" : "False") : String(value));
  const sorted = (all, { key = (part) => part } = {}) => [...iter(all)].map((part) => [key(part), part]).sort(([a], [b]) => (a < b ? -1 : Number(a > b))).map(([, part]) => part);
  const max = (...all) => Math.max(...all.flat());
  const min = (all, other) => (typeof all === "number" ? Math.min(all, other) : all.length ? Math.min(...all) : other?.default);
  const range = (first, end, step) => Array.from({ length: Math.max(0, (end - first) / step) }, (_, at) => first + at * step);
  const mul = (a, count) => (typeof a === "string" ? a.repeat(count) : isArray(a) ? Array(count).fill(a).flat(1) : a * count);
  const isa = (value, kinds) => (isArray(kinds) ? kinds.some((kind) => isa(value, kind)) : kinds.kind ? type(value) === kinds.kind : value instanceof kinds);
  const signs = (text) => (text.length < 100 ? [...text] : signsOfLong(text));
  const get = (whole, key) => {
    const all = typeof whole === "string" ? signs(whole) : whole;
    if (isArray(key) && !(key instanceof Tuple)) return like(whole, all.slice(key[0] ?? 0, key[1] ?? undefined));
    const value = all instanceof Map ? (all.has(key) ? all.get(key) : all.make?.(key)) : all.groups ? all.groups[key] ?? null : all.at(key);
    if (value === undefined) throw new LookupError(key);
    return value;
  };
  const defaultdict = (make) => {
    const found = new Map();
    return Object.assign(found, { make: (key) => { found.set(key, make([])); return found.get(key); } });
  };
  // The last answers, by the very arguments.
  const remembered = (does) => {
    const kept = [];
    return (...values) => {
      let entry = kept.find(([own]) => own.every((value, at) => value === values[at]));
      if (!entry) { entry = [values, does(...values)]; kept.unshift(entry); kept.splice(8); }
      return entry[1];
    };
  };
  const signsOfLong = remembered((text) => [...text]);
  const methods = (kind, all) => { for (const [name, does] of Object.entries(all)) Object.defineProperty(kind.prototype, `$${name}`, { value: does }); };
  methods(Map, {
    items() { return [...this]; }, keys() { return new Set(this.keys()); }, values() { return [...this.values()]; },
    get(key, other = null) { return this.has(key) ? this.get(key) : other; },
    setdefault(key, value = null) { if (!this.has(key)) this.set(key, value); return this.get(key); },
    update(more) { for (const [key, value] of more) this.set(key, value); }, clear() { this.clear(); }, copy() { return new Map(this); },
    pop(key, other) { const value = this.has(key) ? this.get(key) : other; this.delete(key); return value; },
  });
  const disjoint = function (more) { return ![...this.keys()].some((part) => has(more, part)); };
  methods(Map, { isdisjoint: disjoint });
  methods(Set, {
    isdisjoint: disjoint, add(value) { this.add(value); }, update(more) { for (const part of iter(more)) this.add(part); },
    intersection(more) { return common(this, more); }, union(...all) { return new Set([...this, ...all.flatMap((more) => [...iter(more)])]); },
  });
  methods(Array, {
    group() { return this[0]; }, start() { return this.index; },
    append(value) { this.push(value); }, extend(more) { for (const part of more) this.push(part); }, insert(at, value) { this.splice(at, 0, value); },
    pop(at = -1) { return this.splice(at, 1)[0]; },
  });
  methods(String, {
    startswith(start) { return [start].flat().some((text) => this.startsWith(text)); }, endswith(end) { return [end].flat().some((text) => this.endsWith(text)); },
    join(parts) { return [...parts].join(this); }, split(by) { return by ? this.split(by) : this.trim().split(/\s+/); }, encode() { return String(this); }, decode() { return String(this); },
    replace(old, text) { return this.replaceAll(old, text); }, count(text) { return this.split(text).length - 1; },
    removesuffix(end) { return end && this.endsWith(end) ? this.slice(0, -end.length) : String(this); },
    removeprefix(start) { return start && this.startsWith(start) ? this.slice(start.length) : String(this); },
    partition(by) { const at = this.indexOf(by); return at < 0 ? [String(this), "", ""] : [this.slice(0, at), by, this.slice(at + by.length)]; },
  });
  methods(Number, { is_integer() { return Number.isInteger(Number(this)); } });
  methods(RegExp, {
    search(text) { return text.match(this); },
    fullmatch(text) { return text.match(new RegExp(`^(?:${this.source})$`, this.flags)); },
    sub(by, text) { return text.replace(new RegExp(this, `${this.flags}g`), by); },
  });
  const replace = (value, changes) => Object.assign(Object.create(Object.getPrototypeOf(value)), value, changes);
  // As jsonschema-rs does: a sign that needs no backslash may have one.
  const plainer = (whole, sign) => (/[-\s!"#%&',:;<=>@_`~]/.test(sign) ? `\\x${sign.charCodeAt(0).toString(16)}` : whole);
  const is_readable = (text) => { try { return Boolean(new RegExp(text.replace(/\\(.)/gsu, plainer), "u")); } catch { return false; } };
  const _visible = (sign) => {
    const hex = sign.codePointAt(0).toString(16);
    return hex.length > 4 ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
  };
  const KINDS = {
    str, bool, int: (value, base) => (base ? parseInt(value, base) : Number(value)), float: (value) => Number(value), dict: (all) => new Map(all), list: (all = []) => [...iter(all)], tuple: (all) => of(...iter(all)),
    set: (all = []) => new Set(iter(all)), frozenset: (all = []) => new Set(iter(all)),
  };
  for (const [name, kind] of Object.entries(KINDS)) kind.kind ??= name;
  KINDS.dict.$fromkeys = (names, value = null) => new Map([...iter(names)].map((name) => [name, value]));
  const json_ = { $dumps: dumps, dumps, $loads: loads };
  return {
    ...KINDS, Exception, LookupError, ValueError, UnicodeDecodeError, UnicodeEncodeError, IndexError, struct, min, mul, json: json_, of, parts: iter, iter: (value) => iter(value)[Symbol.iterator](), len, canonical, eq, has, le, lt, sub, add, union, common, sorted, max, get, defaultdict, remembered, is_readable, _visible,
    isinstance: isa, keep: (self, name, value) => { Object.defineProperty(self, name, { value }); return value; },
    put: (all, key, value) => all.set(key, value),
    first: (isTrue, ...values) => { let value; for (const each of values) { value = each(); if (bool(value) === isTrue) break; } return value; },
    any: (all) => [...all].some(bool), all: (all) => [...all].every(bool), sum: (all) => [...all].reduce((a, b) => a + Number(b), 0),
    map: (does, all) => [...iter(all)].map((part) => does(part)),
    enumerate: (all) => [...iter(all)].map((part, at) => [at, part]), reversed: (all) => [...iter(all)].reverse(),
    next: (all, other) => { for (const part of all) return part; return other; }, replace,
    type: (value) => KINDS[type(value)], cast: (_, value) => value, getattr: (value, name, other) => value[name] ?? other, filter: (does, all) => [...iter(all)].filter((part) => does(part)),
    range: (first, end, step = 1) => (end === undefined ? range(0, first, 1) : range(first, end, step)),
    zip: (...all) => [...all[0]].map((_, at) => all.filter((each) => !(each?.strict)).map((each) => each[at])),
    mod: (text, values) => [values].flat().reduce((whole, value) => whole.replace(/%[rsd]/, () => value), text),
    chr: (code) => { if (code > 0x10ffff || (code > 0xd7ff && code < 0xe000)) throw new ValueError("no character"); return String.fromCodePoint(code); },
    ord: (sign) => sign.codePointAt(0), bytes: (codes) => String.fromCharCode(...codes), math: { $isfinite: Number.isFinite, nan: NaN }, time: { $thread_time: () => performance.now() / 1000 },
    quote: (all, { safe }) => all.replace(/[^\w.~-]/gu, (sign) => (safe.includes(sign) ? sign : encodeURIComponent(sign))),
    raised: (error) => (typeof error === "function" ? new error() : error), suppress: (...kinds) => kinds,
    msgspec: { json: { $encode: (value) => ({ $decode: () => json(value) }) } },
    write: json,
    re: { $fullmatch: (text, value) => value.match(new RegExp(`^(?:${text})$`, "su")) },
    unquote: (text) => { try { return decodeURIComponent(text.replace(/%(?![0-9A-Fa-f]{2})/g, "%25")); } catch { return text; } },
    _joined: (base, text) => {
      let whole = text;
      try { whole = base ? new URL(text, base).href : text; } catch { whole = text; }
      const [url, ...rest] = whole.split("#");
      return of(url, rest.join("#"));
    },
  };
})();

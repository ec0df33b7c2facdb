// The types and functions of Python that translated rules use (`evaluation.site.translation`).
// An object of JSON is a Map, a tuple an array that is the same for the same members.
"use strict";
var csbdata = globalThis.csbdata ??= {};
csbdata.py = (() => {
  class Tuple extends Array {}
  class Raised extends Error {
    constructor(name, ...values) { super(`${name}: ${values.join(": ")}`); this.name = name; }
  }
  const known = new Map();
  const isArray = Array.isArray;
  const type = (value) => (value === null ? "NoneType" : value instanceof Tuple ? "tuple" : isArray(value) ? "list"
    : value instanceof Map ? "dict" : value instanceof Set ? "frozenset"
      : { string: "str", boolean: "bool", number: Number.isInteger(value) ? "int" : "float" }[typeof value] ?? "object");

  function of(...parts) {
    const key = parts.every((part) => typeof part === "string") ? parts.join("\0") + parts.length : JSON.stringify(parts, (_, part) => (part instanceof Map || part instanceof Set ? part.id ??= Math.random() : part));
    if (!known.has(key) || parts.some((part) => type(part) === "object")) known.set(key, Object.freeze(Tuple.from(parts)));
    return known.get(key);
  }
  const like = (value, parts) => (value instanceof Tuple ? of(...parts) : typeof value === "string" ? parts.join("") : parts);
  const iter = (value) => (value instanceof Map ? value.keys() : value);
  const len = (value) => value.size ?? (typeof value === "string" ? [...value] : value).length;
  const bool = (value) => (typeof value === "object" && value !== null ? (value.size ?? value.length) !== 0 : Boolean(value));
  const json = (value, order = (pairs) => pairs) => JSON.stringify(value, (_, part) => (part instanceof Map ? Object.fromEntries(order([...part])) : part));
  const canonical = (value) => json(value, (pairs) => pairs.sort());
  const eq = (a, b) => a === b || (typeof a === "object" && type(a) === type(b) && type(a) !== "object"
    && (a instanceof Set ? a.size === b.size && le(a, b) : canonical(a) === canonical(b)));
  const has = (all, value) => (all instanceof Map || all instanceof Set ? all.has(value)
    : typeof all === "string" ? all.includes(value) : [...all].some((part) => eq(part, value)));
  const le = (a, b) => (a instanceof Set ? [...a].every((part) => b.has(part)) : a <= b);
  const lt = (a, b) => a < b;
  const sub = (a, b) => (a instanceof Set ? new Set([...a].filter((part) => !has(b, part))) : a - b);
  const add = (a, b) => (isArray(a) ? like(a, [...a, ...b]) : a + b);
  const union = (a, b) => (typeof a === "function" || typeof b === "function" ? [a, b].flat() : typeof a === "boolean" ? a || b : new Set([...a, ...iter(b)]));
  const common = (a, b) => new Set([...a].filter((part) => has(b, part)));
  const str = (value, commas) => (commas ? value.toLocaleString("en") : value === null ? "None" : typeof value === "boolean" ? (value ? "True" : "False") : String(value));
  const sorted = (all) => [...iter(all)].sort((a, b) => (a < b ? -1 : Number(a > b)));
  const max = (...all) => Math.max(...all.flat());
  const isa = (value, kinds) => (isArray(kinds) ? kinds.some((kind) => isa(value, kind)) : kinds.kind ? type(value) === kinds.kind : value instanceof kinds);
  const get = (all, key) => {
    if (isArray(key) && !(key instanceof Tuple)) return like(all, [...all].slice(key[0] ?? 0, key[1] ?? undefined));
    const value = all instanceof Map ? (all.has(key) ? all.get(key) : all.make?.(key)) : all.groups ? all.groups[key] ?? null : [...all].at(key);
    if (value === undefined) throw new Raised("LookupError", key);
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
  const methods = (kind, all) => { for (const [name, does] of Object.entries(all)) Object.defineProperty(kind.prototype, `$${name}`, { value: does }); };
  methods(Map, {
    items() { return [...this]; }, keys() { return new Set(this.keys()); }, values() { return [...this.values()]; },
    get(key, other = null) { return this.has(key) ? this.get(key) : other; },
    setdefault(key, value = null) { if (!this.has(key)) this.set(key, value); return this.get(key); },
  });
  const disjoint = function (more) { return ![...this.keys()].some((part) => has(more, part)); };
  methods(Map, { isdisjoint: disjoint });
  methods(Set, {
    isdisjoint: disjoint, add(value) { this.add(value); }, update(more) { for (const part of iter(more)) this.add(part); },
  });
  methods(Array, { append(value) { this.push(value); }, pop() { return this.pop(); } });
  methods(String, {
    startswith(start) { return [start].flat().some((text) => this.startsWith(text)); }, endswith(end) { return [end].flat().some((text) => this.endsWith(text)); },
    join(parts) { return [...parts].join(this); }, split(by) { return this.split(by); },
    replace(old, text) { return this.replaceAll(old, text); }, count(text) { return this.split(text).length - 1; },
    removeprefix(start) { return start && this.startsWith(start) ? this.slice(start.length) : String(this); },
    partition(by) { const at = this.indexOf(by); return at < 0 ? [String(this), "", ""] : [this.slice(0, at), by, this.slice(at + by.length)]; },
  });
  methods(Number, { is_integer() { return Number.isInteger(Number(this)); } });
  methods(RegExp, {
    search(text) { return text.match(this); },
    fullmatch(text) { return text.match(new RegExp(`^(?:${this.source})$`, this.flags)); },
    sub(by, text) { return text.replace(new RegExp(this, `${this.flags}g`), by); },
  });
  // As jsonschema-rs does: a sign that needs no backslash may have one.
  const plainer = (whole, sign) => (/[-\s!"#%&',:;<=>@_`~]/.test(sign) ? `\\x${sign.charCodeAt(0).toString(16)}` : whole);
  const is_readable = (text) => { try { return Boolean(new RegExp(text.replace(/\\(.)/gsu, plainer), "u")); } catch { return false; } };
  const _visible = (sign) => {
    const hex = sign.codePointAt(0).toString(16);
    return hex.length > 4 ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
  };
  const KINDS = {
    str, bool, int: (value) => Number(value), float: (value) => Number(value), dict: (all) => new Map(all), list: (all = []) => [...iter(all)], tuple: (all) => of(...iter(all)),
    set: (all = []) => new Set(iter(all)), frozenset: (all = []) => new Set(iter(all)),
  };
  for (const [name, kind] of Object.entries(KINDS)) kind.kind ??= name;
  return {
    ...KINDS, Raised, of, iter, len, canonical, eq, has, le, lt, sub, add, union, common, sorted, max, get, defaultdict, remembered, is_readable, _visible,
    isinstance: isa, keep: (self, name, value) => { Object.defineProperty(self, name, { value }); return value; },
    put: (all, key, value) => all.set(key, value),
    first: (isTrue, ...values) => { let value; for (const each of values) { value = each(); if (bool(value) === isTrue) break; } return value; },
    any: (all) => [...all].some(bool), all: (all) => [...all].every(bool), sum: (all) => [...all].reduce((a, b) => a + Number(b), 0),
    map: (does, all) => [...iter(all)].map((part) => does(part)),
    enumerate: (all) => [...iter(all)].map((part, at) => [at, part]), reversed: (all) => [...iter(all)].reverse(),
    next: (all, other) => { for (const part of all) return part; return other; }, replace: (value, changes) => Object.assign(Object.create(value), changes),
    caught: (error, kinds) => { if (!(error instanceof Raised) || ![kinds].flat().includes(error.name)) throw error; },
    LookupError: "LookupError", ValueError: "ValueError",
    struct: (names, ...others) => class { constructor(...values) { names.forEach((name, at) => { this[name] = values[at] === undefined ? others[at] : values[at]; }); } },
    msgspec: { json: { $encode: (value) => ({ $decode: () => json(value) }) } }, text: { $write: json },
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

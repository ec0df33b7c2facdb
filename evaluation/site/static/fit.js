// Judges a schema by the profiles of targets as `csbdata fit` does, from its own tables
// (`evaluation.site.schema`); a test holds both to the same answers. Of references only
// those into the document are followed, by pointer or anchor.
"use strict";
var csbdata = globalThis.csbdata ??= {};
csbdata.fit = (() => {
  const IN_PLACE = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
  const DEFINITIONS = ["$defs", "definitions"];
  const UNSAFE = new RegExp("[\\x00-\\x1f\\x7f-\\x9f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e"
    + "\\u2060-\\u206f\\ud800-\\udfff\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]", "gu");
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const isSchema = (value) => isObject(value) || typeof value === "boolean";
  const has = (value, name) => isObject(value) && Object.hasOwn(value, name);
  const member = (value, name) => (has(value, name) || (Array.isArray(value) && /^\d+$/.test(name)) ? value[name] : undefined);
  const objectAt = (value, name) => (isObject(member(value, name)) ? value[name] : {});
  const listAt = (value, name) => (Array.isArray(member(value, name)) ? value[name] : []);
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const strings = (values) => values.filter((value) => typeof value === "string");
  const length = (text) => [...text].length;
  const pointer = (tokens) => tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
  const listed = (names) => names.join(", ");
  const code = (name) => `\`${name}\``;
  const quoted = (value) => code(shortened(JSON.stringify(value)));

  // Control characters, and marks that reorder text, made visible.
  function safe(text) {
    return text.replace(UNSAFE, (character) => {
      const point = character.codePointAt(0);
      return point > 0xffff ? `\\U${point.toString(16).padStart(8, "0")}` : `\\u${point.toString(16).padStart(4, "0")}`;
    });
  }

  function shortened(text) {
    const clean = [...safe([...text.slice(0, 130)].slice(0, 61).join(""))];
    return clean.length <= 60 ? clean.join("") : `${clean.slice(0, 57).join("")}...`;
  }

  function typeOf(value) {
    if (value === null) return "null";
    return Array.isArray(value) ? "array" : typeof value;
  }

  // The schemas directly inside a schema, each with its tokens.
  function children(schema, applicators) {
    const found = [];
    for (const [keyword, value] of isObject(schema) ? Object.entries(schema) : []) {
      const shape = member(applicators, keyword);
      if (Array.isArray(value)) {
        if (shape === "SCHEMAS" || shape === "EITHER") value.forEach((item, index) => found.push([[keyword, String(index)], item]));
      } else if (shape === "SCHEMA" || shape === "EITHER") found.push([[keyword], value]);
      else if (shape && shape !== "SCHEMAS" && isObject(value)) {
        for (const [name, inner] of Object.entries(value)) found.push([[keyword, name], inner]);
      }
    }
    return found.filter(([, value]) => isSchema(value));
  }

  // Everything that checks ask about one schema: its subschemas, those that references
  // alone reach included, and where its references lead.
  class Scan {
    constructor(schema, { dialects }) {
      const uri = String(member(schema, "$schema")).replace(/^https?:\/\/(www\.)?|#$/g, "");
      const dialect = dialects[uri] ?? dialects[""];
      this.schema = schema;
      this.id = dialect.id;
      this.byKey = new Map();
      this.references = [];
      const anchors = new Map();
      const starts = [{ tokens: [], key: "", schema }];
      while (starts.length) {
        const stack = [starts.pop()];
        while (stack.length) {
          const place = stack.pop();
          if (this.byKey.has(place.key) || !isSchema(place.schema)) continue;
          this.byKey.set(place.key, place);
          for (const name of dialect.anchors) {
            const anchor = member(place.schema, name);
            if (typeof anchor === "string" && !anchors.has(anchor)) anchors.set(anchor, place);
          }
          for (const keyword of dialect.references) {
            const text = member(place.schema, keyword);
            if (typeof text === "string") this.references.push({ ...place, keyword, text });
          }
          const inner = children(place.schema, dialect.applicators).map(([path, value]) => {
            const tokens = [...place.tokens, ...path];
            return { tokens, key: pointer(tokens), schema: value };
          });
          stack.push(...inner.reverse());
        }
        for (const reference of this.references) {
          if (reference.target) continue;
          reference.target = lookup(schema, reference.text, anchors);
          if (reference.target) starts.push(reference.target);
        }
      }
      this.places = [...this.byKey.values()];
      this.holders = new Map();
      for (const { tokens, key } of this.places) {
        const count = tokens.findLastIndex((_, index) => this.byKey.has(pointer(tokens.slice(0, index))));
        if (count >= 0) this.holders.set(key, [pointer(tokens.slice(0, count)), tokens[count], tokens[count + 1]]);
      }
      this.recursive = recursive(this.references);
    }

    // The most objects and arrays inside each other, references followed.
    get depth() {
      const depths = new Map();
      const raise = (map, key, value) => map.set(key, Math.max(value, map.get(key) ?? 0));
      for (let pass = 0, before = ""; pass <= this.references.length; pass += 1) {
        const inner = new Map();
        for (const { key, schema } of this.places.toReversed()) {
          let own = Number(isObjectSchema(schema) || typesOf(schema).includes("array")) + (inner.get(key) ?? 0);
          for (const it of this.references) {
            if (it.key === key && it.target && !this.recursive.has(key)) own = Math.max(own, depths.get(it.target.key) ?? 0);
          }
          raise(depths, key, own);
          const [holder, keyword] = this.holders.get(key) ?? ["", "$defs"];
          if (IN_PLACE.includes(keyword)) raise(depths, holder, depths.get(key));
          else if (!DEFINITIONS.includes(keyword)) raise(inner, holder, depths.get(key));
        }
        const now = JSON.stringify([...depths]);
        if (now === before) break;
        before = now;
      }
      return depths.get("") ?? 0;
    }
  }

  // Where a reference leads in the document; null if nowhere.
  function lookup(schema, reference, anchors) {
    if (!reference.startsWith("#")) return null;
    const name = decodeURIComponent(reference.slice(1).replace(/%(?![0-9A-Fa-f]{2})/g, "%25"));
    if (name && !name.startsWith("/")) return anchors.get(name) ?? anchors.get(`#${name}`) ?? null;
    const tokens = name.split("/").slice(1).map((it) => it.replaceAll("~1", "/").replaceAll("~0", "~"));
    const value = tokens.reduce(member, schema);
    return value === undefined ? null : { tokens, key: pointer(tokens), schema: value };
  }

  // The schemas whose reference leads, by way of others, back above itself.
  function recursive(references) {
    const targets = new Set(references.flatMap(({ target }) => (target ? [target.key] : [])));
    const above = ({ tokens }) => [...tokens, ""].map((_, count) => pointer(tokens.slice(0, count))).filter((key) => targets.has(key));
    const inside = new Map([...targets].map((key) => [key, new Set()]));
    for (const it of references) for (const key of it.target ? above(it) : []) inside.get(key).add(it.target.key);
    const reached = new Map([...targets].map((start) => {
      const all = new Set([start]);
      for (const key of all) for (const next of inside.get(key)) all.add(next);
      return [start, all];
    }));
    return new Set(references.filter((it) => it.target && above(it).some((key) => reached.get(it.target.key).has(key))).map(({ key }) => key));
  }

  const typesOf = (schema) => strings([member(schema, "type")].flat());
  const isOfTypes = (schema, types) => {
    const own = typesOf(schema);
    return !types.length || (own.length ? types.some((name) => own.includes(name)) : types.includes(""));
  };
  const isObjectSchema = (schema) => {
    const types = typesOf(schema);
    return types.includes("object") || (!types.length && (has(schema, "properties") || has(schema, "additionalProperties")));
  };
  const propertiesOf = (schema) => Object.keys(objectAt(schema, "properties"));
  const enumerated = (schema) => [
    ...(Array.isArray(member(schema, "enum")) ? [["enum", schema.enum]] : []),
    ...(has(schema, "const") ? [["const", [schema.const]]] : []),
  ];

  function featuresOf(text, { outside, features }) {
    const bare = text.replace(new RegExp(outside, "gs"), "_");
    const inside = Object.keys(features).filter((name) => new RegExp(features[name]).test(bare));
    if (!(text.startsWith("^") && text.endsWith("$"))) inside.push("unanchored");
    return /\\[dDwWsS]/.test(text) ? [...inside, "class-escape"] : inside;
  }

  const optional = (schema) => propertiesOf(schema).filter((name) => !listAt(schema, "required").includes(name));
  const perSchema = (count) => ({ places }) => sum(places.map(({ schema }) => count(schema)));
  const COUNTS = {
    depth: (scan) => scan.depth,
    properties: perSchema((schema) => propertiesOf(schema).length),
    "optional-properties": perSchema((schema) => optional(schema).length),
    unions: perSchema((schema) => Number(has(schema, "anyOf") || Array.isArray(member(schema, "type")))),
    "enum-values": perSchema((schema) => listAt(schema, "enum").length),
    characters: perSchema((schema) =>
      sum(["properties", ...DEFINITIONS].flatMap((name) => Object.keys(objectAt(schema, name)).map(length)))
      + sum(enumerated(schema).flatMap(([, values]) => strings(values).map(length)))),
    tools: () => 1,
  };

  function limit(scan, rule, done, tables) {
    const number = COUNTS[rule.check](scan);
    if (number <= rule.most) return [];
    const whole = rule.scope === "request" ? " in one request" : "";
    return [[[], "", `${grouped(number)} ${tables.counts[rule.check]}${whole}, and at most ${grouped(rule.most)} are taken`]];
  }

  // A check of each schema object: yields keyword (empty for none), sentence, and tokens.
  const each = (find) => function* check(scan, rule, done, tables) {
    for (const place of scan.places) {
      for (const [keyword, sentence, path = [keyword]] of find(place.schema, rule, done, tables, place)) {
        yield [[...place.tokens, ...path], keyword, sentence];
      }
    }
  };

  const reference = (words, holds) => function* check(scan, rule, done) {
    for (const it of scan.references) {
      if (holds(it, scan, rule)) yield [[...it.tokens, it.keyword], it.keyword, `${quoted(it.text)} ${words(rule)}: ${done}`];
    }
  };

  function isRequired(scan, key) {
    for (let holder = scan.holders.get(key); holder; holder = scan.holders.get(holder[0])) {
      const [around, keyword, name] = holder;
      if (keyword === "properties" && name !== undefined) return listAt(scan.byKey.get(around).schema, "required").includes(name);
    }
    return false;
  }

  const CHECKS = {
    keyword: each(function* find(schema, rule, done) {
      const taken = rule.values.map((value) => JSON.stringify(value));
      for (const name of rule.names) {
        if (!has(schema, name) || !isOfTypes(schema, rule.types) || taken.includes(JSON.stringify(schema[name]))) continue;
        const beside = rule.beside.filter((other) => has(schema, other));
        if (rule.beside.length && !beside.length) continue;
        if (rule.most !== null && !(typeof schema[name] === "number" && schema[name] > rule.most)) continue;
        let what = beside.length ? `${code(name)} beside ${code(beside[0])}` : code(name);
        if (taken.length || rule.most !== null) what += `: ${quoted(schema[name])}`;
        if (taken.length) what += ` (not ${listed(rule.values.map(quoted))})`;
        if (rule.most !== null) what += ` (over ${grouped(rule.most)})`;
        yield [name, `${what} is ${done}`];
      }
    }),
    "other-keyword": each(function* find(schema, rule, done, { keywords, quiet }) {
      for (const name of Object.keys(schema)) {
        if (keywords.includes(name) && !quiet.includes(name) && !rule.names.includes(name)) yield [name, `${code(name)} is ${done}`];
      }
    }),
    *"root-type"({ schema }, rule) {
      const types = typesOf(schema);
      if (types.length && types.every((name) => rule.names.includes(name))) return;
      const own = types.length ? `its \`type\` is ${quoted(schema.type)}` : "it has no `type`";
      yield [types.length ? ["type"] : [], "type", `the root must be of type ${listed(rule.names)}, and ${own}`];
    },
    *"root-keyword"({ schema }, rule, done) {
      for (const name of rule.names) if (has(schema, name)) yield [[name], name, `${code(name)} at the root is ${done}`];
    },
    "boolean-schema": each(function* find(schema, rule, done, tables, { tokens }) {
      if (typeof schema === "boolean" && tokens.at(-1) !== "additionalProperties") yield ["", `a boolean for a schema is ${done}`, []];
    }),
    untyped: each(function* find(schema, rule, done) {
      const names = ["type", ...rule.names];
      if (isObject(schema) && !names.some((name) => has(schema, name))) yield ["type", `a schema with none of ${listed(names.map(code))} is ${done}`, []];
    }),
    "type-list": each(function* find(schema, rule, done) {
      if (Array.isArray(member(schema, "type"))) yield ["type", `a list of types is ${done}`];
    }),
    "open-object": each(function* find(schema, rule) {
      const name = "additionalProperties";
      if (!isObjectSchema(schema) || member(schema, name) === false) return;
      const own = has(schema, name) ? quoted(schema[name]) : "missing";
      yield [name, `an object needs \`additionalProperties: false\`, and it is ${own}: ${rule.effect}`, has(schema, name) ? [name] : []];
    }),
    "optional-property": each(function* find(schema, rule, done) {
      for (const name of optional(schema)) yield ["required", `property ${quoted(name)} is not in \`required\`: ${done}`, ["properties", name]];
    }),
    "undeclared-property": each(function* find(schema, rule, done) {
      for (const name of strings(listAt(schema, "required"))) {
        if (!propertiesOf(schema).includes(name)) yield ["required", `required ${quoted(name)} is not in \`properties\`: ${done}`];
      }
    }),
    tuple: each(function* find(schema, rule, done) {
      if (Array.isArray(member(schema, "items"))) yield ["items", `a list of schemas in \`items\` is ${done}`];
    }),
    "array-without-items": each(function* find(schema, rule, done) {
      if (typesOf(schema).includes("array") && !has(schema, "items")) yield ["items", `an array without \`items\` is ${done}`, []];
    }),
    format: each(function* find(schema, rule, done) {
      const value = member(schema, "format");
      if (typeof value === "string" && !rule.names.includes(value) && isOfTypes(schema, rule.types)) yield ["format", `format ${quoted(value)} is ${done}`];
    }),
    "enum-type": each(function* find(schema, rule, done) {
      for (const [keyword, values] of enumerated(schema)) {
        const types = new Set(values.map(typeOf).filter((name) => !rule.names.includes(name)));
        if (types.size) yield [keyword, `${listed([...types].sort())} in ${code(keyword)}: ${done}`];
      }
    }),
    pattern: each(function* find(schema, rule, done, tables) {
      const text = member(schema, "pattern");
      const used = typeof text === "string" ? featuresOf(text, tables).filter((name) => rule.names.includes(name)) : [];
      if (used.length) yield ["pattern", `pattern ${quoted(text)} (${listed(used)}): ${done}`];
    }),
    "remote-reference": reference(() => "leads out of the schema", (it) => !it.text.startsWith("#")),
    "dangling-reference": reference(() => "leads nowhere", (it) => it.text.startsWith("#") && !it.target),
    "no-pointer": reference(() => "is no pointer that begins with `#/`", (it) => !it.text.startsWith("#/")),
    "recursive-reference": reference(() => "is recursive", (it, scan) => scan.recursive.has(it.key)),
    "required-recursion": reference(() => "is recursive in a required property", (it, scan) => scan.recursive.has(it.key) && isRequired(scan, it.key)),
    "reference-in": reference((rule) => `is in ${listed(rule.names.map(code))}`, (it, scan, rule) => rule.names.includes(scan.holders.get(it.key)?.[1])),
    *"beside-reference"(scan, rule, done) {
      for (const { tokens, schema, keyword } of scan.references) {
        for (const name of Object.keys(schema)) {
          if (name !== keyword && !rule.names.includes(name)) yield [[...tokens, name], name, `${code(name)} beside ${code(keyword)} is ${done}`];
        }
      }
    },
    *"nested-identifier"({ places, id }, rule, done) {
      for (const { tokens, schema } of places) {
        const own = member(schema, id);
        if (tokens.length && typeof own === "string" && !own.startsWith("#")) yield [[...tokens, id], id, `${code(id)} inside the schema is ${done}`];
      }
    },
    "long-enum": each(function* find(schema, rule) {
      for (const [keyword, values] of enumerated(schema)) {
        const texts = strings(values);
        const number = sum(texts.map(length));
        if (texts.length > rule.values[0] && number > rule.most) {
          yield [keyword, `${grouped(number)} characters in ${grouped(texts.length)} values, and at most ${grouped(rule.most)} are taken`];
        }
      }
    }),
    ...Object.fromEntries(Object.keys(COUNTS).map((name) => [name, limit])),
  };

  // What a target does not take of a scanned schema, or not as it is meant.
  function judge(scan, profile, tables) {
    return profile.rules.filter((rule) => rule.scope !== "tool").flatMap((rule) =>
      [...CHECKS[rule.check](scan, rule, tables.done[rule.effect], tables)].map(([tokens, keyword, sentence]) => ({
        pointer: pointer(tokens),
        keyword,
        rule: rule.check,
        effect: rule.effect,
        sentence: rule.note ? `${sentence}; ${rule.note}` : sentence,
        source: profile.sources[rule.source],
      })));
  }

  // Keywords of which the target's sources tell nothing.
  function untold(scan, profile, tables) {
    const used = new Set(scan.places.flatMap(({ schema }) => Object.keys(schema)));
    return profile.told.length ? tables.keywords.filter((name) => used.has(name) && !profile.told.includes(name)) : [];
  }

  const isTaken = (findings) => !findings.some(({ effect }) => effect === "refused" || effect === "limited");

  // The tokens and the value of the first schema in a request, as curation/sources/tools.py
  // finds it; null where there is none.
  function inRequest(value, { requests }, most = requests.most) {
    const { type } = isObject(value) ? value : {};
    if (requests.keywords.some((name) => has(value, name)) || (isObject(value) && (Array.isArray(type) || requests.types.includes(type)))) return [[], value];
    const names = Array.isArray(value) ? Object.keys(value) : requests.wrappers.filter((name) => has(value, name));
    for (const name of most ? names : []) {
      const found = inRequest(value[name], { requests }, most - 1);
      if (found) return [[name, ...found[0]], found[1]];
    }
    return null;
  }

  return { Scan, inRequest, judge, untold, isTaken, isSchema, pointer, grouped, safe };
})();

// Judges a schema by the profiles of targets as `csbdata fit` does, from its own tables
// (`evaluation.site.schema` exports them): curation/fit/scan.py, checks.py and verdict.py
// are the model, function by function, and a test holds both to the same answers.
"use strict";
var csbdata = globalThis.csbdata ??= {};
csbdata.fit = (() => {
  const { write, quoted: short, shortened, pointer, grouped, isObject, isNumber, isSchema, typeOf } = csbdata.json;
  const NONE = new Map();
  const IN_PLACE = new Set(["allOf", "anyOf", "oneOf", "not", "if", "then", "else"]);
  const keywordsOf = (schema) => (isObject(schema) ? schema : NONE);
  const code = (name) => `\`${name}\``;
  const quoted = (value) => code(shortened(short(value, 61), 60));
  const listed = (names) => names.join(", ");
  const length = (text) => [...text].length;

  // The schemas directly inside a schema, each with its tokens.
  function children(schema, dialect) {
    const found = [];
    for (const [keyword, value] of keywordsOf(schema)) {
      const shape = Object.hasOwn(dialect.applicators, keyword) ? dialect.applicators[keyword] : "";
      if (!shape) continue;
      if (Array.isArray(value)) {
        if (shape === "SCHEMAS" || shape === "EITHER") {
          value.forEach((item, index) => isSchema(item) && found.push([[keyword, String(index)], item]));
        }
      } else if (shape === "SCHEMA" || shape === "EITHER") {
        if (isSchema(value)) found.push([[keyword], value]);
      } else if (isObject(value) && shape !== "SCHEMAS") {
        for (const [name, member] of value) if (isSchema(member)) found.push([[keyword, name], member]);
      }
    }
    return found;
  }

  // A schema and its subschemas, outermost first: tokens, schema, and the base around.
  function* locations(start, schema, dialect, base = "") {
    const stack = [[start, schema, base]];
    while (stack.length) {
      const [tokens, part, around] = stack.pop();
      const inside = baseOf(part, dialect, around);
      yield { tokens, key: pointer(tokens), schema: part, keywords: keywordsOf(part), inside };
      const inner = children(part, dialect).map(([path, child]) => [[...tokens, ...path], child, inside]);
      stack.push(...inner.reverse());
    }
  }

  // RFC 3986 section 5 as Python's urllib reads it; null for what is no reference.
  const URI = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/;
  const RELATIVE = new Set(["", "http", "https", "file", "ftp", "sftp", "ws", "wss", "gopher", "nntp", "imap", "wais", "shttp", "mms", "prospero", "rtsp", "rtsps", "rtspu", "svn", "svn+ssh"]);

  function parts(text) {
    const [, scheme = "", authority, path, query, fragment = ""] = URI.exec(text.replace(/[\t\r\n]/g, ""));
    if (authority && authority.includes("[") !== authority.includes("]")) return null;
    return { scheme: scheme.toLowerCase(), authority, path, query, fragment };
  }

  function joined(base, reference) {
    const [from, to] = [parts(base), parts(reference)];
    if (!from || !to) return null;
    const { fragment } = to;
    const scheme = to.scheme || from.scheme;
    if (!base) return [reference.replace(/#[^]*$/, ""), fragment];
    if (scheme !== from.scheme || !RELATIVE.has(scheme)) return [reference.replace(/#[^]*$/, ""), fragment];
    let { authority, path, query } = to;
    if (!authority) {
      authority = from.authority;
      if (!path) { path = from.path; query ||= from.query; }
      else path = resolved(from.path, path);
    }
    const before = authority ? `//${authority}${path && !path.startsWith("/") ? "/" : ""}` : "";
    return [`${scheme ? `${scheme}:` : ""}${before}${path}${query ? `?${query}` : ""}`, fragment];
  }

  function resolved(base, path) {
    const around = base.split("/");
    if (around.at(-1) !== "") around.pop();
    let segments = path.split("/");
    if (!path.startsWith("/")) {
      segments = [...around, ...segments];
      segments = segments.filter((it, index) => it || index === 0 || index === segments.length - 1);
    }
    const kept = [];
    for (const segment of segments) {
      if (segment === "..") kept.pop();
      else if (segment !== ".") kept.push(segment);
    }
    if (segments.at(-1) === "." || segments.at(-1) === "..") kept.push("");
    return kept.join("/") || "/";
  }

  function join(base, reference) {
    return !reference || reference.startsWith("#") ? [base, reference.slice(1)] : joined(base, reference);
  }

  function startsResource(schema, dialect) {
    const own = schema.get(dialect.id);
    return typeof own === "string" && !own.startsWith("#") && !(dialect.hides && schema.has("$ref"));
  }

  function baseOf(schema, dialect, base) {
    if (!isObject(schema) || !startsResource(schema, dialect)) return base;
    return (join(base, schema.get(dialect.id)) ?? [base])[0];
  }

  const unquoted = (text) => text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) =>
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(run.slice(1).split("%"), (byte) => parseInt(byte, 16))));

  function member(value, token) {
    if (isObject(value)) return value.get(token);
    return Array.isArray(value) && /^\d+$/.test(token) ? value[Number(token)] : undefined;
  }

  // Everything that checks ask about one schema.
  class Scan {
    constructor(schema, tables) {
      const stated = keywordsOf(schema).get("$schema");
      this.schema = schema;
      this.dialect = tables.dialects[dialectOf(stated, tables) ?? "any"];
      this.references = [];
      this.resources = new Map();
      this.anchors = new Map();
      this.inner = [];
      this.base = baseOf(schema, this.dialect, "");
      const bases = new Map();
      for (const place of locations([], schema, this.dialect)) {
        this.register(place);
        bases.set(place.key, place.inside);
      }
      this.targets = new Map();
      this.byKey = new Map();
      // References may lead to where no keyword does, and from there further.
      const starts = [{ tokens: [], key: "", schema }];
      while (starts.length) {
        const { tokens: start, key, schema: value } = starts.pop();
        if (this.byKey.has(key) || !isSchema(value)) continue;
        const around = start.map((_, count) => bases.get(pointer(start.slice(0, count)))).findLast((it) => it !== undefined);
        for (const place of locations(start, value, this.dialect, around)) {
          if (this.byKey.has(place.key)) continue;
          this.byKey.set(place.key, place);
          for (const it of this.referencesOf(place)) {
            const target = this.lookup(it.text, it.base);
            this.references.push(it);
            this.targets.set(it.key, target);
            if (target) starts.push(target);
          }
        }
      }
      this.places = [...this.byKey.values()];
      this.holders = new Map();
      for (const { tokens, key } of this.places) {
        for (let count = tokens.length - 1; count >= 0; count -= 1) {
          const around = pointer(tokens.slice(0, count));
          if (!this.byKey.has(around)) continue;
          this.holders.set(key, [around, tokens[count], tokens[count + 1]]);
          break;
        }
      }
      this.recursive = this.findRecursive();
    }

    register({ tokens, keywords, inside }) {
      if (startsResource(keywords, this.dialect)) {
        if (!this.resources.has(inside)) this.resources.set(inside, { tokens, schema: keywords });
        if (tokens.length) this.inner.push(tokens);
      }
      const names = this.dialect.anchors.map((keyword) => keywords.get(keyword));
      const own = keywords.get(this.dialect.id);
      if (this.dialect.hides && typeof own === "string" && own.startsWith("#") && own.length > 1) names.push(own.slice(1));
      for (const name of names) {
        const full = JSON.stringify([inside, name]);
        if (typeof name === "string" && !this.anchors.has(full)) this.anchors.set(full, { tokens, schema: keywords });
      }
    }

    referencesOf({ tokens, key, keywords, inside }) {
      return this.dialect.references.map((keyword) => ({ tokens, key, keyword, text: keywords.get(keyword), base: inside }))
        .filter(({ text }) => typeof text === "string");
    }

    // Where a reference leads in here; null if nowhere.
    lookup(reference, base) {
      const whole = join(base, reference);
      if (!whole) return null;
      const [uri, fragment] = whole;
      const isRoot = uri === this.base || uri === "";
      const resource = isRoot ? { tokens: [], schema: this.schema } : this.resources.get(uri);
      if (!resource) return null;
      const name = unquoted(fragment);
      let target = resource;
      if (name.startsWith("/")) {
        const tokens = name.slice(1).split("/").map((it) => it.replaceAll("~1", "/").replaceAll("~0", "~"));
        target = { tokens: [...resource.tokens, ...tokens], schema: tokens.reduce(member, resource.schema) };
      } else if (name) target = this.anchors.get(JSON.stringify([isRoot ? this.base : uri, name]));
      return target?.schema === undefined ? null : { ...target, key: pointer(target.tokens) };
    }

    // The schemas whose reference leads, by way of others, back above itself.
    findRecursive() {
      const inside = new Map();
      for (const target of this.targets.values()) if (target) inside.set(target.key, new Set());
      const above = new Map();
      for (const { tokens, key } of this.references) {
        const prefixes = [...tokens, ""].map((_, count) => pointer(tokens.slice(0, count)));
        above.set(key, prefixes.filter((prefix) => inside.has(prefix)));
        const target = this.targets.get(key);
        if (target) for (const holder of above.get(key)) inside.get(holder).add(target.key);
      }
      const reached = (start) => {
        const all = new Set([start]);
        for (const key of all) for (const next of inside.get(key)) all.add(next);
        return all;
      };
      const of = new Map([...inside.keys()].map((key) => [key, reached(key)]));
      const found = new Set();
      for (const [key, target] of this.targets) {
        if (target && above.get(key).some((prefix) => of.get(target.key).has(prefix))) found.add(key);
      }
      return found;
    }

    // The most objects and arrays inside each other, references followed.
    get depth() {
      const depths = new Map();
      const raise = (map, key, value) => map.set(key, Math.max(value, map.get(key) ?? 0));
      for (let pass = 0, before = ""; pass <= this.targets.size; pass += 1) {
        const inner = new Map();
        for (const { key, keywords } of this.places.toReversed()) {
          const isNested = isObjectSchema(keywords) || typesOf(keywords).has("array");
          let own = Number(isNested) + (inner.get(key) ?? 0);
          const target = this.targets.get(key);
          if (target && !this.recursive.has(key)) own = Math.max(own, depths.get(target.key) ?? 0);
          raise(depths, key, own);
          const [holder, keyword] = this.holders.get(key) ?? ["", "$defs"];
          if (IN_PLACE.has(keyword)) raise(depths, holder, depths.get(key));
          else if (keyword !== "$defs" && keyword !== "definitions") raise(inner, holder, depths.get(key));
        }
        const now = JSON.stringify([...depths]);
        if (now === before) break;
        before = now;
      }
      return depths.get("") ?? 0;
    }
  }

  // The dialect that a `$schema` names exactly.
  function dialectOf(uri, tables) {
    const match = typeof uri === "string" && /^https?:\/\/(?:www\.)?json-schema\.org\/draft([-/])0*([\p{L}\p{N}_-]+?)\/schema\/?#?$/u.exec(uri);
    if (!match) return null;
    const [, separator, draft] = match;
    const name = draft.includes("-") ? draft : `draft-0${draft}`;
    return Object.hasOwn(tables.dialects, name) && separator === (name.startsWith("draft") ? "-" : "/") ? name : null;
  }

  function typesOf(schema) {
    const value = schema.get("type");
    return new Set((Array.isArray(value) ? value : [value]).filter((name) => typeof name === "string"));
  }

  function isOfTypes(schema, types) {
    const own = typesOf(schema);
    return !types.length || (own.size ? types.some((name) => own.has(name)) : types.includes(""));
  }

  function isObjectSchema(schema) {
    const types = typesOf(schema);
    return types.has("object") || (!types.size && (schema.has("properties") || schema.has("additionalProperties")));
  }

  const propertiesOf = (schema) => keywordsOf(schema.get("properties"));
  const requiredOf = (schema) => (Array.isArray(schema.get("required")) ? schema.get("required") : []);

  function enumerated(schema) {
    const found = Array.isArray(schema.get("enum")) ? [["enum", schema.get("enum")]] : [];
    return schema.has("const") ? [...found, ["const", [schema.get("const")]]] : found;
  }

  function featuresOf(text, tables) {
    const bare = text.replace(new RegExp(tables.outside, "gs"), "_");
    const inside = Object.keys(tables.features).filter((name) => new RegExp(tables.features[name]).test(bare));
    if (!(text.startsWith("^") && text.endsWith("$"))) inside.push("unanchored");
    return /\\[dDwWsS]/.test(text) ? [...inside, "class-escape"] : inside;
  }

  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const strings = (values) => values.filter((value) => typeof value === "string");
  const COUNTS = {
    depth: (scan) => scan.depth,
    properties: (scan) => sum(scan.places.map(({ keywords }) => propertiesOf(keywords).size)),
    "optional-properties": (scan) => sum(scan.places.map(({ keywords }) => {
      const required = new Set(requiredOf(keywords));
      return [...propertiesOf(keywords).keys()].filter((name) => !required.has(name)).length;
    })),
    unions: (scan) => scan.places.filter(({ keywords }) => keywords.has("anyOf") || Array.isArray(keywords.get("type"))).length,
    "enum-values": (scan) => sum(scan.places.map(({ keywords }) => (Array.isArray(keywords.get("enum")) ? keywords.get("enum").length : 0))),
    characters: (scan) => sum(scan.places.map(({ keywords }) =>
      sum(["properties", "$defs", "definitions"].map((name) => sum([...keywordsOf(keywords.get(name)).keys()].map(length))))
      + sum(enumerated(keywords).map(([, values]) => sum(strings(values).map(length)))))),
    tools: () => 1,
  };

  function limit(scan, rule, done, tables) {
    const number = COUNTS[rule.check](scan);
    if (number <= rule.most) return [];
    const whole = rule.scope === "request" ? " in one request" : "";
    return [[[], "", `${grouped(number)} ${tables.counts[rule.check]}${whole}, and at most ${grouped(rule.most)} are taken`]];
  }

  // A check of each schema object: yields keyword (empty for none), what, and tokens.
  const each = (find) => function* check(scan, rule, done, tables) {
    for (const place of scan.places) {
      for (const [keyword, sentence, path = [keyword]] of find(place, rule, done, tables, scan)) {
        yield [[...place.tokens, ...path], keyword, sentence];
      }
    }
  };

  const reference = (what, has) => function* check(scan, rule, done) {
    const words = typeof what === "function" ? what(rule) : what;
    for (const it of scan.references) {
      if (has(it, scan, rule)) yield [[...it.tokens, it.keyword], it.keyword, `${quoted(it.text)} ${words}: ${done}`];
    }
  };
  const leadsNowhere = (it, scan) => !scan.targets.get(it.key);

  function isRequired(scan, key) {
    for (let holder = scan.holders.get(key); holder; holder = scan.holders.get(holder[0])) {
      const [around, keyword, name] = holder;
      if (keyword === "properties" && name !== undefined) return requiredOf(scan.byKey.get(around).keywords).includes(name);
    }
    return false;
  }

  const CHECKS = {
    keyword: each(function* find({ keywords }, rule, done) {
      const taken = rule.values.map((value) => write(value, true));
      for (const name of rule.names) {
        if (!keywords.has(name) || !isOfTypes(keywords, rule.types)) continue;
        const value = keywords.get(name);
        if (taken.length && taken.includes(write(value, true))) continue;
        const beside = rule.beside.filter((other) => keywords.has(other));
        if (rule.beside.length && !beside.length) continue;
        if (rule.most !== null && !(isNumber(value) && value > rule.most)) continue;
        let what = beside.length ? `${code(name)} beside ${code(beside[0])}` : code(name);
        if (taken.length || rule.most !== null) what += `: ${quoted(value)}`;
        if (taken.length) what += ` (not ${listed(rule.values.map(quoted))})`;
        if (rule.most !== null) what += ` (over ${grouped(rule.most)})`;
        yield [name, `${what} is ${done}`];
      }
    }),
    "other-keyword": each(function* find({ keywords }, rule, done, tables) {
      for (const name of keywords.keys()) {
        if (tables.keywords.includes(name) && !tables.quiet.includes(name) && !rule.names.includes(name)) {
          yield [name, `${code(name)} is ${done}`];
        }
      }
    }),
    *"root-type"(scan, rule) {
      const types = typesOf(keywordsOf(scan.schema));
      if (types.size && [...types].every((name) => rule.names.includes(name))) return;
      const own = types.size ? `its \`type\` is ${quoted(scan.schema.get("type"))}` : "it has no `type`";
      yield [types.size ? ["type"] : [], "type", `the root must be of type ${listed(rule.names)}, and ${own}`];
    },
    *"root-keyword"(scan, rule, done) {
      for (const name of rule.names) {
        if (keywordsOf(scan.schema).has(name)) yield [[name], name, `${code(name)} at the root is ${done}`];
      }
    },
    "boolean-schema": each(function* find({ tokens, schema }, rule, done) {
      if (typeof schema === "boolean" && tokens.at(-1) !== "additionalProperties") {
        yield ["", `a boolean for a schema is ${done}`, []];
      }
    }),
    untyped: each(function* find({ schema, keywords }, rule, done) {
      const names = ["type", ...rule.names];
      if (isObject(schema) && !names.some((name) => keywords.has(name))) {
        yield ["type", `a schema with none of ${listed(names.map(code))} is ${done}`, []];
      }
    }),
    "type-list": each(function* find({ keywords }, rule, done) {
      if (Array.isArray(keywords.get("type"))) yield ["type", `a list of types is ${done}`];
    }),
    "open-object": each(function* find({ keywords }, rule) {
      const name = "additionalProperties";
      if (!isObjectSchema(keywords) || keywords.get(name) === false) return;
      const own = keywords.has(name) ? quoted(keywords.get(name)) : "missing";
      yield [name, `an object needs \`additionalProperties: false\`, and it is ${own}: ${rule.effect}`, keywords.has(name) ? [name] : []];
    }),
    "optional-property": each(function* find({ keywords }, rule, done) {
      const required = new Set(requiredOf(keywords));
      for (const name of propertiesOf(keywords).keys()) {
        if (!required.has(name)) yield ["required", `property ${quoted(name)} is not in \`required\`: ${done}`, ["properties", name]];
      }
    }),
    "undeclared-property": each(function* find({ keywords }, rule, done) {
      for (const name of strings(requiredOf(keywords))) {
        if (!propertiesOf(keywords).has(name)) yield ["required", `required ${quoted(name)} is not in \`properties\`: ${done}`];
      }
    }),
    tuple: each(function* find({ keywords }, rule, done) {
      if (Array.isArray(keywords.get("items"))) yield ["items", `a list of schemas in \`items\` is ${done}`];
    }),
    "array-without-items": each(function* find({ keywords }, rule, done) {
      if (typesOf(keywords).has("array") && !keywords.has("items")) yield ["items", `an array without \`items\` is ${done}`, []];
    }),
    format: each(function* find({ keywords }, rule, done) {
      const value = keywords.get("format");
      if (typeof value === "string" && !rule.names.includes(value) && isOfTypes(keywords, rule.types)) {
        yield ["format", `format ${quoted(value)} is ${done}`];
      }
    }),
    "enum-type": each(function* find({ keywords }, rule, done) {
      for (const [keyword, values] of enumerated(keywords)) {
        const types = new Set(values.map(typeOf).filter((name) => !rule.names.includes(name)));
        if (types.size) yield [keyword, `${listed([...types].sort())} in ${code(keyword)}: ${done}`];
      }
    }),
    pattern: each(function* find({ keywords }, rule, done, tables) {
      const text = keywords.get("pattern");
      const used = typeof text === "string" ? featuresOf(text, tables).filter((name) => rule.names.includes(name)) : [];
      if (used.length) yield ["pattern", `pattern ${quoted(text)} (${listed(used)}): ${done}`];
    }),
    "remote-reference": reference("leads out of the schema", (it, scan) => !it.text.startsWith("#") && leadsNowhere(it, scan)),
    "dangling-reference": reference("leads nowhere", (it, scan) => it.text.startsWith("#") && leadsNowhere(it, scan)),
    "no-pointer": reference("is no pointer that begins with `#/`", (it) => !it.text.startsWith("#/")),
    "recursive-reference": reference("is recursive", (it, scan) => scan.recursive.has(it.key)),
    "required-recursion": reference("is recursive in a required property", (it, scan) => scan.recursive.has(it.key) && isRequired(scan, it.key)),
    "reference-in": reference((rule) => `is in ${listed(rule.names.map(code))}`, (it, scan, rule) => rule.names.includes(scan.holders.get(it.key)?.[1])),
    *"beside-reference"(scan, rule, done) {
      for (const { tokens, key, keyword } of scan.references) {
        for (const name of scan.byKey.get(key).keywords.keys()) {
          if (name !== keyword && !rule.names.includes(name)) {
            yield [[...tokens, name], name, `${code(name)} beside ${code(keyword)} is ${done}`];
          }
        }
      }
    },
    *"nested-identifier"(scan, rule, done) {
      const { id } = scan.dialect;
      for (const tokens of scan.inner) yield [[...tokens, id], id, `${code(id)} inside the schema is ${done}`];
    },
    "long-enum": each(function* find({ keywords }, rule) {
      for (const [keyword, values] of enumerated(keywords)) {
        const texts = strings(values);
        const number = sum(texts.map(length));
        if (texts.length > rule.values[0] && number > rule.most) {
          yield [keyword, `${grouped(number)} characters in ${grouped(texts.length)} values, and at most ${grouped(rule.most)} are taken`];
        }
      }
    }),
    ...Object.fromEntries(Object.keys(COUNTS).map((name) => [name, limit])),
  };
  const FAILING = new Set(["refused", "limited"]);

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
    const used = new Set(scan.places.flatMap(({ keywords }) => [...keywords.keys()]));
    return profile.told.length ? tables.keywords.filter((name) => used.has(name) && !profile.told.includes(name)) : [];
  }

  // The rewrites that a finding asks for, in the order of trial.
  const rewrites = (finding, tables) => tables.rewrites.filter(({ rules, keywords }) => rules.includes(finding.rule)
    && (!keywords.length || finding.rule === "beside-reference" || keywords.includes(finding.keyword)));

  const isTaken = (findings) => !findings.some(({ effect }) => FAILING.has(effect));

  // The tokens and the value of the first schema in a request, as curation/sources/tools.py
  // finds it; null where there is none.
  function inRequest(value, { requests }, most = requests.most) {
    let inner = [];
    if (Array.isArray(value)) inner = value.map((item, index) => [String(index), item]);
    else if (isObject(value)) {
      const type = value.get("type");
      if (requests.keywords.some((name) => value.has(name)) || Array.isArray(type) || requests.types.includes(type)) return [[], value];
      inner = requests.wrappers.filter((name) => value.has(name)).map((name) => [name, value.get(name)]);
    }
    for (const [name, part] of most ? inner : []) {
      const found = inRequest(part, { requests }, most - 1);
      if (found) return [[name, ...found[0]], found[1]];
    }
    return null;
  }

  return { Scan, dialectOf, inRequest, judge, untold, rewrites, isTaken };
})();

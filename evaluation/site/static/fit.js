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
  const objectOf = (value) => (isObject(value) ? value : {});
  const listOf = (value) => (Array.isArray(value) ? value : []);
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const strings = (values) => values.filter((value) => typeof value === "string");
  const length = (text) => [...text].length;
  const pointer = (tokens) => tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const tokensOf = (text) => text.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  const grouped = (number) => number.toLocaleString("en");
  const listed = (names) => names.join(", ");
  const code = (name) => `\`${name}\``;
  const quoted = (value) => code(shortened(JSON.stringify(value)));

  // Control characters, and marks that reorder text, made visible.
  function safe(text) {
    return text.replace(UNSAFE, (character) => {
      const hex = character.codePointAt(0).toString(16);
      return hex.length > 4 ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
    });
  }

  function shortened(text) {
    const clean = [...safe([...text.slice(0, 130)].slice(0, 61).join(""))];
    return clean.length <= 60 ? clean.join("") : `${clean.slice(0, 57).join("")}...`;
  }

  // The schemas directly inside a schema, each with its tokens.
  function children(keywords, applicators) {
    return Object.entries(keywords).flatMap(([keyword, value]) => {
      const shape = member(applicators, keyword);
      const isList = Array.isArray(value);
      if (!isList && ["SCHEMA", "EITHER"].includes(shape)) return [[[keyword], value]];
      const many = isList ? ["SCHEMAS", "EITHER"] : ["MAP", "DEPENDENCIES"];
      return many.includes(shape) ? Object.entries(value ?? {}).map(([name, inner]) => [[keyword, name], inner]) : [];
    });
  }

  // Everything that checks ask about one schema: its subschemas by their pointers, those
  // that references alone reach included, and where its references lead.
  class Scan {
    constructor(schema, { dialects }) {
      const uri = String(member(schema, "$schema")).replace(/^https?:\/\/(www\.)?|#$/g, "");
      const dialect = member(dialects, uri) ?? dialects[""];
      const places = new Map();
      this.id = dialect.id;
      this.references = [];
      const anchors = new Map();
      const starts = [{ key: "", schema }];
      while (starts.length) {
        const stack = [starts.pop()];
        while (stack.length) {
          const place = stack.pop();
          const { key } = place;
          if (places.has(key) || !isSchema(place.schema)) continue;
          places.set(key, place);
          const keywords = place.keywords = objectOf(place.schema);
          for (const anchor of strings(dialect.anchors.map((name) => keywords[name]))) {
            if (!anchors.has(anchor)) anchors.set(anchor, place);
          }
          for (const keyword of dialect.references) {
            const text = keywords[keyword];
            if (typeof text === "string") this.references.push({ key, place, keyword, text });
          }
          stack.push(...children(keywords, dialect.applicators).map(([tokens, inner]) => ({ key: key + pointer(tokens), schema: inner })).reverse());
        }
        for (const reference of this.references) {
          if (reference.target) continue;
          reference.target = lookup(schema, reference.text, anchors);
          if (reference.target) starts.push(reference.target);
        }
      }
      this.places = [...places.values()];
      for (const place of this.places) {
        place.inside = [];
        for (let { key } = place; key && !place.holder;) {
          key = key.slice(0, key.lastIndexOf("/"));
          place.holder = places.get(key);
          place.inside = tokensOf(place.key.slice(key.length));
        }
      }
      this.recursive = recursive(this.references);
      this.links = this.references.filter(({ key }) => !this.recursive.has(key)).map(({ place, target }) => [place, places.get(target?.key)]);
    }

    // The most objects and arrays inside each other, references followed.
    get depth() {
      for (const place of this.places) Object.assign(place, { depth: 0, same: 0, inner: 0 });
      const raise = (place, name, depth) => { place[name] = Math.max(place[name], depth); };
      for (let before = -1, total = 0; total > before;) {
        before = total;
        for (const [place, target] of this.links) raise(place, "same", target?.depth ?? 0);
        for (const place of this.places.toReversed()) {
          const { keywords, holder, inside: [keyword] } = place;
          place.depth = Math.max(place.same, place.inner + (isObjectSchema(keywords) || typesOf(keywords).includes("array")));
          if (holder && !DEFINITIONS.includes(keyword)) raise(holder, IN_PLACE.includes(keyword) ? "same" : "inner", place.depth);
        }
        total = sum(this.places.map(({ depth }) => depth));
      }
      return this.places[0].depth;
    }
  }

  // Where a reference leads in the document; null if nowhere.
  function lookup(schema, reference, anchors) {
    if (!reference.startsWith("#")) return null;
    const name = decodeURIComponent(reference.slice(1).replace(/%(?![0-9A-Fa-f]{2})/g, "%25"));
    if (name && !name.startsWith("/")) return anchors.get(name) ?? anchors.get(`#${name}`) ?? null;
    const tokens = tokensOf(name);
    const value = tokens.reduce(member, schema);
    return value === undefined ? null : { key: pointer(tokens), schema: value };
  }

  // The schemas whose reference leads, by way of others, back above itself.
  function recursive(references) {
    const leading = references.filter(({ target }) => target);
    const inside = new Map(leading.map(({ target }) => [target.key, new Set()]));
    const above = ({ key }) => [...inside.keys()].filter((target) => `${key}/`.startsWith(`${target}/`));
    for (const it of leading) for (const target of above(it)) inside.get(target).add(it.target.key);
    const reached = new Map([...inside.keys()].map((start) => {
      const all = new Set([start]);
      for (const key of all) for (const next of inside.get(key)) all.add(next);
      return [start, all];
    }));
    return new Set(leading.filter((it) => above(it).some((key) => reached.get(it.target.key).has(key))).map(({ key }) => key));
  }

  const typesOf = ({ type }) => strings([type].flat());
  const isOfTypes = (keywords, types) => {
    const own = typesOf(keywords);
    return !types.length || (own.length ? own : [""]).some((name) => types.includes(name));
  };
  const isObjectSchema = (keywords) => {
    const types = typesOf(keywords);
    return types.includes("object") || (!types.length && ("properties" in keywords || "additionalProperties" in keywords));
  };
  const propertiesOf = ({ properties }) => Object.keys(objectOf(properties));
  const optional = (keywords) => propertiesOf(keywords).filter((name) => !listOf(keywords.required).includes(name));
  const enumerated = (keywords) => [
    ...(Array.isArray(keywords.enum) ? [["enum", keywords.enum]] : []),
    ...("const" in keywords ? [["const", [keywords.const]]] : []),
  ];

  function featuresOf(text, { outside, features }) {
    const bare = text.replace(new RegExp(outside, "gs"), "_");
    const inside = Object.keys(features).filter((name) => new RegExp(features[name]).test(bare));
    if (!(text.startsWith("^") && text.endsWith("$"))) inside.push("unanchored");
    return /\\[dDwWsS]/.test(text) ? [...inside, "class-escape"] : inside;
  }

  function isRequired(place) {
    for (; place.holder; place = place.holder) {
      const [keyword, name] = place.inside;
      if (keyword === "properties" && name !== undefined) return listOf(place.holder.keywords.required).includes(name);
    }
    return false;
  }

  // What is counted in one schema object; depth is of the whole.
  const COUNTS = {
    properties: (keywords) => propertiesOf(keywords).length,
    "optional-properties": (keywords) => optional(keywords).length,
    unions: (keywords) => "anyOf" in keywords || Array.isArray(keywords.type),
    "enum-values": (keywords) => listOf(keywords.enum).length,
    characters: (keywords) => sum(strings([
      ...["properties", ...DEFINITIONS].flatMap((name) => Object.keys(objectOf(keywords[name]))),
      ...enumerated(keywords).flatMap(([, values]) => values),
    ]).map(length)),
  };

  function limit(scan, rule, tables) {
    const count = COUNTS[rule.check];
    const number = count ? sum(scan.places.map(({ keywords }) => Number(count(keywords)))) : scan[rule.check] ?? 1;
    const whole = rule.scope === "request" ? " in one request" : "";
    return when(number > rule.most, "", "", `${grouped(number)} ${tables.counts[rule.check]}${whole}, and at most ${grouped(rule.most)} are accepted`);
  }

  // A finding of a check: its keyword, what is said, and where from its schema on, at the
  // keyword by default. What ends in `is` or `:` goes on with the effect.
  const when = (holds, ...finding) => (holds ? [finding] : []);
  const OF_ROOT = {
    "root-type"({ keywords }, rule) {
      const types = typesOf(keywords);
      const own = types.length ? `its \`type\` is ${quoted(keywords.type)}` : "it has no `type`";
      return when(!types.length || types.some((name) => !rule.names.includes(name)),
        "type", `the root must be of type ${listed(rule.names)}, and ${own}`, types.length ? ["type"] : []);
    },
    "root-keyword": ({ keywords }, rule) => rule.names.flatMap((name) => when(name in keywords, name, `${code(name)} at the root is`)),
  };
  const OF_REFERENCES = {
    "remote-reference": ({ text }) => !text.startsWith("#") && "leads out of the schema",
    "dangling-reference": ({ text, target }) => text.startsWith("#") && !target && "leads nowhere",
    "no-pointer": ({ text }) => !text.startsWith("#/") && "is no pointer that begins with `#/`",
    "recursive-reference": ({ key }, rule, scan) => scan.recursive.has(key) && "is recursive",
    "required-recursion": ({ key, place }, rule, scan) => scan.recursive.has(key) && isRequired(place) && "is recursive in a required property",
  };
  const sizeOf = (value) => (typeof value === "number" ? value : Object.keys(typeof value === "object" && value || {}).length);
  const isIn = (place, { places }) => !places.length || places.includes(place.holder ? place.inside[0] : "root");
  const CHECKS = {
    keyword: ({ keywords, ...place }, { names, values, types, most, ...rule }) => names.filter((name) => name in keywords).flatMap((name) => {
      const value = keywords[name];
      const beside = rule.beside.filter((other) => other in keywords);
      let said = beside.length ? `${code(name)} beside ${code(beside[0])}` : code(name);
      if (rule.places.length) said += ` in ${listed(rule.places)}`;
      if (values.length || most !== null) said += `: ${quoted(value)}`;
      if (values.length) said += ` (not ${listed(values.map(quoted))})`;
      if (most !== null) said += ` (over ${grouped(most)})`;
      return when(isOfTypes(keywords, types) && isIn(place, rule)
        && !values.some((taken) => JSON.stringify(taken) === JSON.stringify(value))
        && (beside.length || !rule.beside.length)
        && (most === null || sizeOf(value) > most), name, `${said} is`);
    }),
    "other-keyword": ({ keywords }, rule, tables) => Object.keys(keywords)
      .filter((name) => tables.keywords.includes(name) && !tables.quiet.includes(name) && !rule.names.includes(name))
      .map((name) => [name, `${code(name)} is`]),
    "boolean-schema": ({ key, schema }) => when(typeof schema === "boolean" && !key.endsWith("/additionalProperties"), "", "a boolean for a schema is", []),
    untyped({ schema }, rule) {
      const names = ["type", ...rule.names];
      return when(isObject(schema) && !names.some((name) => name in schema), "type", `a schema with none of ${listed(names.map(code))} is`, []);
    },
    "object-without-properties": (place, rule) => when(typesOf(place.keywords).includes("object")
      && !("properties" in place.keywords) && isIn(place, rule), "properties", "an object without `properties` is", []),
    "property-key": (place, rule) => propertiesOf(place.keywords)
      .filter((name) => isIn(place, rule) && !new RegExp(`^(?:${rule.values[0]})$`, "s").test(name))
      .map((name) => ["", `the key ${quoted(name)} is refused (not ${code(rule.values[0])})`, ["properties", name]]),
    "type-list": ({ keywords }) => when(Array.isArray(keywords.type), "type", "a list of types is"),
    "open-object"({ keywords }, rule) {
      const name = "additionalProperties";
      const own = name in keywords ? quoted(keywords[name]) : "missing";
      return when(isObjectSchema(keywords) && keywords[name] !== false,
        name, `an object needs \`additionalProperties: false\`, and it is ${own}: ${rule.effect}`, name in keywords ? [name] : []);
    },
    "optional-property": ({ keywords }) => optional(keywords)
      .map((name) => ["required", `property ${quoted(name)} is not in \`required\`:`, ["properties", name]]),
    "undeclared-property": ({ keywords }) => strings(!typesOf(keywords).length || typesOf(keywords).includes("object") ? listOf(keywords.required) : [])
      .filter((name) => !propertiesOf(keywords).includes(name))
      .map((name) => ["required", `required ${quoted(name)} is not in \`properties\`:`]),
    tuple: ({ keywords }) => when(Array.isArray(keywords.items), "items", "a list of schemas in `items` is"),
    "array-without-items": ({ keywords }) => when(typesOf(keywords).includes("array") && !("items" in keywords), "items", "an array without `items` is", []),
    format: ({ keywords }, { names, types }) => strings([keywords.format])
      .filter((format) => !names.includes(format) && isOfTypes(keywords, types))
      .map((format) => ["format", `format ${quoted(format)} is`]),
    "enum-type": ({ keywords }, rule) => enumerated(keywords).flatMap(([keyword, values]) => {
      const types = new Set(values.map((value) => (Array.isArray(value) ? "array" : value === null ? "null" : typeof value)));
      const other = [...types].filter((name) => !rule.names.includes(name)).sort();
      return when(other.length, keyword, `${listed(other)} in ${code(keyword)}:`);
    }),
    pattern: ({ keywords }, rule, tables) => strings([keywords.pattern]).flatMap((text) => {
      const used = featuresOf(text, tables).filter((name) => rule.names.includes(name));
      return when(used.length, "pattern", `pattern ${quoted(text)} (${listed(used)}):`);
    }),
    "nested-identifier": ({ key, keywords }, rule, tables, { id }) =>
      when(key && typeof keywords[id] === "string" && !keywords[id].startsWith("#"), id, `${code(id)} inside the schema is`),
    "long-enum": ({ keywords }, { values: [many], most }) => enumerated(keywords).flatMap(([keyword, values]) => {
      const texts = strings(values);
      const number = sum(texts.map(length));
      return when(texts.length > many && number > most,
        keyword, `${grouped(number)} characters in ${grouped(texts.length)} values, and at most ${grouped(most)} are accepted`);
    }),
  };

  function found(scan, rule, tables) {
    const { check, names } = rule;
    const ask = (items, find) => items.flatMap((it) => find(it, rule, tables, scan)
      .map(([keyword, said, path = [keyword]]) => [it.key + pointer(path), keyword, said]));
    if (check in tables.counts) return limit(scan, rule, tables);
    if (check in OF_ROOT) return ask([scan.places[0]], OF_ROOT[check]);
    if (check in CHECKS) return ask(scan.places, CHECKS[check]);
    return ask(scan.references, (it) => {
      if (check === "beside-reference") {
        return Object.keys(it.place.keywords).filter((name) => name !== it.keyword && !names.includes(name))
          .map((name) => [name, `${code(name)} beside ${code(it.keyword)} is`]);
      }
      const said = OF_REFERENCES[check](it, rule, scan);
      return when(said, it.keyword, `${quoted(it.text)} ${said}:`);
    });
  }

  // What a target does not take of a scanned schema, or not as it is meant.
  function judge(scan, profile, tables) {
    return profile.rules.flatMap((rule) =>
      found(scan, rule, tables).map(([key, keyword, said]) => ({
        pointer: key,
        keyword,
        rule: rule.check,
        effect: rule.effect,
        sentence: said + (/ is$|:$/.test(said) ? ` ${tables.done[rule.effect]}` : "") + (rule.note ? `; ${rule.note}` : ""),
        source: profile.sources[rule.source],
      })));
  }

  // Keywords of which no source of the target says anything, where no rule finds them.
  function untold(scan, { told }, tables, findings) {
    const seen = new Set(findings.map((it) => it.pointer));
    const used = new Set(scan.places.flatMap(({ key, keywords }) =>
      Object.keys(keywords).filter((name) => !seen.has(key + pointer([name])))));
    return tables.keywords.filter((name) => used.has(name) && !told.includes(name));
  }

  const isTaken = (findings) => !findings.some(({ effect }) => effect === "refused" || effect === "limited");

  // The tokens and the value of the first schema in a request, as curation/sources/tools.py
  // finds it; null where there is none.
  function inRequest(value, { requests }, most = requests.most) {
    const { type } = objectOf(value);
    if (requests.keywords.some((name) => has(value, name)) || Array.isArray(type) || requests.types.includes(type)) return [[], value];
    const names = Array.isArray(value) ? Object.keys(value) : requests.wrappers.filter((name) => has(value, name));
    for (const name of most ? names : []) {
      const found = inRequest(value[name], { requests }, most - 1);
      if (found) return [[name, ...found[0]], found[1]];
    }
    return null;
  }

  return { Scan, inRequest, judge, untold, isTaken, isSchema, pointer, grouped, safe };
})();

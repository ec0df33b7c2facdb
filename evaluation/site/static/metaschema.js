// Judges a schema by the metaschemas of the drafts, which need no other keywords than
// these; formats aside, as `curation.validation.metaschemas` does.
"use strict";
var csbdata = globalThis.csbdata ??= {};
csbdata.metaschema = (() => {
  const { isObject, isNumber, typeOf, write, pointer } = csbdata.json;
  const OWN = {
    type: (value, types) => [types].flat().some((type) => (type === "integer" ? isNumber(value) && Number.isInteger(value.valueOf()) : typeOf(value) === type)),
    enum: (value, names) => names.includes(value),
    minimum: (value, bound) => !isNumber(value) || value >= bound,
    // Draft-04's is a boolean beside the bound.
    exclusiveMinimum: (value, bound, { minimum }) => !isNumber(value) || value > (bound === true ? minimum : bound),
    minItems: (value, least) => !Array.isArray(value) || value.length >= least,
    uniqueItems: (value) => !Array.isArray(value) || new Set(value.map((item) => write(item, true))).size === value.length,
    pattern: (value, pattern) => typeof value !== "string" || new RegExp(pattern, "u").test(value),
    dependencies: (value, needed) => !isObject(value) || Object.entries(needed).every(([name, others]) => !value.has(name) || others.every((other) => value.has(other))),
  };

  // What a reference of a metaschema leads to, and in which document; remembered.
  const targets = new Map();
  function targetOf(reference, uri, documents) {
    const key = `${uri} ${reference}`;
    if (!targets.has(key)) {
      const [file, path] = new URL(reference, uri).href.split("#");
      targets.set(key, [(path ?? "").split("/").slice(1).reduce((part, name) => part[name], documents[file]), file]);
    }
    return targets.get(key);
  }

  // The places of a value that a metaschema refuses; of an `anyOf` the deepest.
  function refused(value, schema, uri, root, documents, tokens = []) {
    if (typeof schema === "boolean") return schema ? [] : [tokens];
    const inside = (part, inner, ...more) => refused(part, inner, uri, root, documents, [...tokens, ...more]);
    const members = isObject(value) ? [...value] : [];
    const INNER = {
      $ref(reference) {
        const [target, file] = targetOf(reference, uri, documents);
        return refused(value, target, file, root, documents, tokens);
      },
      $recursiveRef: () => refused(value, documents[root], root, root, documents, tokens),
      $dynamicRef: () => INNER.$recursiveRef(),
      allOf: (schemas) => schemas.flatMap((each) => inside(value, each)),
      anyOf(schemas) {
        const places = [];
        for (const each of schemas) {
          const own = inside(value, each);
          if (!own.length) return [];
          places.push(...own);
        }
        return [places.reduce((deepest, place) => (place.length > deepest.length ? place : deepest))];
      },
      items: (each) => (Array.isArray(value) ? value.flatMap((item, index) => inside(item, each, String(index))) : []),
      properties: (named) => members.flatMap(([name, member]) => (Object.hasOwn(named, name) ? inside(member, named[name], name) : [])),
      additionalProperties: (each) => members.flatMap(([name, member]) => (Object.hasOwn(schema.properties ?? {}, name) ? [] : inside(member, each, name))),
      propertyNames: (each) => members.flatMap(([name]) => (inside(name, each).length ? [[...tokens, name]] : [])),
    };
    return Object.entries(schema).flatMap(([keyword, asked]) => {
      if (Object.hasOwn(INNER, keyword)) return INNER[keyword](asked);
      return Object.hasOwn(OWN, keyword) && !OWN[keyword](value, asked, schema) ? [tokens] : [];
    });
  }

  // The places of a schema that a draft's metaschema refuses.
  function refusedBy(name, schema, { metaschemas, drafts }) {
    const uri = drafts[name];
    return refused(schema, metaschemas[uri], uri, uri, metaschemas);
  }

  // The first draft that takes a schema is enough; of the last one the place is told. An
  // unknown `$schema` is no fault, nor is a schema too deep for the browser to walk.
  function fault(schema, tables) {
    const stated = isObject(schema) && schema.has("$schema");
    const declared = stated ? csbdata.fit.dialectOf(schema.get("$schema"), tables) : null;
    if (stated && !Object.hasOwn(tables.drafts, declared ?? "")) return null;
    let name, place;
    try {
      for (name of declared ? [declared] : Object.keys(tables.drafts)) {
        [place] = refusedBy(name, schema, tables);
        if (!place) return null;
      }
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
    return { pointer: pointer(place), sentence: declared ? `not valid under ${name}, which it declares` : `valid under no draft; this is what ${name} refuses` };
  }

  return { refusedBy, fault };
})();

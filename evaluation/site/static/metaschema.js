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

  // The places of a value that a metaschema refuses; of an `anyOf` the deepest.
  function refused(value, schema, uri, root, documents, tokens = []) {
    if (typeof schema === "boolean") return schema ? [] : [tokens];
    const inside = (part, inner, ...more) => refused(part, inner, uri, root, documents, [...tokens, ...more]);
    const members = isObject(value) ? [...value] : [];
    const INNER = {
      $ref(reference) {
        const [file, path] = new URL(reference, uri).href.split("#");
        const target = (path ?? "").split("/").slice(1).reduce((part, name) => part[name], documents[file]);
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

  // The names of the drafts under which a schema is valid.
  function validUnder(schema, { metaschemas, drafts }) {
    return Object.keys(drafts).filter((name) => !refused(schema, metaschemas[drafts[name]], drafts[name], drafts[name], metaschemas).length);
  }

  // What the draft that is declared, or else every draft, refuses: a sentence and a place.
  function fault(schema, tables) {
    const { metaschemas, drafts } = tables;
    const stated = isObject(schema) && schema.has("$schema") ? String(schema.get("$schema")).replace(/#$/, "") : null;
    const declared = Object.keys(drafts).find((name) => drafts[name] === stated);
    const valid = validUnder(schema, tables);
    if (declared ? valid.includes(declared) : stated !== null || valid.length) return null;
    const name = declared ?? Object.keys(drafts).at(-1);
    const [place] = refused(schema, metaschemas[drafts[name]], drafts[name], drafts[name], metaschemas);
    return { pointer: pointer(place), sentence: declared ? `not valid under ${name}, which it declares` : `valid under no draft; this is what ${name} refuses` };
  }

  return { validUnder, fault };
})();

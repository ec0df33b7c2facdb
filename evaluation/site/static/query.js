// Queries over records, and the paired test of two engines: no page is needed here.
"use strict";
var csbdata = globalThis.csbdata ??= {};
csbdata.query = (() => {
  const TERM = /(-)?(?:("[^"]*"|[^\s:"]+):)?("[^"]*"|[^\s"]+)/g;
  const bare = (text) => text.replaceAll('"', "");

  // Data as it is read, with what each query would else compute again.
  function prepared(data) {
    const { records } = data;
    const texts = records.id.map((id, index) => `${id}\n${records.title[index]}\n${records.names[index]}`.toLowerCase());
    const keywords = new Map(data.keywords.map((name) => [name, new Set()]));
    records.keywords.forEach((own, index) => own.forEach((each) => keywords.get(data.keywords[each]).add(index)));
    return { ...data, texts, keywords, size: records.id.length };
  }

  const byVersion = new Intl.Collator("en", { numeric: true });

  // The engine that a reader means: by its whole name, by its beginning, newest first.
  function engineOf(name, data) {
    const plain = (text) => text.toLowerCase().replaceAll("-", " ").replaceAll("_", " ");
    const wanted = plain(name);
    const fitting = data.engines.filter((it) => plain(it.name) === wanted || plain(it.name).startsWith(`${wanted} `));
    return fitting.sort((a, b) => byVersion.compare(b.name, a.name))[0];
  }

  const FATES = {
    compiled: (engine, index) => engine.compiled[index] === "1",
    asked: () => true,
    failed: (engine, index) => engine.passed[index] === "0",
  };

  function ofEngine(engine, word, data) {
    const isClass = Object.values(data.classes).includes(word);
    if (!isClass && !Object.hasOwn(data.classes, word) && !Object.hasOwn(FATES, word)) {
      const words = [...new Set([...Object.values(data.classes), ...Object.keys(data.classes), ...Object.keys(FATES)])];
      return { problem: `no outcome ${word}; there are ${words.join(", ")}` };
    }
    return {
      engine,
      test: (index) => {
        const outcome = data.outcomes[engine.outcome[index]];
        if (outcome === undefined) return false;
        if (isClass) return data.classes[outcome] === word;
        return Object.hasOwn(FATES, word) ? FATES[word](engine, index) : outcome === word;
      },
    };
  }

  function named(values, column, what) {
    return (word) => {
      const place = values.findIndex((value) => value.toLowerCase() === word.toLowerCase());
      if (place < 0) return { problem: `no ${what} ${word}; there are ${values.join(", ")}` };
      return { test: (index) => column[index] === place };
    };
  }

  function sized(column) {
    return (word) => {
      const [, sign, number] = /^([<>]=?)?(\d+)$/.exec(word) ?? [];
      if (number === undefined) return { problem: `no size ${word}; say size:>1000 or size:<1000 (characters)` };
      const most = { "<": number - 1, "<=": Number(number) }[sign] ?? Infinity;
      const least = { ">": Number(number) + 1, ">=": Number(number) }[sign] ?? (sign ? 0 : Number(number));
      return { test: (index) => least <= column[index] && column[index] <= (sign ? most : Number(number)) };
    };
  }

  function fields(data) {
    const { records } = data;
    const within = (column) => (word) => ({ test: (index) => column[index].toLowerCase().includes(word.toLowerCase()) });
    return {
      config: named(data.configs, records.config, "config"),
      dialect: named(data.dialects, records.dialect, "dialect"),
      size: sized(records.size),
      id: within(records.id),
      title: within(records.title),
      name: within(records.names),
      kw: (word) => {
        const own = data.keywords.get(word);
        return own ? { test: (index) => own.has(index) } : { problem: `no schema has the keyword ${word}` };
      },
    };
  }

  function termOf(field, word, data) {
    if (field === undefined) {
      const text = word.toLowerCase();
      return { test: (index) => data.texts[index].includes(text) };
    }
    const known = fields(data);
    if (Object.hasOwn(known, field)) return known[field](word);
    const engine = engineOf(field, data);
    if (engine) return ofEngine(engine, word, data);
    const names = [...Object.keys(known), ...data.engines.map(({ name }) => `"${name}"`)];
    return { problem: `no field or engine ${field}; there are ${names.join(", ")}` };
  }

  // Every record that all terms of a query hold for; with the engines that it names.
  function search(text, data) {
    const terms = [...text.matchAll(TERM)].map(([, not, field, word]) =>
      ({ ...termOf(field && bare(field), bare(word), data), not: Boolean(not) }));
    const problems = terms.filter((term) => term.problem).map((term) => term.problem);
    const found = [];
    if (!problems.length) {
      for (let index = 0; index < data.size; index += 1) {
        if (terms.every(({ test, not }) => test(index) !== not)) found.push(index);
      }
    }
    return { found, problems, engines: [...new Set(terms.flatMap(({ engine }) => engine ?? []))] };
  }

  // Rounds once, as Python divides whole numbers: 2 * tail / 2 ** of.
  function share(tail, of) {
    const bits = tail.toString(2).length;
    const exponent = Math.max(bits - 52 - of, -1074);
    const drop = exponent + of - 1;
    if (drop <= 0) return Number(tail) * 2 ** (1 - of);
    const rest = BigInt.asUintN(drop, tail);
    const half = 1n << BigInt(drop - 1);
    let kept = tail >> BigInt(drop);
    if (rest > half || (rest === half && kept & 1n)) kept += 1n;
    return Number(kept) * 2 ** exponent;
  }

  // The exact two-sided p of McNemar's test.
  function mcnemar(onlyA, onlyB) {
    const of = onlyA + onlyB;
    let [tail, ways] = [1n, 1n];
    for (let count = 0; count < Math.min(onlyA, onlyB); count += 1) {
      ways = ways * BigInt(of - count) / BigInt(count + 1);
      tail += ways;
    }
    return of ? Math.min(1, share(tail, of)) : 1;
  }

  // How often two engines have a property, on the records that both have it or not.
  function paired(a, b, indices) {
    const counts = { both: [], onlyA: [], onlyB: [], neither: [] };
    for (const index of indices) {
      const [own, other] = [a(index), b(index)];
      if (own === null || other === null) continue;
      counts[own ? (other ? "both" : "onlyA") : (other ? "onlyB" : "neither")].push(index);
    }
    return { ...counts, p: mcnemar(counts.onlyA.length, counts.onlyB.length) };
  }

  // Whether an engine passed or compiled a record; null if it was not asked.
  const flag = (column) => (index) => ({ 1: true, 0: false })[column[index]] ?? null;

  // The geometric mean of b / a over records that both compile, and who is faster.
  function times(a, b, indices) {
    const both = indices.filter((index) => a.compiled[index] === "1" && b.compiled[index] === "1"
      && a.compile[index] && b.compile[index]);
    const logs = both.map((index) => Math.log(b.compile[index] / a.compile[index]));
    const fasterA = logs.filter((it) => it > 0).length;
    const fasterB = logs.filter((it) => it < 0).length;
    const mean = both.length ? Math.exp(logs.reduce((sum, it) => sum + it, 0) / both.length) : null;
    return { of: both.length, mean, fasterA, fasterB, p: mcnemar(fasterA, fasterB) };
  }

  return { prepared, search, mcnemar, paired, flag, times, engineOf };
})();

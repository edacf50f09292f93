// Modules that are loaded when something of theirs is first called, though their callers import them as any other. In the place of
// such a module stands one of the same names: each loads the file, at once, and hands on the call.
import { readFileSync } from "node:fs";

const LATE = "late:";
const STAND_IN = "?late";
const LOADED = /\bimport\((["']\.\/late_[^)]*)\)/g;

/** Functions and classes of a module, and its constants that are written out. A module with anything else cannot be late. */
function exportsOf(path) {
  const called = [];
  const constants = [];
  for (const [line, what] of readFileSync(path, "utf8").matchAll(
    /^export (?!type|interface)(.*)$/gm,
  )) {
    const [, kind, name] = /^(?:async )?(function\*?|class) (\w+)/.exec(what) ?? [];
    const constant = /^(const \w+)(?:: [^=]+)? (= (?:[\d_]+|"[^"]*");)$/.exec(what);
    if (name !== undefined) called.push({ name, isClass: kind === "class" });
    else if (constant) constants.push(`export ${constant[1]} ${constant[2]}`);
    else throw new Error(`${path} cannot be late: ${line}`);
  }
  return { called, constants };
}

/** `packs`: paths of modules by the name of the file that has them. */
export function lateModules(packs) {
  const places = new Map(
    Object.entries(packs).flatMap(([pack, paths]) =>
      paths.map((path, at) => [path, { pack, at, ...exportsOf(path) }]),
    ),
  );
  return {
    name: "late-modules",
    async resolveId(source, importer) {
      if (source.startsWith(LATE)) return source;
      const found = importer && (await this.resolve(source, importer));
      const pack = found && places.get(found.id)?.pack;
      const isInside = importer === LATE + pack || places.get(importer)?.pack === pack;
      return pack === undefined || isInside ? found : found.id + STAND_IN;
    },
    load(id) {
      if (id.startsWith(LATE)) return { code: wholePack(id.slice(LATE.length)), moduleType: "js" };
      const place = id.endsWith(STAND_IN) && places.get(id.slice(0, -STAND_IN.length));
      return place ? { code: standIn(place), moduleType: "js" } : null;
    },
    renderChunk: (code) => ({
      code: code.replaceAll(
        LOADED,
        'process.getBuiltinModule("node:module").createRequire(import.meta.url)($1)',
      ),
    }),
  };

  function wholePack(pack) {
    return packs[pack]
      .map((path) => {
        const { called, at } = places.get(path);
        const names = called.map(({ name }) => `${name} as ${name}_${at}`);
        return `export { ${names.join(", ")} } from ${JSON.stringify(path)};`;
      })
      .join("\n");
  }

  function standIn({ called, constants, pack, at }) {
    const taken = called.map(({ name }) => `${name} = pack.${name}_${at};`);
    const calls = called.map(({ name, isClass }) => {
      const call = `${isClass ? "new " : ""}${name}(...args)`;
      return `export let ${name} = function (...args) { load(); return ${call}; };`;
    });
    const load = `const load = () => { const pack = import("${LATE + pack}"); ${taken.join(" ")} };`;
    return [...constants, load, ...calls].join("\n");
  }
}

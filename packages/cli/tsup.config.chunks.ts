/**
 * Which code of the program lies in which file. Each file that is loaded costs as much as some 20 kB of code, and each 100 kB
 * of code a twentieth of the start of Node, used or not.
 *   C1  What two commands share is split no further than the packs below: a command loads a handful of files.
 */
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

const packages = fileURLToPath(new URL("../", import.meta.url));

/** Modules that the command lines which start most often have in common, in layers: each needs itself and those before it. */
interface Pack {
  /** Modules whose static imports, all the way down, are in it. */
  readonly of: readonly string[];
  /** Only modules that need nothing outside of these folders. */
  readonly within?: RegExp;
  /** Who gets the whole pack: who needs more than this share of its bytes anyway. */
  readonly least: number;
  /** The same for those of its modules that others need without the rest: they are a pack of their own. */
  readonly leastApart: number;
}

const RUN = "cli/src/run/start.ts";
const VALIDATE = "cli/src/commands/validate.ts";
const EMBEDDED = "cli/src/api/embedded.ts";

const PACKS: readonly Pack[] = [
  { of: ["cli/src/main.ts"], least: -1, leastApart: -1 },
  { of: ["contracts/src/kit/index.ts"], least: 0, leastApart: 0 },
  {
    of: [RUN, VALIDATE],
    within: /\/cli\/src\/(?!run\/core-catalog|commands)/,
    least: 0,
    leastApart: 0,
  },
  {
    of: [RUN],
    within: /\/(?:cli|client|contracts)\/src\/(?!run\/core-catalog|run\/start)/,
    least: 0.03,
    leastApart: 0.03,
  },
  {
    of: [VALIDATE],
    within: /\/src\/(?!commands\/validate)/,
    least: 0.05,
    leastApart: 0,
  },
  { of: [RUN], least: 0.05, leastApart: 0 },
  { of: ["providers/src/index.ts"], least: 0.1, leastApart: 0 },
  { of: [EMBEDDED], within: /\/(?:contracts|dsl|engine)\/src\//, least: 0.3, leastApart: 0 },
  { of: [EMBEDDED], least: 0.3, leastApart: 0.3 },
];

/** Makes every lazily loaded module import the packs that it is to share: modules that the same files reach are one file. */
export const together: Plugin = {
  name: "together",
  async setup(build) {
    const { initialOptions: options, esbuild } = build;
    const plugins = options.plugins?.filter(({ name }) => name !== together.name) ?? [];
    const apart = { ...options, plugins, write: false, metafile: true, sourcemap: false } as const;
    const { inputs, outputs } = (await esbuild.build(apart)).metafile;
    const absolute = (path: string) => resolve(options.absWorkingDir ?? process.cwd(), path);
    const bytes = new Map(
      Object.values(outputs).flatMap((output) =>
        Object.entries(output.inputs)
          .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
          .map(([path, { bytesInOutput }]) => [absolute(path), bytesInOutput] as const),
      ),
    );
    const imports = new Map(
      Object.entries(inputs).map(([path, module]) => [
        absolute(path),
        module.imports
          .filter(({ kind, external }) => kind !== "dynamic-import" && external !== true)
          .map((each) => absolute(each.path)),
      ]),
    );
    const reach = (entries: readonly string[]): readonly string[] => {
      const found = new Set(entries);
      for (const path of found) for (const next of imports.get(path) ?? []) found.add(next);
      return [...found].filter((path) => imports.has(path));
    };
    const size = (paths: readonly string[]) =>
      paths.reduce((sum, path) => sum + (bytes.get(path) ?? 0), 0);
    const taken = new Set<string>();
    const packs = PACKS.map(({ of, within = /./, least, leastApart }) => {
      const modules = reach(of.map((path) => packages + path)).filter(
        (path) => !taken.has(path) && reach([path]).every((each) => within.test(each)),
      );
      for (const path of modules) taken.add(path);
      return { modules, least, leastApart };
    });
    const commands = Object.values(inputs).flatMap((module) =>
      module.imports
        .filter(({ kind, external }) => kind === "dynamic-import" && external !== true)
        .map(({ path }) => absolute(path)),
    );
    // What is needed without the rest of its pack becomes a pack of its own, for whoever needs any of it.
    let shared: readonly Pick<(typeof packs)[number], "modules" | "least">[] = packs;
    const givenTo = (command: string): readonly string[] => {
      for (let given: readonly string[] = []; ; ) {
        const needed = new Set(reach([command, ...given]));
        const more = shared
          .filter(({ modules, least }) => {
            const own = size(modules.filter((each) => needed.has(each)));
            return own > least * size(modules);
          })
          .flatMap(({ modules }) => modules);
        if (more.length === given.length) return given;
        given = more;
      }
    };
    for (let before = -1, apart = new Set<string>(); before !== apart.size; ) {
      before = apart.size;
      for (const command of commands) {
        const given = new Set(givenTo(command));
        for (const path of reach([command, ...given])) {
          if (taken.has(path) && !given.has(path)) apart.add(path);
        }
      }
      shared = packs.flatMap(({ modules, least, leastApart }) => [
        { modules: modules.filter((path) => !apart.has(path)), least },
        { modules: modules.filter((path) => apart.has(path)), least: leastApart },
      ]);
    }
    build.onResolve({ filter: /./ }, async ({ path, kind, resolveDir, importer, pluginData }) => {
      if (kind !== "dynamic-import" || pluginData === together) return;
      const found = await build.resolve(path, {
        kind,
        resolveDir,
        importer,
        pluginData: together,
      });
      return found.external || found.errors.length > 0
        ? found
        : { path: found.path, namespace: "lazy" };
    });
    build.onLoad({ filter: /./, namespace: "lazy" }, ({ path }) => ({
      contents: [
        ...givenTo(path).map((each) => `import ${JSON.stringify(each)};`),
        `export * from ${JSON.stringify(path)};`,
      ].join("\n"),
      resolveDir: dirname(path),
    }));
  },
};

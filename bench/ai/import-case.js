// What the package loads before a model is used: none of those of the makers.
import { spawnSync } from "node:child_process";

/** Tells every package of a maker that is asked for, one a line. */
const HOOK = `data:text/javascript,${encodeURIComponent(`
  import { register } from "node:module";
  register("data:text/javascript," + encodeURIComponent(\`
    import { writeSync } from "node:fs";
    export async function resolve(specifier, context, next) {
      if (/^@(ai-sdk|modelcontextprotocol)/.test(specifier)) writeSync(1, specifier + "\\\\n");
      return next(specifier, context);
    }
  \`));
`)}`;

const CONTRACTS = import.meta.resolve("@millrace/contracts");
const PROVIDERS = import.meta.resolve("@millrace/providers");

/** Imports a module in a process of its own. */
function importing(url, ...args) {
  const program = `const from = performance.now(); await import(${JSON.stringify(url)}); console.log("ms", performance.now() - from);`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...args, "--input-type=module", "--eval", program],
    { encoding: "utf8", cwd: new URL(".", import.meta.url) },
  );
  if (status !== 0) throw new Error(stderr);
  const lines = stdout.trim().split("\n");
  return { ms: Number(lines.at(-1).split(" ")[1]), packages: lines.slice(0, -1) };
}

export const importCases = {
  import: {
    what: "clock of importing @millrace/providers in a new process, beside @millrace/contracts; packages of makers that it loads",
    bars: { contracts: null },
    samples: 3,
    prepare: async () => ({
      contenders: {
        contracts: async () => importing(CONTRACTS).ms,
        millrace: async () => importing(PROVIDERS).ms,
      },
      facts: () => {
        const { packages } = importing(PROVIDERS, "--import", HOOK);
        return { "packages of makers": { value: packages.length, bar: 0 } };
      },
    }),
  },
};

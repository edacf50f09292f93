// Injects one fault into each of many runs of the command, and prints what is left of its promises.
// Usage: node inject.js [--cases 200] [--from 1] [--ledger FILE]   Exits 1 when anything is wrong, and says what.
// With a ledger, which holds a line a case, the same command goes on where it was stopped.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { main } from "@millrace/cli";
import { injectFaults, mayMount } from "./faults.js";

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    ledger: { type: "string" },
    lanes: { type: "string", default: "3" },
  },
});
const from = Number(values.from);
const all = Array.from({ length: Number(values.cases) }, (_, n) => from + n);
const before =
  values.ledger && existsSync(values.ledger) ? readFileSync(values.ledger, "utf8") : "";
const kept = before
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line));
const done = new Set(kept.map(({ seed }) => seed));
const folder = mkdtempSync(join(tmpdir(), "millrace-faults-"));
process.setMaxListeners(0);
let count = done.size;
const startedAt = performance.now();
try {
  await injectFaults(
    all.filter((seed) => !done.has(seed)),
    {
      folder,
      main,
      bin: fileURLToPath(import.meta.resolve("@millrace/cli/package.json")).replace(
        /package\.json$/,
        "bin/millrace.js",
      ),
      disk: mayMount(folder),
      lanes: Number(values.lanes),
      told(result) {
        kept.push(result);
        count += 1;
        if (values.ledger) appendFileSync(values.ledger, `${JSON.stringify(result)}\n`);
        if (count % 100 === 0) process.stderr.write(`${count} of ${all.length} cases\n`);
        for (const problem of result.problems)
          process.stderr.write(`case ${result.seed}, ${result.fault}: ${problem}\n`);
      },
    },
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const rows = new Map();
for (const { fault, problems } of kept) {
  const [cases, wrong] = rows.get(fault) ?? [0, 0];
  rows.set(fault, [cases + 1, wrong + (problems.length > 0 ? 1 : 0)]);
}
const lines = [...rows]
  .sort()
  .map(([fault, [cases, wrong]]) => `| ${fault} | ${cases} | ${wrong} |`);
const wrong = kept.filter(({ problems }) => problems.length > 0).length;
process.stdout.write(
  `| fault | cases | wrong |\n| --- | --: | --: |\n${lines.join("\n")}\n| in all, ${Math.round((performance.now() - startedAt) / 1_000)} s | ${kept.length} | ${wrong} |\n`,
);
process.exitCode = wrong > 0 || kept.length < all.length ? 1 : 0;

// How much memory reading a text needs beside the text. In the child: reads it, under whatever limit V8 was given. In the
// parent: finds the smallest limit under which that goes well, so that garbage left lying does not count.
// Usage: node heap.js <name>   Prints the heap before reading and the length of the text, in bytes.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseFlow } from "@millrace/dsl";
import { hostile } from "./hostile.js";

const UNITS = 10_000_000;
const STEPS = [1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 64, Number.POSITIVE_INFINITY];

const corpus = (name) => () =>
  readFileSync(new URL(`results/corpus/${name}.flow`, import.meta.url), "utf8");
const texts = {
  "mixed.flow (1 MB)": corpus("mixed"),
  "100k nodes (10 MB)": corpus("wide"),
  "block on one line": () => hostile.a.block(UNITS),
  comments: () => hostile["# c\\n"].item(UNITS),
  "`node a: t`": () => hostile["node a: t\\n"].item(UNITS),
  "list of numbers": () => hostile["1,\\n"].list(UNITS),
  "`a -> b`": () => hostile["a -> b\\n"].item(UNITS),
  "`[`": () => hostile["["].value(UNITS),
};
/** Most bytes of heap a byte of text may need. */
const bars = { "block on one line": 4 };

function child(name, limit) {
  const flags = limit === undefined ? [] : [`--max-old-space-size=${limit}`];
  const { stdout, status } = spawnSync(
    process.execPath,
    ["--expose-gc", "--max-semi-space-size=1", ...flags, fileURLToPath(import.meta.url), name],
    { encoding: "utf8", timeout: 120_000 },
  );
  return status === 0 ? JSON.parse(stdout) : undefined;
}

/** For each text the smallest step that is enough, as a multiple of the text. */
export function* heapRows() {
  for (const name of Object.keys(texts)) {
    const { heap, bytes } = child(name);
    let [low, high] = [0, STEPS.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      const limit = Math.ceil((heap + STEPS[middle] * bytes) / 2 ** 20);
      if (child(name, limit)) high = middle;
      else low = middle + 1;
    }
    yield { name, multiple: STEPS[low], bar: bars[name] ?? 8 };
  }
}

const [name] = process.argv.slice(2);
if (Object.hasOwn(texts, name ?? "")) {
  const text = texts[name]();
  text.charCodeAt(0);
  globalThis.gc();
  const heap = process.memoryUsage().heapUsed;
  const { graph, document } = parseFlow(text);
  if (!graph || !document) throw new Error("nothing was read");
  process.stdout.write(JSON.stringify({ heap, bytes: Buffer.byteLength(text) }));
}

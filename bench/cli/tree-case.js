// What drawing the tree costs: one run of many small steps, shown as a tree on a terminal of 80 by 24, and not shown at all.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { main } from "@millrace/cli";

const ITEMS = 10_000;
const EVENTS_A_SECOND = 10_000;
const BAR_PERCENT = 5;

const FLOW = `flow 1 many

node each: map {
  items = range(${ITEMS})
  body {
    node say: transform {
      value = 1
    }

    output = 1
  }
}
`;

/** Milliseconds of the processor that one run takes, and how many events it has. */
async function run(folder, words, isTerminal) {
  const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const before = process.cpuUsage();
  const code = await main(["run", join(folder, "many.flow"), ...words], {
    stdin: Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    env: { MILLRACE_HOME: folder, HOME: folder, LANG: "C.UTF-8", CI: "1" },
    cwd: folder,
    isTTY: { stdin: false, stdout: false, stderr: isTerminal },
    size: () => ({ columns: 80, rows: 24 }),
    now: Date.now,
    fetch: globalThis.fetch,
    signal: new AbortController().signal,
  });
  if (code !== 0) throw new Error(`exit ${code}`);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

export const treeCase = {
  what: `a map of ${ITEMS} items, shown as a tree; counted: percent of a processor while ${EVENTS_A_SECOND} events pass a second`,
  bars: { "not shown": null },
  samples: 5,
  prepare() {
    const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
    writeFileSync(join(folder, "many.flow"), FLOW);
    const spent = { plain: [], tree: [] };
    const keep = async (list, words, isTerminal) => {
      const ms = await run(folder, words, isTerminal);
      list.push(ms);
      return ms;
    };
    return {
      contenders: {
        "not shown": () => keep(spent.plain, ["-q"], false),
        millrace: () => keep(spent.tree, ["--color", "always"], true),
      },
      facts() {
        const least = (list) => Math.min(...list); // what a busy machine adds is no cost of ours
        const events = ITEMS * 2; // each item starts and succeeds
        const seconds = events / EVENTS_A_SECOND;
        const share = ((least(spent.tree) - least(spent.plain)) / (seconds * 1_000)) * 100;
        return { "% CPU": { value: Math.max(0, Math.round(share * 10) / 10), bar: BAR_PERCENT } };
      },
      close: () => rmSync(folder, { recursive: true }),
    };
  },
};

// What drawing the tree costs: one run of many small steps, shown as a tree on a terminal of 80 by 24, and not shown at all.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sized } from "../size.js";
import { inside, least } from "./inside.js";

const ITEMS = sized(10_000, 100);
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

export const treeCase = {
  what: `a map of ${ITEMS} items, shown as a tree; counted: percent of a processor while ${EVENTS_A_SECOND} events pass a second`,
  bars: { "not shown": null },
  samples: 5,
  prepare() {
    const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
    writeFileSync(join(folder, "many.flow"), FLOW);
    const spent = { plain: [], tree: [] };
    const keep = async (list, words, isTerminal) => {
      const ms = await inside(folder, ["run", "many.flow", ...words], isTerminal);
      list.push(ms);
      return ms;
    };
    return {
      contenders: {
        "not shown": () => keep(spent.plain, ["-q"], false),
        millrace: () => keep(spent.tree, ["--color", "always"], true),
      },
      facts() {
        const events = ITEMS * 2; // each item starts and succeeds
        const seconds = events / EVENTS_A_SECOND;
        const share = ((least(spent.tree) - least(spent.plain)) / (seconds * 1_000)) * 100;
        return { "% CPU": { value: Math.max(0, Math.round(share * 10) / 10), bar: BAR_PERCENT } };
      },
      close: () => rmSync(folder, { recursive: true }),
    };
  },
};

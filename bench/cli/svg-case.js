// A large flow as a picture, beside the text of its diagram, which is read and checked in the same way but not laid out.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sized } from "../size.js";
import { inside, least } from "./inside.js";

const NODES = sized(1_000, 20);
const BAR_MS = 100;

/** A tree of nodes in which every seventh has a second parent. */
function wide(count) {
  const nodes = Array.from({ length: count }, (_, at) => {
    const parents = at === 0 ? [] : at % 7 === 0 ? [at - 1, Math.max(0, at - 5)] : [at >> 1];
    const value = parents.map((parent) => `n${parent}.value`).join(" + ") || "1";
    return `node n${at}: transform {\n  value = ${value}\n}\n`;
  });
  return `flow 1 wide\n\n${nodes.join("\n")}`;
}

export const svgCase = {
  what: `\`millrace graph\` of ${NODES} nodes as svg, warm; counted: milliseconds of the processor more than as mermaid`,
  bars: { mermaid: null },
  samples: 6,
  prepare() {
    const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
    writeFileSync(join(folder, "wide.flow"), wide(NODES));
    const spent = { mermaid: [], svg: [] };
    const draw = async (format) => {
      const ms = await inside(folder, ["graph", "wide.flow", "-f", format]);
      spent[format].push(ms);
      return ms;
    };
    return {
      contenders: { mermaid: () => draw("mermaid"), millrace: () => draw("svg") },
      facts: () => ({
        ms: { value: Math.round(least(spent.svg) - least(spent.mermaid)), bar: BAR_MS, work: 1 },
      }),
      close: () => rmSync(folder, { recursive: true }),
    };
  },
};

/** `if CONDITION { a -> b } else { a -> c }`: edges from the ports of a condition. */

import { before, type Edit, type Form, type FormText, remove } from "./edits.ts";
import { innerLines, type Line } from "./lines.ts";

/** An edge, or a step alone. */
const STEP =
  /^(?:(?:([\w-]+)(?:\.out)?\s*(?:->|=>|→|-->)\s*)|(?:->|=>|→|run|goto|then)\s*)?([\w-]+)(?:\(\))?,?$/;

export const CONDITIONAL_EDGES: Form = {
  in: "file body",
  pattern: /^if\b\s*(.+?)\s*\{$/,
  says: "what follows a condition are edges from its ports: `a.true -> b`",
  wins: true,
  rewrite([, given = ""], line, text) {
    const test = given.replace(/^\(([^()]*)\)$/, "$1").trim();
    const arms = armsOf(line, text);
    if (arms === undefined) return undefined;
    const node = conditionOf(test, text);
    const id = node ?? freshId(text);
    const waits = new Set<string>();
    const edits: Edit[] = [];
    const indent = " ".repeat(line.from - line.start);
    for (const { lines, port } of arms) {
      const reached = new Set<string>();
      for (const each of lines) {
        const [, from, to = ""] = STEP.exec(each.text) ?? [];
        if (!text.ids.has(to) || (from !== undefined && !text.ids.has(from))) return undefined;
        const follows = from !== undefined && reached.has(from);
        reached.add(to);
        const edge = follows ? `${from} -> ${to}` : `${id}.${port} -> ${to}`;
        edits.push({ start: each.start, end: each.to, text: indent + edge });
        if (follows) continue;
        // Another step before the condition would have to wait for it too: which one is meant is not clear.
        if (node !== undefined && from !== undefined && from !== node) return undefined;
        if (from !== undefined && !new RegExp(`\\b${from}\\b`).test(test)) waits.add(from);
      }
    }
    const order = [...waits].map((from) => `${from} -> ${id}`);
    const head = [`node ${id}: condition {`, `  if = ${test}`, "}", "", ...order, ""]
      .map((each) => (each === "" ? each : indent + each))
      .join("\n");
    const opened = node === undefined ? [before(line, head)] : [];
    return [...opened, remove(line), ...edits, ...arms.map(({ closer }) => remove(closer))];
  },
};

interface Arm {
  readonly port: "true" | "false";
  readonly lines: readonly Line[];
  readonly closer: Line;
}

/** The arms of an `if` whose lines are all edges or steps; undefined where one of them is something else. */
function armsOf(line: Line, { lines }: FormText): readonly Arm[] | undefined {
  const arms: Arm[] = [];
  for (let at: Line | undefined = line; at !== undefined; ) {
    const { closer }: Line = at;
    const inner = innerLines(lines, at);
    if (closer === undefined || inner.length === 0) return undefined;
    if (!inner.every((each) => STEP.test(each.text))) return undefined;
    arms.push({ port: arms.length === 0 ? "true" : "false", lines: inner, closer });
    if (closer.text === "}") return arms;
    if (!/^\}\s*else\s*\{$/.test(closer.text) || arms.length > 1) return undefined;
    at = closer;
  }
  return undefined;
}

/** The node of type `condition` whose result is tested: `a`, `a.result`, `a.true`, `a == true`. */
function conditionOf(test: string, { lines }: FormText): string | undefined {
  const [, id] = /^([\w-]+)(?:\.(?:result|true))?(?:\s*={2,3}\s*true)?$/.exec(test) ?? [];
  const isCondition = lines.some(({ text }) =>
    new RegExp(`^node\\s+"?${id}"?\\s*:\\s*condition\\b`).test(text),
  );
  return id !== undefined && isCondition ? id : undefined;
}

function freshId({ ids }: FormText): string {
  let id = "choice";
  for (let count = 2; ids.has(id); count += 1) id = `choice-${count}`;
  return id;
}

/** `if CONDITION { a -> b } else { a -> c }`: edges from the ports of a condition. */

import { findReferences, nodeReference } from "../../expression/references.ts";
import { parseExpression } from "../../syntax/parse-expression.ts";
import { before, type Edit, type Form, type FormText, remove } from "./edits.ts";
import { innerLines, type Line } from "./lines.ts";

/** An edge, or a step alone. */
const STEP =
  /^(?:([\w-]+)(?:\.out)?\s*(?:->|=>|→|-->)\s*|(?:->|=>|→)\s*|(?:run|goto|then)\s+)?([\w-]+)(?:\(\))?,?$/;
/** A line that continues the one before it, which may be an edge or a step of its own. */
const GOES_ON = /^(?:->|=>|→|then\s)/;

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
    const read = readIn(test, text);
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
        if (from !== undefined && !read.has(from)) waits.add(from);
      }
    }
    const order = [...waits].map((from) => `${from} -> ${id}`);
    const head = [`node ${id}: condition {`, `  if = ${test}`, "}", "", ...order, ""]
      .map((each) => (each === "" ? each : indent + each))
      .join("\n");
    const opened = node === undefined ? [before(line, head)] : [];
    if (node === undefined) text.fresh.add(id);
    return [...opened, remove(line), ...edits, ...arms.flatMap(({ ends }) => ends.map(remove))];
  },
};

interface Arm {
  readonly port: "true" | "false";
  readonly lines: readonly Line[];
  /** The lines that end it. */
  readonly ends: readonly Line[];
}

/** The arms of an `if` whose lines are all edges or steps; undefined where one of them is something else. */
function armsOf(line: Line, { lines }: FormText): readonly Arm[] | undefined {
  const arms: Arm[] = [];
  for (let at = line; ; ) {
    const { closer }: Line = at;
    const inner = innerLines(lines, at);
    if (closer === undefined || inner.length === 0) return undefined;
    const isClear = ({ text }: Line, index: number): boolean =>
      STEP.test(text) && (index === 0 || !GOES_ON.test(text));
    if (!inner.every(isClear)) return undefined;
    const port = arms.length === 0 ? "true" : "false";
    // `else` may stand on the line behind the brace.
    let next = closer.index + 1;
    while (lines[next]?.text === "") next += 1;
    const behind = lines[next];
    const split: Line | undefined =
      closer.text === "}" && /^else\b/.test(behind?.text ?? "") ? behind : undefined;
    arms.push({ port, lines: inner, ends: split === undefined ? [closer] : [closer, split] });
    if (closer.text === "}" && split === undefined) return arms;
    at = split ?? closer;
    if (!/^(?:\}\s*)?else\s*\{$/.test(at.text) || arms.length > 1) return undefined;
  }
}

/** The node of type `condition` whose result is tested: `a`, `a.result`, `a.true`, `a == true`. */
function conditionOf(test: string, { ids, lines }: FormText): string | undefined {
  const [, id] = /^([\w-]+)(?:\.(?:result|true))?(?:\s*={2,3}\s*true)?$/.exec(test) ?? [];
  if (id === undefined || !ids.has(id)) return undefined;
  const head = new RegExp(`^node\\s+"?${id}"?\\s*:\\s*condition\\b`);
  return lines.some(({ text }) => head.test(text)) ? id : undefined;
}

/** The nodes that a test reads: it waits for those. */
function readIn(test: string, { ids }: FormText): ReadonlySet<string> {
  const { ast } = parseExpression(test);
  const words = test.replace(/"(?:\\.|[^"\\])*"?|'[^']*'?/g, "").match(/(?<![\w.-])[\w-]+/g) ?? [];
  const names = ast && findReferences(ast).map((each) => nodeReference(each)?.id ?? "");
  return new Set((names ?? words).filter((name) => ids.has(name)));
}

function freshId({ ids, fresh }: FormText): string {
  let id = "choice";
  for (let count = 2; ids.has(id) || fresh.has(id); count += 1) id = `choice-${count}`;
  return id;
}

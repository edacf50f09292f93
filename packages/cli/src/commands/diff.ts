/** `millrace diff`: what two flows do differently, or how their texts differ. */

import { isDeepStrictEqual } from "node:util";
import type { FlowBody, FlowGraph, FlowNode } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { normalizeGraph, printFlow } from "@millrace/dsl";
import { createTwoFilesPatch } from "diff";
import { arg, command } from "../argv/flags.ts";
import { type CliCommand, type CommandIo, type Input, isOn } from "../argv/spec.ts";
import { CliError, usage } from "../errors.ts";
import { createStyle, type Style } from "../output/style.ts";
import { clean } from "../output/text.ts";
import { readableFlow } from "../run/load-flow.ts";

export const commands: readonly CliCommand[] = [
  command("diff", "say what two flows do differently", {
    args: [arg("before", "a .flow file, a graph as JSON, or -"), arg("after", "the same")],
    flags: [
      { long: "semantic", summary: "nodes, edges and fields, whatever their order (default)" },
      { long: "text", summary: "the lines that differ" },
    ],
    output: "check",
    examples: [["diff hello.flow hello.flow", "exit code 1 when they differ"]],
    run,
  }),
];

/** Ends with exit code 1 when there is a difference. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const [a = "", b = ""] = input.args;
  if (a === "-" && b === "-") throw usage("only one thing can read stdin", "name - once");
  if (isOn(input, "text") && isOn(input, "semantic")) {
    throw usage("--text and --semantic cannot be used together");
  }
  const style = createStyle(io.colour, io.env);
  const before = await readableFlow(a, input, io);
  const after = await readableFlow(b, input, io);
  if (isOn(input, "text")) return textDiff();
  const differences = differencesOf(before.graph, after.graph);
  for (const each of differences) {
    if (io.json === undefined) await io.out.write(`${lineOf(each, style)}\n`);
    else await io.json.result(each);
  }
  return ended(differences.length);

  async function textDiff(): Promise<number> {
    const [one, other] = [before, after].map(({ text, graph }) => text ?? printFlow(graph));
    if (one === other) return 0;
    const patch = createTwoFilesPatch(before.name, after.name, one ?? "", other ?? "");
    if (io.json === undefined) await io.out.write(patch);
    else await io.json.result({ patch });
    return ended(1);
  }

  function ended(count: number): number {
    if (count === 0) return 0;
    throw new CliError("check_failed", "the flows are different", { reported: true });
  }
}

const MARKS = { added: "+", removed: "-", changed: "~" } as const;

/** `~ node fetch  fields.url: "a" → "b"`. */
function lineOf({ change, part, name, path, before, after }: Difference, style: Style): string {
  const paint = change === "added" ? style.good : change === "removed" ? style.bad : style.bold;
  const what = path === undefined ? "" : `  ${path}: ${shownValue(before)} → ${shownValue(after)}`;
  const mark = path === undefined ? MARKS[change] : MARKS.changed;
  return `${paint(mark)} ${part} ${clean(name)}${clean(what)}`;
}

/** An expression as its source, anything else as JSON. */
function shownValue(value: unknown): string {
  if (value === undefined) return "(none)";
  if (typeof value === "object" && value !== null && "$" in value) return String(value.$);
  return JSON.stringify(value);
}

export type Part = "flow" | "input" | "node" | "edge" | "output" | "connection" | "schedule";

/**
 * One difference. `name`: of a node its path, of an edge `from.port -> to`, of the flow itself its id. `path`: the member that
 * changed, by dots, absent where the part as a whole came or went.
 */
export interface Difference {
  readonly change: "added" | "removed" | "changed";
  readonly part: Part;
  readonly name: string;
  readonly path?: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

type Named = Omit<Difference, "change" | "path" | "before" | "after">;

/** The differences, in the order flow, inputs, nodes and edges, outputs, connections, schedules. */
export function differencesOf(before: FlowGraph, after: FlowGraph): Difference[] {
  const [a, b] = [normalizeGraph(before), normalizeGraph(after)];
  const found: Difference[] = [];
  compareMembers({ part: "flow", name: a.id }, headOf(a), headOf(b));
  compareNamed("input", a.inputs, b.inputs);
  compareBodies("", a, b);
  compareNamed("output", a.outputs, b.outputs);
  compareNamed("connection", a.connections, b.connections);
  compareNamed("schedule", a.schedules, b.schedules);
  return found;

  function compareNamed(
    part: Part,
    old: readonly { readonly name: string }[],
    now: readonly { readonly name: string }[],
  ): void {
    compareLists(part, keyed(old, nameOf), keyed(now, nameOf), compareMembers);
  }

  function compareBodies(
    owner: string,
    old: Pick<FlowBody, "nodes" | "edges">,
    now: Pick<FlowBody, "nodes" | "edges">,
  ): void {
    const pathOf = ({ id }: FlowNode): string => (owner === "" ? id : `${owner}/${id}`);
    compareLists(
      "node",
      keyed(old.nodes, pathOf),
      keyed(now.nodes, pathOf),
      (named, one, other) => {
        const { body: oldBody, ...oldRest } = one;
        const { body: newBody, ...newRest } = other;
        compareMembers(named, oldRest, newRest);
        const { nodes: oldNodes = [], edges: oldEdges = [], ...oldEnd } = oldBody ?? {};
        const { nodes: newNodes = [], edges: newEdges = [], ...newEnd } = newBody ?? {};
        compareMembers(named, oldEnd, newEnd, "body");
        compareBodies(
          named.name,
          { nodes: oldNodes, edges: oldEdges },
          { nodes: newNodes, edges: newEdges },
        );
      },
    );
    const within = owner === "" ? "" : `${owner}: `;
    const nameOfEdge = ({ from, port, to }: FlowBody["edges"][number]): string =>
      `${within}${from}${port === "out" ? "" : `.${port}`} -> ${to}`;
    compareLists(
      "edge",
      keyed(old.edges, nameOfEdge),
      keyed(now.edges, nameOfEdge),
      compareMembers,
    );
  }

  function compareLists<T>(
    part: Part,
    old: ReadonlyMap<string, T>,
    now: ReadonlyMap<string, T>,
    compare: (named: Named, one: T, other: T) => void,
  ): void {
    for (const [key, one] of old) {
      const name = nameIn(key);
      const other = now.get(key);
      if (other === undefined) found.push({ change: "removed", part, name });
      else compare({ part, name }, one, other);
    }
    for (const key of now.keys()) {
      if (!old.has(key)) found.push({ change: "added", part, name: nameIn(key) });
    }
  }

  function compareMembers(named: Named, one: object, other: object, path = ""): void {
    const old = new Map(Object.entries(one));
    const now = new Map(Object.entries(other));
    for (const key of new Set([...old.keys(), ...now.keys()])) {
      compareValues(named, old.get(key), now.get(key), path === "" ? key : `${path}.${key}`);
    }
  }

  function compareValues(named: Named, one: unknown, other: unknown, path: string): void {
    if (isDeepStrictEqual(one, other)) return;
    if (isData(one) && isData(other)) compareMembers(named, one, other, path);
    else {
      const change = one === undefined ? "added" : other === undefined ? "removed" : "changed";
      const before = one === undefined ? {} : { before: one };
      found.push({
        change,
        ...named,
        path,
        ...before,
        ...(other !== undefined && { after: other }),
      });
    }
  }
}

function headOf({ version, id, title, meta, policy }: FlowGraph): object {
  return {
    version,
    id,
    ...(title !== undefined && { title }),
    ...(meta !== undefined && { meta }),
    ...(policy !== undefined && { policy }),
  };
}

/** Whether members say something by themselves: an expression, a template or a literal is one value. */
function isData(value: unknown): value is object {
  if (!isObject(value)) return false;
  return !Object.keys(value).some((key) => key === "$" || key === "$t" || key === "$lit");
}

const nameOf = ({ name }: { readonly name: string }): string => name;
const AGAIN = "\n"; // no name has one

/** By name; the second of a name (an invalid flow has such) has a key of its own. */
function keyed<T>(items: readonly T[], name: (item: T) => string): Map<string, T> {
  const map = new Map<string, T>();
  for (const item of items) {
    let key = name(item);
    while (map.has(key)) key += AGAIN;
    map.set(key, item);
  }
  return map;
}

function nameIn(key: string): string {
  return key.split(AGAIN, 1)[0] ?? key;
}

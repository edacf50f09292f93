/**
 * `millrace replay`: a run that has happened, shown again from its log.
 *   P1  Nothing is executed.
 *   P2  A log that breaks an invariant is not shown: exit code 1, with the invariant and the place.
 */

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AnyEvent,
  checkLog,
  createView,
  type ExecutionEvent,
  type FlowGraph,
  foldEvents,
  type Summary,
} from "@millrace/contracts";
import { toWhole, withApi } from "../api/command.ts";
import { broken, eventsOf, readLog, runIdOf } from "../api/runs.ts";
import { arg, option, serverCommand } from "../argv/flags.ts";
import { type CliCommand, type CommandIo, flagText, type Input } from "../argv/spec.ts";
import { CliError, endedBy, usage } from "../errors.ts";
import { createDisplay } from "../output/create-display.ts";

export const commands: readonly CliCommand[] = [
  serverCommand("replay", "show a run again from its log; nothing is executed", {
    args: [{ ...arg("run", "a run, a file of events, or - for stdin", "run"), orFile: true }],
    flags: [
      option("speed", "<speed>", "1: as fast as it was; max: at once (default)", {
        choices: ["1", "max"],
      }),
      option("until", "<seq>", "up to this event"),
    ],
    output: "stream",
    examples: [["replay events.ndjson --speed 1", "what run --events has written"]],
    run,
  }),
];

/** A pause that lasted days is shown, not sat out. */
const MAX_PAUSE_MS = 5_000;

/** A log, checked, with the flow that its tree is drawn from. */
interface Recording {
  readonly events: readonly ExecutionEvent[];
  readonly graph: FlowGraph;
}

/** Shows a stored run or a file of events. The exit code is the run's, 0 where what is shown ends before it. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const text = flagText(input, "until");
  const until = text === undefined ? Number.POSITIVE_INFINITY : toWhole(text, "--until");
  if (until === 0) throw usage("--until takes the number of an event, 1 or more");
  const name = input.args[0] ?? "-";
  const { events, graph } = (await isFile(name, io))
    ? await fromFile(name, io, until)
    : await fromStore(name, input, io, until).catch(async (error: unknown) => {
        throw (await isMissing(error, name, io))
          ? usage(`cannot read ${name}: it is a folder, and no run has this id`)
          : error;
      });
  const summary = await play(events, graph, { slowly: flagText(input, "speed") === "1", io });
  if (io.out.closed) return 1;
  if (summary !== undefined) return summary.exitCode;
  if (io.json !== undefined) {
    // Of its own: nothing is said of how the run went on.
    const { soleSummary } = await import("../output/ndjson.ts");
    await io.json.events([soleSummary("succeeded", io.now())]);
  }
  return 0;
}

async function isFile(name: string, io: CommandIo): Promise<boolean> {
  if (name === "-" || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) return true;
  return stat(resolve(io.cwd, name)).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** Whether what was named is there, but as a folder. */
async function isMissing(error: unknown, name: string, io: CommandIo): Promise<boolean> {
  if (!(error instanceof CliError) || error.problem !== "not_found") return false;
  return (await stat(resolve(io.cwd, name)).catch(() => undefined)) !== undefined;
}

async function fromFile(name: string, io: CommandIo, until: number): Promise<Recording> {
  const log = await readLog(name, io, until);
  check(log, { unfinished: until !== Number.POSITIVE_INFINITY });
  const events = log as readonly ExecutionEvent[];
  return { events, graph: sketchOf(events) };
}

function fromStore(word: string, input: Input, io: CommandIo, until: number): Promise<Recording> {
  return withApi(input, io, undefined, async (api) => {
    const runId = await runIdOf(word, api);
    const { endedAt } = await api.invoke("get_run", { runId });
    const graph = await api.invoke("get_run_graph", { runId });
    const log = await eventsOf(runId, api, until);
    const { impliedEdges } = await import("@millrace/dsl");
    const unfinished = endedAt === null || until !== Number.POSITIVE_INFINITY;
    check(log, { unfinished, graph, implied: impliedEdges(graph) });
    return { events: log as readonly ExecutionEvent[], graph };
  });
}

function check(log: readonly AnyEvent[], options: Parameters<typeof checkLog>[1]): void {
  const [first] = checkLog(log, options);
  if (first !== undefined) throw broken(first.invariant, first.seq, first.message);
}

/** The flow as far as its log tells: steps in the order in which they began. */
function sketchOf(events: readonly ExecutionEvent[]): FlowGraph {
  const types = new Map<string, string>();
  let id = "run";
  let outputs: readonly string[] = [];
  for (const event of events) {
    if (event.kind === "run.started") id = event.flow.id;
    if (event.kind === "summary") outputs = Object.keys(event.outputs);
    if (!("node" in event) || event.node === undefined || event.node.includes("/")) continue;
    const type = event.kind === "node.started" ? event.type : (types.get(event.node) ?? "");
    types.set(event.node, type);
  }
  return {
    version: 1,
    id,
    meta: {},
    inputs: [],
    nodes: [...types].map(([node, type]) => ({ id: node, type, fields: {} })),
    edges: [],
    outputs: outputs.map((name) => ({ name, value: null })),
    connections: [],
    schedules: [],
    layout: {},
  };
}

/** Shows events in one go, or each after the time that lay before it. Ends with `cancelled` on a signal. */
async function play(
  events: readonly ExecutionEvent[],
  graph: FlowGraph,
  { slowly, io }: { readonly slowly: boolean; readonly io: CommandIo },
): Promise<Summary | undefined> {
  const view = createView(events[0]?.runId);
  // The clock is the log's: what ran for a second then has run for a second now.
  let shift = 0;
  const now = (): number => (slowly ? io.now() - shift : view.updatedAt);
  const display = await createDisplay(graph, view, { ...io, now, interactive: false });
  const last = events.at(-1);
  try {
    for (const page of slowly ? events.map((event) => [event]) : [events]) {
      const { ts } = page[0] ?? { ts: 0 };
      if (slowly) {
        const pause = view.updatedAt === 0 ? 0 : ts - view.updatedAt;
        await sleep(Math.min(pause, MAX_PAUSE_MS), undefined, { signal: io.signal });
        shift = io.now() - ts;
      }
      for (const event of page) foldEvents(view, event);
      await display.show(page);
      if (io.out.closed) break;
    }
  } catch (error) {
    await display.end();
    if (!io.signal.aborted) throw error;
    throw endedBy(io.signal);
  }
  const summary = last?.kind === "summary" ? last : undefined;
  await display.end(summary);
  return summary;
}

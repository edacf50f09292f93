/**
 * What of a run's log is withheld when it ends: the content of `ai` nodes with `auditContent: "none"`, of all `ai` nodes
 * where the installation keeps no content. The rows are written with the summary, so there is no moment in between.
 *   S1  A withheld event keeps its `seq`, its kind and its lengths.
 *   S2  A value that only withheld events name goes with them.
 * @see the pages "AI", section 10, and "Durability", D2
 */
import {
  type EncodedEvent,
  type ExecutionEvent,
  type FlowGraph,
  serialiseEvent,
  type ValueRef,
  withholdContent,
} from "@millrace/contracts";
import { unnamedBlobs } from "../retention/deletion.ts";
import type { Database, Op } from "../sql/port.ts";
import { eventOf, pagesOf } from "./pages.ts";

/** Decides for the runs of one journal. */
export interface Seals {
  /** Told of a run whose whole log will pass here. */
  begin(run: number, graph: FlowGraph): void;
  /** Told that another process may have written to a run: what passed here is not its whole log. */
  forget(run: number): void;
  /** Called with the events that are appended before the end. */
  see(run: number, events: readonly EncodedEvent[]): void;
  /** Told of the last events; answers the rows that belong to them, at once where nothing is withheld. */
  end(run: number, events: readonly EncodedEvent[]): readonly Op[] | Promise<readonly Op[]>;
}

/** The nodes of a run. True: the node keeps its content; undefined: it is not an `ai` node. */
interface Known {
  /** The nodes of the graph, by their ids from the outside in. */
  readonly places: ReadonlyMap<string, boolean | undefined>;
  /** Nodes that have called a model, by path: those of nested flows are in no graph here. Null: none has. */
  calls: Map<string, boolean> | null;
}

/** A run and its last events. */
interface Ended {
  readonly run: number;
  readonly events: readonly EncodedEvent[];
}

const AI_TYPE = "ai";

/** Whether what models said is kept, as of now. */
export type KeepsContent = () => boolean | Promise<boolean>;

export function createSeals(reader: Database, keepsContent: KeepsContent): Seals {
  const known = new Map<number, Known>();
  /** Runs of one plan share the object of its graph. */
  const placesIn = new WeakMap<FlowGraph, Known["places"]>();
  const rowsOf = (
    { run, events }: Ended,
    { places, calls }: Known,
    keeps: boolean,
  ): readonly Op[] | Promise<readonly Op[]> => {
    const isKept = (path: string): boolean => {
      const call = calls?.get(path);
      const place = path.replace(REPEATS, "");
      const isAi = call !== undefined || places.get(place) !== undefined;
      if (!isAi || !keeps) return !isAi;
      return (places.has(place) ? places.get(place) : call) !== false;
    };
    const all = [...(calls?.keys() ?? []), ...places.keys()];
    return all.every(isKept) ? [] : withheldRows(reader, run, { events, isKept });
  };
  return {
    begin(run, graph) {
      const places = placesIn.get(graph) ?? placesOf(graph);
      placesIn.set(graph, places);
      known.set(run, { places, calls: null });
    },

    forget(run) {
      known.delete(run);
    },

    see(run, events) {
      const whole = known.get(run);
      if (whole !== undefined) note(whole, events);
    },

    end(run, events) {
      const whole = known.get(run);
      if (whole !== undefined) note(whole, events);
      known.delete(run);
      if (whole === undefined) {
        return learnt(reader, run, events).then(async (learned) =>
          rowsOf({ run, events }, learned, await keepsContent()),
        );
      }
      const hasModels =
        whole.calls !== null || [...whole.places.values()].some((keeps) => keeps !== undefined);
      if (!hasModels) return [];
      const keeps = keepsContent();
      return typeof keeps === "boolean"
        ? rowsOf({ run, events }, whole, keeps)
        : keeps.then((kept) => rowsOf({ run, events }, whole, kept));
    },
  };
}

/** Attempt and index of the segments of a path, which the graph does not know. */
const REPEATS = /(?:~\d+)?(?:\[\d+\])?(?=\/|$)/g;

function placesOf(
  { nodes }: Pick<FlowGraph, "nodes">,
  before = "",
  places: Map<string, boolean | undefined> = new Map(),
): Map<string, boolean | undefined> {
  for (const { id, type, fields, body } of nodes) {
    const place = before + id;
    places.set(place, type === AI_TYPE ? fields["auditContent"] !== "none" : undefined);
    if (body !== undefined) placesOf(body, `${place}/`, places);
  }
  return places;
}

/** A call without an audit is one of a node that keeps none. */
function note(known: Known, events: readonly { readonly event: unknown }[]): void {
  for (const { event } of events as readonly { readonly event: ExecutionEvent }[]) {
    if (event.kind !== "llm.started") continue;
    known.calls ??= new Map();
    const { calls } = known;
    calls.set(event.node, event.audit !== undefined && calls.get(event.node) !== false);
  }
}

/** Of a run that was begun by another process. */
async function learnt(
  reader: Database,
  run: number,
  events: readonly EncodedEvent[],
): Promise<Known> {
  const row = await reader.get(
    "SELECT g.json FROM run r JOIN graph g ON g.digest = r.graph WHERE r.no = ?",
    [run],
  );
  const graph = row?.["json"];
  const sql = "SELECT line FROM journal WHERE run = ? AND kind = 'llm.started'";
  const started = await reader.all(sql, [run]);
  // without a run there is no place, and the append is refused
  const known: Known = {
    places: placesOf(JSON.parse(String(graph ?? '{"nodes":[]}'))),
    calls: null,
  };
  note(known, [...started.map(({ line }) => ({ event: eventOf(line) })), ...events]);
  return known;
}

interface Sealing {
  /** The last events, which are not stored yet. */
  readonly events: readonly EncodedEvent[];
  isKept(path: string): boolean;
}

async function withheldRows(
  reader: Database,
  run: number,
  { events, isKept }: Sealing,
): Promise<Op[]> {
  const lines: (string | number | Uint8Array)[][] = [];
  const tools: (string | number)[][] = [];
  const kept = new Set<string>();
  const gone = new Set<string>();
  const judge = (event: ExecutionEvent): void => {
    const node = "node" in event ? event.node : undefined;
    const sealed = node === undefined || isKept(node) ? event : withholdContent(event);
    for (const ref of refsOf(event)) (sealed === event ? kept : gone).add(ref);
    if (sealed === event) return;
    lines.push([Buffer.from(serialiseEvent(sealed)), run, event.seq]);
    if (sealed.kind === "confirm.requested") {
      tools.push([JSON.stringify(sealed.tool), run, sealed.id]);
    }
  };
  const end = (events[0]?.seq ?? 1) - 1;
  for await (const page of pagesOf(reader, { run, after: 0, end })) {
    for (const { line } of page) judge(eventOf(line));
  }
  for (const { event } of events) judge(event);
  const refs = [...gone].filter((ref) => !kept.has(ref));
  return [
    { sql: "UPDATE journal SET line = ? WHERE run = ? AND seq = ?", rows: lines },
    { sql: "UPDATE confirmation SET tool = ? WHERE run = ? AND id = ?", rows: tools },
    {
      sql: "DELETE FROM step_value WHERE run = ? AND ref = ?",
      rows: refs.map((ref) => [run, ref]),
    },
    {
      sql: "DELETE FROM run_blob WHERE run = ? AND digest = ?",
      rows: refs.map((ref) => [run, ref]),
    },
    unnamedBlobs(refs),
  ];
}

/** References to values that an event holds. */
function refsOf(event: ExecutionEvent): string[] {
  const holder = event as {
    readonly outputRef?: ValueRef;
    readonly argsRef?: ValueRef;
    readonly resultRef?: ValueRef;
    readonly audit?: { readonly ref?: ValueRef };
    readonly outputRefs?: { readonly [name: string]: ValueRef };
  };
  return [
    holder.outputRef,
    holder.argsRef,
    holder.resultRef,
    holder.audit?.ref,
    ...Object.values(holder.outputRefs ?? {}),
  ].flatMap((value) => (value === undefined ? [] : [value.ref]));
}

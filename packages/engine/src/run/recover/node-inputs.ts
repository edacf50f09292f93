/**
 * What a node was given, evaluated again from the log of its run: the compiled fields of the node, the names that it saw, and
 * the clock of its attempt. Nothing is executed, and nothing private is read: all that is shown was shown before.
 */
import {
  type FieldValue,
  hideSecretInputs,
  type Journal,
  type Json,
  type JsonObject,
  type NodeCancelled,
  type NodeFailed,
  type NodeSkipped,
  type NodeStarted,
  type NodeSucceeded,
  type PathSegment,
  parseEvent,
  parsePath,
  type RunHeader,
  type RunStarted,
} from "@millrace/contracts";
import { canonicalJson, isObject, redactedPlaces, sha256Hex } from "@millrace/contracts/kit";
import { type Layout, localName } from "../../compile/layout.ts";
import { type Plan, partsOf } from "../../compile/plan.ts";
import { checkInputs } from "../../inputs.ts";
import { plainFields } from "../cache.ts";
import { CANCELLED, DEFAULTED, FAILED, ROUTED, SKIPPED, SUCCEEDED } from "../frame.ts";
import { MARK, maskKeys } from "../redact.ts";
import { type Known, Past, PastFrame } from "./past-frame.ts";

/** A run and where its log is. */
export interface RecordedRun {
  readonly journal: Pick<Journal, "read" | "getValue">;
  /** Secret inputs are not read, should they be in it. */
  readonly header: RunHeader;
  /** Of the flow of the header. */
  readonly plan: Plan;
}

/** Inputs of an attempt. */
export interface NodeInputs {
  /** Type of the node. */
  readonly type: string;
  readonly attempt: number;
  /** By name, defaults included. Fields that the node evaluates itself, such as `until` of a loop, are not among them. */
  readonly fields: JsonObject;
  /** JSON Pointers into `fields`: places in which something reads `[redacted]`. */
  readonly redacted: readonly string[];
  /** Names of fields whose value is no longer known, or could not be evaluated then. */
  readonly absent: readonly string[];
}

/** The inputs of a run, without what its flow calls secret and without members whose names say that they are. */
export function readRunInputs({ graph, inputs }: RunHeader): JsonObject {
  return maskKeys(hideSecretInputs(graph.inputs, inputs as JsonObject)) as JsonObject;
}

/** The start of an attempt. */
interface Start {
  readonly seq: number;
  readonly ts: number;
  readonly attempt: number;
  readonly digest: string | undefined;
}

/** One level of a path: the layout that it is in, and the node whose body or flow that is. */
interface Level {
  readonly layout: Layout;
  /** Prefix of the ids in its paths. */
  readonly base: string;
  /** Absent for the flow itself. */
  readonly owner?: Owner;
}

interface Owner {
  readonly path: string;
  readonly node: number;
  readonly attempt: number;
  readonly index: number;
  readonly kind: "map" | "loop" | "flow" | "tool";
}

/**
 * The fields of a node as they were at the start of an attempt; absent: the last one. Null: the run has no such node, or it has
 * not begun such an attempt.
 */
export async function readNodeInputs(
  run: RecordedRun,
  { node: path, attempt }: { readonly node: string; readonly attempt?: number | undefined },
): Promise<NodeInputs | null> {
  const segments = parsePath(path);
  const levels = levelsOf(partsOf(run.plan).layout, segments);
  const id = segments.at(-1)?.id ?? "";
  const inner = levels?.at(-1);
  const node = inner?.layout.index.get(id);
  if (levels === null || inner === undefined || node === undefined) return null;
  const { past, starts } = await readLog(run, levels, { path, node, attempt });
  const start = starts.get(path);
  if (start === undefined || (attempt !== undefined && start.attempt !== attempt)) return null;
  const evaluator = new Evaluator(run, past, starts);
  const { fields, absent } = await evaluator.fields(await evaluator.frame(levels), node, start);
  const shown = maskKeys(fields) as JsonObject;
  const type = inner.layout.types[node]?.entry.type ?? "";
  return { type, attempt: start.attempt, fields: shown, redacted: redactedPlaces(shown), absent };
}

/** The levels of a path, outermost first; null: the flow has no such place. */
function levelsOf(layout: Layout, segments: readonly PathSegment[]): Level[] | null {
  const levels: Level[] = [{ layout, base: "" }];
  for (const [at, { id, attempt = 1, index }] of segments.slice(0, -1).entries()) {
    const { layout: outer, base } = levels[at] as Level;
    const node = outer.index.get(id);
    if (node === undefined) return null;
    const kind = kindOf(outer, node, index);
    const next = (segments[at + 1] as PathSegment).id;
    const inner = kind === "tool" ? toolLayout(outer, node, next) : outer.bodies[node];
    if (inner === null || inner === undefined) return null;
    const path = base + id;
    const owner = { path, node, attempt, index: index ?? 0, kind };
    levels.push({ layout: inner, base: baseOf(owner, index), owner });
  }
  return levels;
}

function baseOf({ path, attempt }: Owner, index: number | undefined): string {
  return `${path}${attempt > 1 ? `~${attempt}` : ""}${index === undefined ? "" : `[${index}]`}/`;
}

function kindOf(layout: Layout, node: number, index: number | undefined): Owner["kind"] {
  if (layout.bodies[node] === null) return "tool";
  if (index === undefined) return "flow";
  return layout.types[node]?.entry.type === "loop" ? "loop" : "map";
}

/** The flow that a node called as a tool. A path does not name it: only a flow that no other one is taken for is answered. */
function toolLayout(layout: Layout, node: number, next: string): Layout | null {
  const flows = [...(layout.tools[node]?.flows.values() ?? [])];
  const [found, ...others] = flows.filter((flow) => flow.layout.index.has(next));
  return others.length > 0 ? null : (found?.layout ?? null);
}

/** Reads the events of the levels from the log, up to the attempt in question. */
async function readLog(
  { journal, header, plan }: RecordedRun,
  levels: readonly Level[],
  asked: { readonly path: string; readonly node: number; readonly attempt: number | undefined },
): Promise<{ past: Past; starts: Map<string, Start> }> {
  const { runId } = header;
  const past = new Past((ref) => journal.getValue(runId, ref));
  past.vars = header.options?.vars ?? {};
  for (const name of partsOf(plan).secrets) past.secretValues.set(name, MARK);
  const starts = new Map<string, Start>();
  const wanted = new Map(
    levels.flatMap(({ owner }) => (owner ? [[owner.path, owner.attempt]] : [])),
  );
  const named = namesRead(levels, asked.node);
  const utf8 = new TextDecoder();
  for await (const page of journal.read(runId, 0)) {
    for (const { kind, line } of page) {
      if (!READ.has(kind)) continue;
      const path = NODE.exec(utf8.decode(line.subarray(0, HEAD_BYTES)))?.[1] ?? "";
      const isStart = kind === "node.started";
      if (isStart ? path !== asked.path && !wanted.has(path) : !levels.some(isIn(path))) continue;
      const e = parseEvent(utf8.decode(line)) as RunStarted | Ended | NodeStarted;
      if (e.kind === "run.started") {
        const startedAt = new Date(e.ts).toISOString();
        past.info = { id: runId, startedAt, flow: partsOf(plan).graph.id };
      } else if (e.kind !== "node.started") {
        const isNamed = named?.has(path.slice(path.lastIndexOf("/") + 1)) !== false;
        past.ends.set(path, { ...endOf(e), ...(!isNamed && NOT_READ) });
      } else if (path === asked.path || wanted.get(path) === e.attempt) {
        const { seq, ts, attempt, inputs: digest } = e;
        starts.set(path, { seq, ts, attempt, digest });
        if (path === asked.path && attempt === asked.attempt) return { past, starts };
      }
    }
  }
  return { past, starts };
}

/** The path in a line, behind the moment; it needs no escapes. */
const NODE = /"ts":\d+,"node":"([^"]*)"/;
/** The envelope of a line with the longest path. */
const HEAD_BYTES = 1_024;
/** An output that nothing reads is not held. */
const NOT_READ = { output: null, ref: null } as const;

/**
 * Whether a path is directly in a level, or in an earlier round of its loop: those made its state. A path may name any round, so
 * they are not counted up to it.
 */
function isIn(path: string): (level: Level) => boolean {
  const base = path.slice(0, path.lastIndexOf("/") + 1);
  return ({ base: own, owner }) => {
    if (base === own) return true;
    const before = own.lastIndexOf("[") + 1;
    if (owner?.kind !== "loop" || base.slice(0, before) !== own.slice(0, before)) return false;
    const [, round] = /^(\d+)\]\/$/.exec(base.slice(before)) ?? [];
    return Number(round) < owner.index;
  };
}

/** Ids of the nodes that the fields of a node, and the bodies around it, may read; null: any. */
function namesRead(levels: readonly Level[], node: number): ReadonlySet<string> | null {
  const values = levels.flatMap(({ layout }, at) => {
    const inner = levels[at + 1]?.owner?.node ?? node;
    const fields = layout.fields[inner]?.computed.map(([, value]) => value) ?? [];
    return layout.bodyOutput === null ? fields : [...fields, layout.bodyOutput];
  });
  if (values.some(({ viaNodes }) => viaNodes === "all")) return null;
  return new Set(
    values.flatMap(({ viaNodes, references }) => [...viaNodes, ...references.map((r) => r.root)]),
  );
}

const READ: ReadonlySet<string> = new Set([
  "run.started",
  "node.started",
  "node.succeeded",
  "node.failed",
  "node.skipped",
  "node.cancelled",
]);

type Ended = NodeSucceeded | NodeFailed | NodeSkipped | NodeCancelled;

function endOf(e: Ended) {
  const { seq, ts } = e;
  if (e.kind === "node.skipped" || e.kind === "node.cancelled") {
    const state = e.kind === "node.skipped" ? SKIPPED : CANCELLED;
    return { seq, ts, state, output: null, ref: null };
  }
  const ref = e.outputRef?.ref ?? null;
  const output = e.output ?? null;
  if (e.kind === "node.succeeded") return { seq, ts, state: SUCCEEDED, output, ref };
  if (e.routed === "default") return { seq, ts, state: DEFAULTED, output, ref };
  if (e.routed !== "port") return { seq, ts, state: FAILED, output, ref };
  return { seq, ts, state: ROUTED, output: { error: { ...e.error } } as Json, ref };
}

/** Fields and frames, evaluated again. */
class Evaluator {
  readonly #run: RecordedRun;
  readonly #past: Past;
  readonly #starts: ReadonlyMap<string, Start>;

  constructor(run: RecordedRun, past: Past, starts: ReadonlyMap<string, Start>) {
    this.#run = run;
    this.#past = past;
    this.#starts = starts;
  }

  /** The fields of a node at the start of an attempt, and the names of those that are not known. */
  async fields(
    frame: PastFrame,
    node: number,
    start: Start,
  ): Promise<{ readonly fields: JsonObject; readonly absent: string[] }> {
    const set = frame.layout.fields[node] as Layout["fields"][number];
    const fields: { [name: string]: Json } = { ...plainFields(set.base) };
    const absent: string[] = [];
    for (const [name] of set.computed) {
      const known = await this.field(frame, node, name, start);
      if (known === null) absent.push(name);
      else fields[name] = known.value;
    }
    const { digest } = start;
    if (absent.length > 0 || digest === undefined || redactedPlaces(fields).length > 0) {
      return { fields, absent };
    }
    // The digest of the log is that of what the node was really given.
    if (`sha256:${sha256Hex(new TextEncoder().encode(canonicalJson(fields)))}` === digest) {
      return { fields, absent };
    }
    const names = set.computed.map(([name]) => name);
    return { fields: plainFields(set.base), absent: names };
  }

  /** One field; a constant is known. */
  async field(frame: PastFrame, node: number, name: string, { seq, ts }: Start): Promise<Known> {
    const { layout } = frame;
    const set = layout.fields[node] as Layout["fields"][number];
    const [, value] = set.computed.find(([other]) => other === name) ?? [];
    if (value === undefined) return { value: (set.base[name] ?? null) as Json };
    const source = (layout.nodes[node]?.fields[name] ?? null) as FieldValue;
    return await this.#past.evaluate(frame, { value, source, until: seq, now: ts });
  }

  /** The frame of the innermost level, within those around it. */
  async frame(levels: readonly Level[]): Promise<PastFrame> {
    const [top, ...bodies] = levels as [Level, ...Level[]];
    const past = this.#past;
    const { graph, inputs: given } = this.#run.header;
    const inputs = hideSecretInputs(graph.inputs, given as JsonObject);
    let frame = new PastFrame(past, top.layout, "", { inputs, outer: null, locals: null });
    for (const { layout, base, owner } of bodies) {
      if (owner === undefined) continue;
      const isBody = owner.kind === "map" || owner.kind === "loop";
      frame = isBody
        ? this.#round(frame, layout, base, await this.#locals(frame, layout, owner))
        : new PastFrame(past, layout, base, {
            inputs: owner.kind === "flow" ? await this.#inputsOf(frame, layout, owner) : null,
            outer: null,
            locals: null,
          });
    }
    return frame;
  }

  #round(
    outer: PastFrame,
    layout: Layout,
    base: string,
    locals: { readonly [name: string]: Known },
  ): PastFrame {
    return new PastFrame(this.#past, layout, base, { inputs: {}, outer, locals });
  }

  /** The names in the body of a map or a loop. */
  async #locals(
    outer: PastFrame,
    layout: Layout,
    owner: Owner,
  ): Promise<{ readonly [name: string]: Known }> {
    const { node, index, kind, path } = owner;
    const written = outer.layout.nodes[node] as Layout["nodes"][number];
    const name = localName(written);
    const start = this.#starts.get(path);
    const given = start
      ? await this.field(outer, node, kind === "map" ? "items" : "init", start)
      : null;
    if (kind === "map") {
      const item =
        given && Array.isArray(given.value) ? { value: given.value[index] ?? null } : null;
      return { [name]: item, index: { value: index } };
    }
    let state = given;
    for (let round = 0; round < index; round += 1) {
      const base = baseOf(owner, round);
      const locals = { [name]: state, index: { value: round } };
      const frame = this.#round(outer, layout, base, locals);
      state = await this.#resultOf(frame, written.body?.output ?? null);
    }
    return { [name]: state, index: { value: index } };
  }

  /** The result of a round of a body. Its output is evaluated when its last node has ended. */
  async #resultOf(frame: PastFrame, source: FieldValue): Promise<Known> {
    const { bodyOutput: value, bodyOutputRequired: required, ids } = frame.layout;
    const ends = ids.flatMap((_, node) => this.#past.ends.get(frame.path(node)) ?? []);
    const last = ends.reduce((latest, { seq, ts }) => (seq > latest.seq ? { seq, ts } : latest), {
      seq: 0,
      ts: 0,
    });
    if (value === null) return { value: null };
    const moment = { until: last.seq + 1, now: last.ts };
    return await this.#past.evaluate(frame, { value, source, required, ...moment });
  }

  /** The inputs of a flow that is a step of another one; null: not known. */
  async #inputsOf(
    outer: PastFrame,
    layout: Layout,
    { path, node }: Owner,
  ): Promise<JsonObject | null> {
    const start = this.#starts.get(path);
    const given = start ? await this.field(outer, node, "inputs", start) : null;
    return given && isObject(given.value) ? checkInputs(layout.inputs, given.value).inputs : null;
  }
}

/** What one node does in a made-up log: every step of its machine, in every legal order, by chance. */
import type { FlowNode, Json } from "@millrace/contracts";
import { type Need, placeOf, type Walk, type Walker } from "./legal-walk.ts";

/** Thrown into a process when the machine under it is restarted. */
export const INTERRUPTED: unique symbol = Symbol("interrupted");

type Process = Generator<Need, void, undefined>;

const MAX_ATTEMPTS = 3;
const TEXTS = ["Hel", "lo ", "wörld", '"quoted"\n', "\u2028\u0085", "🙂", "\u0000\\"];

/** Puts a node and its process into the walk. `base` is the path before its id. */
function spawn(
  walk: Walk,
  node: Pick<FlowNode, "id" | "type" | "body">,
  options: { base?: string; parent?: Walker; waitsFor?: Walker["waitsFor"] } = {},
): Walker {
  const walker: Walker = {
    path: (options.base ?? "") + node.id,
    type: node.type,
    parent: options.parent,
    waitsFor: options.waitsFor ?? [],
    process: undefined as unknown as Process,
    need: "start",
    phase: "pending",
    attempt: 1,
    startedAt: 0,
    dueAt: 0,
    children: [],
    calls: new Map(),
    asks: new Set(),
    ports: [],
  };
  walker.process = live(walk, walker, node.body);
  walk.walkers.push(walker);
  options.parent?.children.push(walker);
  return walker;
}

/** Nodes of one level, each waiting for the sources of its edges. */
export function spawnLevel(
  walk: Walk,
  { nodes, edges }: Pick<NonNullable<FlowNode["body"]>, "nodes" | "edges">,
  options: { base?: string; parent?: Walker } = {},
): void {
  const level = new Map<string, Walker>();
  for (const node of nodes) {
    const waitsFor = edges
      .filter(({ to }) => to === node.id)
      .map(({ from, port }) => ({ source: level.get(from) as Walker, port }));
    level.set(node.id, spawn(walk, node, { ...options, waitsFor }));
  }
}

function* live(walk: Walk, walker: Walker, body: FlowNode["body"]): Process {
  const { dice } = walk;
  const { waitsFor } = walker;
  const isDead =
    waitsFor.length > 0 && !waitsFor.some(({ source, port }) => source.ports.includes(port));
  if (isDead || dice.chance(0.08)) {
    walk.write({ kind: "node.skipped", ...placeOf(walker), why: isDead ? "dead" : "when" });
    walker.phase = "over";
    return;
  }
  for (; ; walker.attempt += 1) {
    start(walk, walker);
    try {
      if (dice.chance(0.05)) {
        succeed(walk, walker, true);
        return;
      }
      yield* work(walk, walker, body);
      yield "step";
      if (walker.attempt === MAX_ATTEMPTS || dice.chance(0.8)) {
        end(walk, walker);
        return;
      }
      retry(walk, walker, "http_status", dice.between(0, 200));
    } catch (cause) {
      if (cause !== INTERRUPTED) throw cause;
      walk.closeAll(walker, "interrupted");
      retry(walk, walker, "interrupted", 0);
    }
    yield "start";
  }
}

function start(walk: Walk, walker: Walker): void {
  walk.waitUntil(walker.dueAt);
  walker.children = [];
  walk.write({ kind: "node.started", ...placeOf(walker), type: walker.type });
  walker.phase = "running";
  walker.startedAt = walk.ts;
}

function retry(walk: Walk, walker: Walker, code: string, delayMs: number): void {
  const error = { code, message: "did not work", retryable: true };
  const next = walker.attempt + 1;
  walk.write({ kind: "node.retrying", ...placeOf(walker), error, delayMs, next });
  walker.phase = "retrying";
  walker.dueAt = walk.ts + delayMs;
}

function end(walk: Walk, walker: Walker): void {
  if (walk.dice.chance(0.75)) succeed(walk, walker, false);
  else fail(walk, walker);
}

function succeed(walk: Walk, walker: Walker, cached: boolean): void {
  const { dice } = walk;
  walk.ts += dice.between(0, 30);
  const words = {
    kind: "node.succeeded" as const,
    ...placeOf(walker),
    ...(dice.chance(0.2) ? { ports: dice.pick([[], ["out"], ["true"]]) } : {}),
    ...output(walk),
  };
  const ts = walk.ts;
  walk.writeAt(ts, {
    ...words,
    durationMs: ts - walker.startedAt,
    ...(cached ? { cached: true } : {}),
  });
  walker.ports = words.ports ?? ["out"];
  walker.phase = "over";
}

function fail(walk: Walk, walker: Walker): void {
  const { dice } = walk;
  const last = walker.parent === undefined ? "none" : "parent";
  const routed = dice.pick(["port", "default", last] as const);
  walk.ts += dice.between(0, 30);
  walk.writeAt(walk.ts, {
    kind: "node.failed",
    ...placeOf(walker),
    error: { code: "http_status", message: "500 from example.org", retryable: false, status: 500 },
    routed,
    ...(routed === "default" ? output(walk) : {}),
    durationMs: walk.ts - walker.startedAt,
  });
  if (routed === "none") walk.failed = true;
  walker.ports = routed === "port" ? ["error"] : routed === "default" ? ["out"] : [];
  walker.phase = "over";
}

function output({
  dice,
}: Walk): { output: Json } | { outputRef: { ref: string; bytes: number; mediaType: string } } {
  if (dice.chance(0.2)) {
    const ref = `sha256:${"ab".repeat(32)}`;
    return {
      outputRef: { ref, bytes: dice.between(65_537, 1_000_000), mediaType: "application/json" },
    };
  }
  const text = dice.pick(TEXTS).repeat(dice.pick([1, 1, 2_000]));
  return { output: dice.pick<Json>([null, { status: 200 }, [1, "a"], { text }]) };
}

function* work(walk: Walk, walker: Walker, body: FlowNode["body"]): Process {
  if (walker.type === "map" || walker.type === "loop" || walker.type === "subflow") {
    yield* workBody(walk, walker, body);
  }
  let done = 0;
  let tools = 0;
  for (let left = walk.dice.between(0, 4); left > 0; left -= 1) {
    yield "step";
    switch (walk.dice.between(0, 6)) {
      case 0:
        done += walk.dice.between(0, 5);
        walk.write({ kind: "node.progress", ...placeOf(walker), done, total: 100, unit: "items" });
        break;
      case 1:
        check(walk, walker);
        break;
      case 2:
        say(walk, walker);
        break;
      case 3:
        yield* wait(walk, walker);
        break;
      case 4:
        yield* confirm(walk, walker);
        break;
      case 5:
        yield* callModel(walk, walker);
        break;
      default:
        yield* callTool(walk, walker, tools);
        tools += 1;
    }
  }
}

function* workBody(walk: Walk, walker: Walker, body: FlowNode["body"]): Process {
  const rounds = walker.type === "subflow" ? 1 : walk.dice.between(0, 2);
  for (let i = 0; i < rounds; i += 1) {
    const base = `${prefixOf(walker)}${walker.type === "subflow" ? "" : `[${i}]`}/`;
    const inner = body ?? { nodes: [{ id: "inner", type: "transform", fields: {} }], edges: [] };
    spawnLevel(walk, inner, { base, parent: walker });
    if (walker.type === "loop") yield "children";
  }
  if (walker.type !== "loop") yield "children";
}

function prefixOf({ path, attempt }: Walker): string {
  return attempt > 1 ? `${path}~${attempt}` : path;
}

function check(walk: Walk, walker: Walker): void {
  walk.write({
    kind: "node.checked",
    ...placeOf(walker),
    index: 0,
    check: "expr",
    pass: walk.dice.chance(0.5),
    level: walk.dice.pick(["error", "warn"]),
  });
}

function say(walk: Walk, walker: Walker): void {
  walk.write({
    kind: "log",
    ...placeOf(walker),
    level: walk.dice.pick(["debug", "info", "warn", "error"]),
    channel: walk.dice.pick(["engine", "node", "stdout"]),
    text: walk.dice.pick(TEXTS),
  });
}

function* wait(walk: Walk, walker: Walker): Process {
  const until = walk.ts + 100;
  const on = walk.dice.chance(0.5)
    ? ({ on: "timer", until } as const)
    : ({ on: "slot", key: "db" } as const);
  walk.write({ kind: "node.waiting", ...placeOf(walker), ...on });
  walker.phase = "waiting";
  yield "step";
  walk.write({ kind: "node.resumed", ...placeOf(walker) });
  walker.phase = "running";
}

function* confirm(walk: Walk, walker: Walker): Process {
  const id = walk.id("k");
  walk.write({ kind: "confirm.requested", ...placeOf(walker), id, prompt: "Send it?" });
  walker.asks.add(id);
  if (walk.dice.chance(0.2)) {
    // Answered at once, by a handler.
    walk.write({
      kind: "confirm.resolved",
      ...placeOf(walker),
      id,
      outcome: "approved",
      by: "test",
    });
    walker.asks.delete(id);
    return;
  }
  walk.write({ kind: "node.waiting", ...placeOf(walker), on: "confirm", ids: [id] });
  walker.phase = "waiting";
  yield "answer";
  yield "resume";
  walk.write({ kind: "node.resumed", ...placeOf(walker) });
  walker.phase = "running";
}

function* callModel(walk: Walk, walker: Walker): Process {
  const { dice } = walk;
  const call = walk.id("c");
  const lengths = { text: 0, reasoning: 0, object: 0 };
  walk.write({
    kind: "llm.started",
    ...placeOf(walker),
    call,
    provider: "mock",
    model: "m",
    target: 0,
    step: 1,
    purpose: dice.pick(["generate", "generate", "judge"]),
  });
  walker.calls.set(call, { kind: "llm", lengths, ts: walk.ts });
  for (let left = dice.between(0, 5); left > 0; left -= 1) {
    yield "step";
    const channel = dice.pick(["text", "text", "reasoning", "object"] as const);
    const text = dice.pick(TEXTS).repeat(dice.pick([1, 1, 1, 400]));
    const offset = lengths[channel];
    walk.write({ kind: "llm.delta", ...placeOf(walker), call, channel, offset, text });
    lengths[channel] += text.length;
  }
  yield "step";
  walker.calls.delete(call);
  const usage = { inputTokens: dice.between(0, 99), outputTokens: dice.between(0, 99) };
  if (dice.chance(0.3)) {
    const discarded = lengths.text + lengths.reasoning + lengths.object;
    const reason = "stream_cut";
    walk.write({
      kind: "llm.failed",
      ...placeOf(walker),
      call,
      reason,
      discarded,
      usage,
      next: "retry",
    });
    return;
  }
  walk.write({
    kind: "llm.finished",
    ...placeOf(walker),
    call,
    finish: "stop",
    lengths: Object.fromEntries(Object.entries(lengths).filter(([, length]) => length > 0)),
    usage,
    costUsd: dice.chance(0.2) ? null : dice.between(0, 9) / 1_000,
    durationMs: 5,
  });
  if (dice.chance(0.8)) return;
  yield "step";
  const problems = [{ path: "/total", message: "must be number" }];
  walk.write({ kind: "llm.rejected", ...placeOf(walker), call, problems, repair: 1 });
}

function* callTool(walk: Walk, walker: Walker, index: number): Process {
  const call = walk.id("t");
  const isFlow = walker.type === "ai" && walk.dice.chance(0.6);
  const tool = isFlow ? "flow:lookup" : "search";
  walk.write({ kind: "tool.started", ...placeOf(walker), call, tool, args: { q: "fx" } });
  const ts = walk.ts;
  walker.calls.set(call, { kind: "tool", lengths: { text: 0, reasoning: 0, object: 0 }, ts });
  if (isFlow) {
    spawn(
      walk,
      { id: "fetch", type: "http.request" },
      { base: `${prefixOf(walker)}[${index}]/`, parent: walker },
    );
    yield "children";
  }
  yield "step";
  walker.calls.delete(call);
  walk.write({
    kind: "tool.finished",
    ...placeOf(walker),
    call,
    outcome: walk.dice.pick(["ok", "error", "denied"]),
    durationMs: 3,
  });
}

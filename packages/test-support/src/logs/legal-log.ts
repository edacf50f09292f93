/**
 * Made-up logs that are legal: a random walk over the state machines, with pauses, answers, crashes, cancelling and failures
 * at any moment. The same seed gives the same log.
 */
import {
  type CancelReason,
  type ExecutionEvent,
  type FlowGraph,
  makeSummary,
  type RunEnd,
} from "@millrace/contracts";
import { createDice, createRandom } from "./dice.ts";
import { makeFlow } from "./legal-flow.ts";
import { INTERRUPTED, spawnLevel } from "./legal-node.ts";
import { placeOf, Walk, type Walker } from "./legal-walk.ts";

export interface LegalLogOptions {
  /** Most top-level nodes; default 6. */
  readonly maxNodes?: number;
}

export interface LegalLog {
  readonly events: ExecutionEvent[];
  readonly graph: FlowGraph;
}

/** The log of a run that never was, from `run.started` to `summary`. */
export function legalLog(seed: number, options: LegalLogOptions = {}): LegalLog {
  const dice = createDice(createRandom(seed));
  const graph = makeFlow(dice, options.maxNodes ?? 6);
  const walk = new Walk(dice, `r${seed}`);
  const onFailure = dice.pick(["stop", "finish"] as const);
  const hash = `sha256:${"0f".repeat(32)}`;
  walk.write({
    kind: "run.started",
    flow: { id: graph.id, hash },
    nodeCount: graph.nodes.length,
    onFailure,
    inputs: hash,
    trigger: dice.pick(["cli", "api", "embed"]),
  });
  spawnLevel(walk, graph);
  end(walk, onFailure === "stop");
  return { events: walk.events, graph };
}

/** Steps at random until nothing is left to do, or nobody wants to go on. */
function end(walk: Walk, stopsOnFailure: boolean): void {
  while (walk.walkers.some(isOpen) && !(walk.failed && stopsOnFailure)) {
    const ready = walk.walkers.filter(isReady);
    const goesOn = ready.length === 0 ? ask(walk) : step(walk, ready);
    if (!goesOn) {
      cancel(walk);
      return;
    }
  }
  if (walk.failed) cleanUp(walk, "run_failed");
  finish(walk, walk.failed ? "failed" : "succeeded");
}

/** Mostly a step of a node; now and then something happens to the run. False: somebody cancels it. */
function step(walk: Walk, ready: readonly Walker[]): boolean {
  const roll = walk.dice.between(0, 99);
  if (roll === 0) return false;
  if (roll < 3) pauseByOperator(walk);
  else if (roll < 5) crash(walk);
  else if (roll < 8) {
    walk.write({ kind: "log", level: "info", channel: "engine", text: "still here" });
  } else if (roll < 18) answerOne(walk);
  else advance(walk.dice.pick(ready));
  return true;
}

function advance(walker: Walker): void {
  const next = walker.process.next();
  if (next.done !== true) walker.need = next.value;
}

function isOpen({ phase }: Walker): boolean {
  return phase !== "over";
}

function isReady(walker: Walker): boolean {
  if (walker.phase === "over" || walker.need === "answer") return false;
  if (walker.need === "children") return !walker.children.some(isOpen);
  return !walker.waitsFor.some(({ source }) => isOpen(source));
}

/** Everybody waits for a person. False: the person cancels. */
function ask(walk: Walk): boolean {
  // An `ai` node whose tool asks goes on by itself, so it pauses nothing.
  const isPause = !walk.walkers.some(({ type, need, phase }) => {
    return type === "ai" && need === "children" && phase === "running";
  });
  if (!isPause) {
    answerOne(walk);
    return true;
  }
  walk.write({
    kind: "run.paused",
    reason: "confirmation",
    confirmations: walk.openConfirmations(),
  });
  if (walk.dice.chance(0.3)) {
    walk.write({ kind: "log", level: "info", channel: "engine", text: "waiting for a person" });
  }
  if (walk.dice.chance(0.1)) return false;
  const by = answerOne(walk);
  walk.write({ kind: "run.resumed", reason: "confirmation", ...(by === undefined ? {} : { by }) });
  return true;
}

function answerOne(walk: Walk): string | undefined {
  const asking = walk.walkers.filter(({ need, asks }) => need === "answer" && asks.size > 0);
  if (asking.length === 0) return undefined;
  const walker = walk.dice.pick(asking);
  const [id] = walker.asks;
  if (id === undefined) return undefined;
  const outcome = walk.dice.pick(["approved", "rejected", "expired"] as const);
  walk.write({ kind: "confirm.resolved", ...placeOf(walker), id, outcome, by: "api" });
  walker.asks.delete(id);
  advance(walker);
  return id;
}

function pauseByOperator(walk: Walk): void {
  walk.write({ kind: "run.paused", reason: "operator", confirmations: walk.openConfirmations() });
  for (let left = walk.dice.between(0, 3); left > 0; left -= 1) {
    const going = walk.walkers.filter((walker) => isReady(walker) && walker.need === "step");
    if (going.length === 0 || walk.failed) break;
    advance(walk.dice.pick(going));
  }
  walk.write({ kind: "run.resumed", reason: "operator", by: "studio" });
}

/** The process dies and another one goes on with the log. Bodies and waiting nodes go on where they were. */
function crash(walk: Walk): void {
  const confirmations = walk.openConfirmations();
  walk.write({ kind: "run.paused", reason: "interrupted", confirmations });
  walk.write({ kind: "run.resumed", reason: "recovered" });
  for (const walker of walk.walkers.slice()) {
    if (walker.phase !== "running" || walker.need === "children" || walker.attempt > 5) continue;
    const next = walker.process.throw(INTERRUPTED);
    if (next.done !== true) walker.need = next.value;
  }
}

function cancel(walk: Walk): void {
  const reason = walk.dice.pick<CancelReason>(["user", "timeout", "sigint", "sigterm", "shutdown"]);
  walk.write({ kind: "run.cancelling", reason });
  cleanUp(walk, "run_cancelled");
  finish(walk, "cancelled");
}

/** Ends whatever is open, the innermost first; what never began inside a body leaves no trace. */
function cleanUp(walk: Walk, reason: "run_cancelled" | "run_failed"): void {
  const open = walk.walkers.filter(isOpen).reverse();
  for (const walker of open) {
    const isPending = walker.phase === "pending";
    if (isPending && walker.parent !== undefined) continue;
    walk.closeAll(walker, "aborted");
    if (isPending && reason === "run_failed") {
      walk.write({ kind: "node.skipped", ...placeOf(walker), why: "run_ended" });
    } else walk.write({ kind: "node.cancelled", ...placeOf(walker), reason });
  }
}

function finish(walk: Walk, status: RunEnd["status"]): void {
  const ts = walk.ts + walk.dice.between(0, 10);
  const payload = makeSummary(walk.view, { status, ts, outputs: { made: "up" } });
  walk.writeAt(ts, { kind: "summary", ...payload });
}

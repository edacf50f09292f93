/**
 * Random flows whose bodies also write, wait for people, park on timers, keep steps and queue for keys. How each node ends is
 * what `referenceRun` says of the flow: nothing of this changes it, nor does a restart.
 */

import { exit, type FlowGraph, type FlowNode, NodeError, type Policy } from "@millrace/contracts";
import type { CoreContext, Fields, NodeType } from "@millrace/engine";
import { createRandom, type Random } from "@millrace/engine/testing";
import { randomFlow, type ScriptedFields, scriptedNode } from "@millrace/test-support/flows";

/** How a body spends its time before it ends. */
type Mode = "plain" | "park" | "ask" | "askTwice" | "askTogether" | "stepAsk";

interface BusyFields extends ScriptedFields {
  readonly mode?: Mode;
}

/** What bodies have done outside of the engine, over all processes of one run. */
export interface World {
  /** `path#attempt` of each entry into a body that writes. */
  readonly entered: string[];
  /** Steps that were carried out, with the `path#attempt` that did it. */
  readonly steps: { readonly attempt: string; readonly key: string }[];
  /** Failures of a path that its log knows of. */
  readonly failures: Map<string, number>;
}

export function newWorld(): World {
  return { entered: [], steps: [], failures: new Map() };
}

/** Policies of every node that writes. */
type WritePolicy = Partial<Pick<Policy, "delivery">>;

/** The flow of `randomFlow(seed)`, with busier bodies. */
export function busyFlow(seed: number, writes: WritePolicy = {}): FlowGraph {
  const graph = randomFlow(seed);
  const random = createRandom(seed + 1_000_000);
  return { ...graph, nodes: graph.nodes.map((node) => busier(node, random, writes)) };
}

function busier(node: FlowNode, random: Random, writes: WritePolicy): FlowNode {
  if (node.body !== undefined) {
    const nodes = node.body.nodes.map((inner) => busier(inner, random, writes));
    return { ...node, body: { ...node.body, nodes } };
  }
  if (node.type !== "test.scripted") return node;
  const { fields, policy } = node;
  const type = random.chance(0.5) ? "test.writes" : "test.reads";
  const timed = policy?.timeoutMs !== undefined;
  const modes: Mode[] = ["plain", "ask", "askTwice", "askTogether", "stepAsk"];
  const mode = random.chance(0.5) ? "plain" : random.pick(timed ? modes : [...modes, "park"]);
  const keyed = random.chance(0.1) && { concurrency: { max: 1, key: "shared" } };
  const own = { ...policy, ...keyed, ...(type === "test.writes" && writes) };
  return {
    ...node,
    type,
    fields: { ...fields, mode },
    ...(Object.keys(own).length > 0 && { policy: own }),
  };
}

/** The types of `busyFlow`; what their bodies do is written down in `world()`. */
export function busyTypes(world: () => World): NodeType[] {
  return [
    { ...typeOf("test.reads", "read"), run: (fields, ctx) => work(fields, ctx, world()) },
    {
      ...typeOf("test.writes", "write"),
      run(fields, ctx) {
        world().entered.push(`${ctx.node}#${ctx.attempt}`);
        return work(fields, ctx, world());
      },
    },
  ];
}

function typeOf(type: string, effect: "read" | "write"): NodeType {
  const { entry } = scriptedNode;
  const properties = { ...(entry.fields["properties"] as object), mode: { type: "string" } };
  const fields = { ...entry.fields, properties } as typeof entry.fields;
  return { ...scriptedNode, entry: { ...entry, type, effect, fields } };
}

function work(fields: Fields, ctx: CoreContext, world: World): unknown {
  const { hang, delayMs, mode = "plain" } = fields as BusyFields;
  if (hang === true) return new Promise(() => {});
  if (delayMs === undefined && mode === "plain") return outcome(fields, ctx, world);
  return spend(ctx, { delayMs: delayMs ?? 0, mode, world }).then(() => outcome(fields, ctx, world));
}

async function spend(
  ctx: CoreContext,
  { delayMs, mode, world }: { delayMs: number; mode: Mode; world: World },
): Promise<void> {
  if (mode === "park") return ctx.waitUntil(ctx.now() + delayMs);
  if (delayMs > 0) await ctx.sleep(delayMs);
  const ask = (key: string) => ctx.confirm(key, { prompt: `${key}?` });
  const step = (key: string) =>
    ctx.step(key, () => {
      world.steps.push({ attempt: `${ctx.node}#${ctx.attempt}`, key });
      return world.steps.length;
    });
  if (mode === "ask") await ask("a");
  if (mode === "askTwice") {
    await ask("a");
    await ask("b");
  }
  if (mode === "askTogether") await Promise.all([ask("a"), ask("b")]);
  if (mode === "stepAsk") {
    await step("before");
    await ask("a");
    await step("after");
  }
}

/** Fails as often as the fields say, counted over restarts: an attempt that was interrupted has not failed. */
function outcome(fields: Fields, { node }: CoreContext, { failures }: World): unknown {
  const { value = null, port = "out", fail = 0, retryable = true } = fields as BusyFields;
  const before = failures.get(node) ?? 0;
  if (before < fail) {
    failures.set(node, before + 1);
    throw new NodeError("scripted", `failure ${before + 1} of ${fail}`, { retryable });
  }
  return exit(port, { value });
}

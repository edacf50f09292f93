/** What one attempt of each node type of `randomFlow` means. Retries, policies and graphs are the business of `referenceRun`. */
import type { FieldValue, FlowNode, Json, JsonObject } from "@millrace/contracts";

/** A record that leaves by a port, or a failure. */
export type Tried =
  | { readonly port: string; readonly record: Json }
  | { readonly failure: { readonly code: string; readonly retryable: boolean } };

/** What an attempt may ask of the level that it is in. */
export interface Surroundings {
  readonly attempt: number;
  /** Sources of the live edges. */
  readonly sources: readonly string[];
  evaluate(value: FieldValue, extra?: JsonObject): Json;
  /** Runs the body once; undefined: it failed. What its nodes did counts once `keep` is called. */
  round(index: number, locals: JsonObject): { readonly value: Json } | undefined;
  keep(): void;
}

type Fields = { readonly [name: string]: Json };

const DEFERRED: ReadonlySet<string> = new Set(["until", "while"]);

/** One attempt. Throws what an expression throws. */
export function tryNode(node: FlowNode, around: Surroundings): Tried {
  const now = Object.entries(node.fields).filter(([name]) => !DEFERRED.has(name));
  const own = around.evaluate(Object.fromEntries(now)) as Fields;
  switch (node.type) {
    case "transform":
      return leave({ value: own["value"] ?? null });
    case "condition":
      return leave({ result: own["if"] ?? null }, String(own["if"]));
    case "switch":
      return choose(own);
    case "join":
      return leave({ from: around.sources, first: around.sources[0] ?? null });
    case "map":
      return mapItems(node, own, around);
    case "loop":
      return loopRounds(node, own, around);
    default:
      return scripted(node, own, around.attempt);
  }
}

function leave(record: Json, port = "out"): Tried {
  return { port, record };
}

function fail(code: string, retryable = false): Tried {
  return { failure: { code, retryable } };
}

function choose({ on = null, cases }: Fields): Tried {
  const match = Object.entries(cases as Fields).find(([, wanted]) =>
    (Array.isArray(wanted) ? wanted : [wanted]).includes(on),
  );
  const port = match?.[0] ?? "default";
  return leave({ port, value: on }, port);
}

function scripted(node: FlowNode, own: Fields, attempt: number): Tried {
  const { value = null, port = "out", fail: failing = 0, delayMs = 0, hang, retryable } = own;
  const timeoutMs = node.policy?.timeoutMs ?? Number.POSITIVE_INFINITY;
  if (hang === true || (delayMs as number) >= timeoutMs) return fail("timeout", true);
  if (attempt <= (failing as number)) return fail("scripted", retryable !== false);
  return leave({ value }, port as string);
}

function mapItems(node: FlowNode, own: Fields, { round, keep }: Surroundings): Tried {
  const list = own["items"] as readonly Json[];
  const ended = list.map((item, index) => round(index, { [own["as"] as string]: item, index }));
  const failed = ended.flatMap((end, index) => (end === undefined ? [{ index }] : []));
  if (failed.length > 0 && node.policy?.onError !== "collect") return fail("item_failed");
  keep();
  const items = ended.map((end) => end?.value ?? null);
  return leave({ items, errors: failed, count: list.length });
}

function loopRounds(node: FlowNode, own: Fields, { evaluate, round, keep }: Surroundings): Tried {
  const { until, while: going } = node.fields;
  const names = (index: number) => ({ [own["as"] as string]: state, index });
  let state = own["init"] ?? null;
  let rounds = 0;
  for (; ; rounds += 1) {
    if (going !== undefined && evaluate(going, names(rounds)) !== true) break;
    if (rounds === own["max"]) {
      if (until === undefined && going === undefined) break;
      return fail("limit_exceeded");
    }
    const end = round(rounds, names(rounds));
    if (end === undefined) return fail("item_failed");
    state = end.value;
    if (until === undefined || evaluate(until, names(rounds)) !== true) continue;
    rounds += 1;
    break;
  }
  keep();
  return leave({ state, rounds });
}

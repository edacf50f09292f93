/** The policy of one node: what the flow says over what the type says, compiled. */
import type { FlowNode, OnError, Policy, RetryPolicy } from "@millrace/contracts";
import type { NodeType } from "../node-type.ts";
import type { Read } from "./names.ts";
import { Value, type ValueOptions } from "./value.ts";

/** Policy of a node of a plan; absent parts are null. */
export interface NodePolicy {
  readonly timeoutMs: number | null;
  readonly retry: RetryPolicy | null;
  readonly retryIf: Value | null;
  readonly when: Value | null;
  readonly onError: "fail" | "port" | "collect" | "default";
  readonly fallback: Value | null;
  /** Instances of this node at once in the run; of a `map`, its items. */
  readonly concurrency: number | null;
  readonly keyed: { readonly max: number; readonly key: Value } | null;
  readonly cache: { readonly ttlMs: number; readonly key: Value | null } | null;
  readonly idempotencyKey: Value | null;
  readonly delivery: "atLeastOnce" | "atMostOnce";
  /** As the flow and the type write it. */
  readonly source: Policy;
}

const EMPTY: Policy = Object.freeze({});

/** The policy of a node that has none; one object for all of them. */
const PLAIN: NodePolicy = Object.freeze({
  timeoutMs: null,
  retry: null,
  retryIf: null,
  when: null,
  onError: "fail",
  fallback: null,
  concurrency: null,
  keyed: null,
  cache: null,
  idempotencyKey: null,
  delivery: "atLeastOnce",
  source: EMPTY,
} satisfies NodePolicy);

const OUTPUT: ReadonlySet<string> = new Set(["output"]);

/** Compiles the policy of `node`. `errorEdge`: an edge leaves by `error`, which makes `onError` that port. */
export function compilePolicy(
  node: FlowNode,
  type: NodeType,
  options: ValueOptions & { errorEdge: boolean },
): NodePolicy {
  const source = merged(type.entry.defaults.policy, node.policy);
  if (source === EMPTY && !options.errorEdge) return PLAIN;
  const value = (field: Policy["when"]) => (field === undefined ? null : new Value(field, options));
  const { retry, concurrency, cache, onError } = source;
  const keyed = typeof concurrency === "object" ? concurrency : null;
  return {
    timeoutMs: source.timeoutMs ?? null,
    retry: retry !== undefined && (retry.max ?? 0) > 0 ? retry : null,
    retryIf: retry?.if === undefined ? null : new Value(retry.if, { ...options, roots: OUTPUT }),
    when: value(source.when),
    onError: kindOf(onError, options.errorEdge),
    fallback: typeof onError === "object" ? new Value(onError.default, options) : null,
    concurrency: typeof concurrency === "number" ? concurrency : null,
    keyed: keyed === null ? null : { max: keyed.max, key: new Value(keyed.key, options) },
    cache: cache === undefined ? null : { ttlMs: cache.ttlMs, key: value(cache.key) },
    idempotencyKey: value(source.idempotencyKey),
    delivery: source.delivery ?? "atLeastOnce",
    source,
  };
}

/** Nodes that a policy reads. */
export function policyReads(policy: NodePolicy): Read[] {
  if (policy === PLAIN) return [];
  const { retryIf, when, fallback, keyed, cache, idempotencyKey } = policy;
  const values = [retryIf, when, fallback, keyed?.key, cache?.key, idempotencyKey];
  return values.flatMap((value) => value?.reads ?? []);
}

function merged(defaults: Partial<Policy> | undefined, own: Policy | undefined): Policy {
  if (own === undefined && defaults === undefined) return EMPTY;
  return { ...defaults, ...own };
}

function kindOf(onError: OnError | undefined, errorEdge: boolean): NodePolicy["onError"] {
  if (typeof onError === "object") return "default";
  return onError ?? (errorEdge ? "port" : "fail");
}

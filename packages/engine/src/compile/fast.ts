/** Which nodes may take the fast lane: those whose policy asks for nothing before or after the body, and that leave by `out`. */
import type { Json } from "@millrace/contracts";
import type { NodeType } from "../node-type.ts";
import { schemaCheck } from "../schema-check.ts";
import type { NodePolicy } from "./policy.ts";

/** Data about a type for the fast lane; one object per type. */
export interface FastType {
  /** Whether a record may leave by `out`. */
  fits(output: Json): boolean;
}

const known = new WeakMap<NodeType, FastType>();

/** Null: the nodes of the type with this policy take the slow lane. */
export function fastTypeOf(type: NodeType, policy: NodePolicy): FastType | null {
  const { when, keyed, cache, retryIf } = policy;
  if (when !== null || keyed !== null || cache !== null || retryIf !== null) return null;
  if (type.slots === "none") return null;
  if (type.furtherPorts !== undefined || !leavesByOut(type)) return null;
  let fast = known.get(type);
  if (fast === undefined) {
    fast = { fits: fitsOf(type) };
    known.set(type, fast);
  }
  return fast;
}

function leavesByOut({ core, entry: { ports, portsFrom } }: NodeType): boolean {
  if (core === true || ports.length === 0 || portsFrom !== undefined) return true;
  return ports.some(({ name }) => name === "out");
}

function fitsOf(type: NodeType): FastType["fits"] {
  const { core, entry, outputProblem } = type;
  if (core === true) return () => true;
  if (outputProblem !== undefined) return (output) => outputProblem(output) === null;
  let check: ReturnType<typeof schemaCheck> | null = null;
  return (output) => {
    if (type.entry !== entry) return false; // a type that has changed says something else
    check ??= schemaCheck(entry.output);
    return check(output).length === 0;
  };
}

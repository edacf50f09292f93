/** Law: a required read without FLOW4006 is of a node that every run of its reader has. */
import type { FlowGraph, FlowNode } from "@millrace/contracts";
import { validateFlow } from "@millrace/dsl";
import { graphWith } from "@millrace/test-support/graph";
import fc from "fast-check";
import { expect, test } from "vitest";
import { catalog } from "../fixtures/catalog.ts";

interface Shape {
  /** Which nodes are conditions; the others have one exit. */
  readonly conditions: readonly boolean[];
  /** Forward edges with the exit that they leave by. */
  readonly edges: readonly { readonly from: number; readonly to: number; readonly yes: boolean }[];
  readonly reads: number;
  readonly joinsAll: boolean;
}

const SIZE = 7;

const shape: fc.Arbitrary<Shape> = fc.record({
  conditions: fc.array(fc.boolean(), { minLength: SIZE, maxLength: SIZE }),
  edges: fc.array(
    fc
      .tuple(fc.nat(SIZE - 1), fc.nat(SIZE - 1), fc.boolean())
      .filter(([a, b]) => a !== b)
      .map(([a, b, yes]) => ({ from: Math.min(a, b), to: Math.max(a, b), yes })),
    { minLength: 3, maxLength: 12 },
  ),
  reads: fc.nat(SIZE - 2),
  joinsAll: fc.boolean(),
});

const READER = SIZE - 1;
/** The reader is no condition. */
const OUTCOMES = Array.from({ length: 1 << READER }, (_, outcome) => outcome);

function graphOf({ conditions, edges, reads, joinsAll }: Shape): FlowGraph {
  const nodes = conditions.map(
    (isCondition, i): FlowNode => ({
      id: `n${i}`,
      type: isCondition && i !== READER ? "condition" : "transform",
      fields:
        i === READER
          ? { value: { $: `n${reads}` } }
          : isCondition
            ? { if: { $: "inputs.yes" } }
            : { value: 1 },
      ...(i === READER && joinsAll && { policy: { join: "all" as const } }),
    }),
  );
  return graphWith({
    id: "g",
    inputs: [{ name: "yes", schema: { type: "boolean" } }],
    nodes,
    edges: edges.map(({ from, to, yes }) => ({
      from: `n${from}`,
      port: conditions[from] ? String(yes) : "out",
      to: `n${to}`,
    })),
  });
}

/** Which nodes are live when the conditions turn out as the bits of `outcome` say. */
function liveNodes({ conditions, edges, joinsAll }: Shape, outcome: number): boolean[] {
  const live: boolean[] = [];
  for (let i = 0; i < SIZE; i += 1) {
    const incoming = edges.filter(({ to }) => to === i);
    const carries = incoming.map(
      ({ from, yes }) =>
        live[from] && (!conditions[from] || ((outcome >> from) & 1) === Number(yes)),
    );
    const isLive = i === READER && joinsAll ? carries.every(Boolean) : carries.some(Boolean);
    live.push(incoming.length === 0 || isLive);
  }
  return live;
}

test("a read without a warning is of a node that is there in every run of the reader", () => {
  fc.assert(
    fc.property(shape, (it) => {
      const found = validateFlow(graphOf(it), catalog).map(({ code }) => code);
      if (found.includes("FLOW4006")) return;
      const lost = OUTCOMES.find((outcome) => {
        const live = liveNodes(it, outcome);
        return live[READER] && !live[it.reads];
      });
      expect(lost).toBeUndefined();
    }),
    { numRuns: 600 },
  );
});

import type { FlowGraph } from "@millrace/contracts";
import type { SubflowPort } from "@millrace/engine";
import { createStandardRegistry } from "@millrace/server/registry";
import { graphWith } from "@millrace/test-support/graph";
import { expect, test } from "vitest";
import { createPlans } from "../src/executor/plans.ts";

function flow(fields: FlowGraph["nodes"][number]["fields"], type = "transform"): FlowGraph {
  return graphWith({ nodes: [{ id: "a", type, fields }] });
}

const registry = createStandardRegistry();

async function planOf(compiled: ReturnType<ReturnType<typeof createPlans>["ofStart"]>) {
  const { ok, ...rest } = await compiled;
  expect(ok).toBe(true);
  return "plan" in rest ? rest.plan : undefined;
}

test("a flow that is started again and again has one plan, which no change of its graph reaches", async () => {
  const plans = createPlans({ registry });
  const fields = { value: 1 };
  const graph = flow(fields);
  const first = await planOf(plans.ofStart(graph));
  const second = await planOf(plans.ofStart(graph));
  expect(await planOf(plans.ofStart(flow({ value: 1 })))).toBe(second);
  fields.value = 2;
  const changed = await planOf(plans.ofStart(graph));
  expect(changed?.digest).not.toBe(first?.digest);
  expect(await planOf(plans.ofStart(flow({ value: 1 })))).toBe(second);
});

test("a flow that calls another one is compiled at every start, with what the other one is then", async () => {
  let value = 1;
  const subflows: SubflowPort = {
    get: async () => ({ graph: flow({ value }), digest: `sha256:${"0".repeat(64)}` }),
  };
  const plans = createPlans({ registry, subflows });
  const outer = flow({ flow: "other", inputs: {} }, "subflow");
  const digests = new Set<string | undefined>();
  for (value = 1; value <= 4; value += 1) {
    digests.add((await planOf(plans.ofStart(outer)))?.digest);
  }
  expect(digests.size).toBe(4);
});

test("a flow that is wrong is refused however often it is started", async () => {
  const plans = createPlans({ registry });
  for (let n = 0; n < 3; n += 1) {
    expect(await plans.ofStart(flow({}, "no.such"))).toMatchObject({ ok: false });
  }
});

test("runs that share a graph share its plan, and its digest is not made again", async () => {
  const plans = createPlans({ registry });
  const graph = flow({ value: 1 });
  const header = { runId: "r", planDigest: "", graph, inputs: {}, trigger: "embed" };
  const plan = await planOf(plans.ofRun({ ...header, flowHash: "sha256:known" }));
  expect(plan?.digest).toBe("sha256:known");
  expect(await planOf(plans.ofRun({ ...header, runId: "s" }))).toBe(plan);
});

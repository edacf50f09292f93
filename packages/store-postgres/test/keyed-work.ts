/** An engine whose nodes work under one key that all servers share. */
import { defineNodeType, jsonSchema } from "@millrace/contracts";
import { createEngine, type Engine, type Plan } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import type { SharedStore } from "@millrace/store/sql";
import { planOf } from "@millrace/test-support/flows";

const FLOW = ["a", "b"]
  .map((id) => `node ${id}: test.work { @concurrency = { max: 1, key: "k" } }`)
  .join("\n");

/** The engine of one server, and the plan of a flow with two nodes that do `work`. */
export async function keyedEngine(
  store: SharedStore,
  work: () => Promise<void>,
): Promise<{ readonly engine: Engine; readonly plan: Plan }> {
  const type = defineNodeType<object, unknown>({
    type: "test.work",
    title: "Work",
    summary: "Work of a test.",
    fields: jsonSchema({ type: "object" }),
    output: jsonSchema({}),
    effect: "pure",
    run: async () => {
      await work();
      return {};
    },
  });
  const engine = createEngine({
    host: createNodeHost(),
    journal: store.journal,
    keys: store.keys,
  });
  return { engine, plan: await planOf(FLOW, { types: [type as never] }) };
}

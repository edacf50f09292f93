// A flow within a program of yours: a node type of its own, an answer by rule, and a way to stop.
import { readFile } from "node:fs/promises";
import { defineNodeType, jsonSchema, NodeError, ndjson } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { compileFlow, createEngine, createRegistry } from "@millrace/engine";

const PRICES = { lamp: 12.5, desk: 180 };
const reserve = defineNodeType({
  type: "stock.reserve",
  title: "Reserve goods",
  summary: "Reserves goods and says what they cost.",
  fields: jsonSchema({ type: "object", properties: { sku: {}, amount: {} } }),
  output: jsonSchema({ type: "object", properties: { price: { type: "number" } } }),
  effect: "write",
  async run({ sku, amount }, ctx) {
    await ctx.sleep(10 * amount); // ends at once when the run is stopped
    if (!Object.hasOwn(PRICES, sku)) throw new NodeError("not_in_stock", `there is no ${sku}`);
    return { price: PRICES[sku] * amount };
  },
});

const [sku = "lamp", amount = "2"] = process.argv.slice(2);
const { graph } = parseFlow(await readFile(new URL("order.flow", import.meta.url)));
const compiled = await compileFlow(graph, { registry: createRegistry([reserve]) });
if (!compiled.ok) throw new Error(compiled.diagnostics.map((each) => each.message).join("\n"));

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
const inputs = { sku, amount: Number(amount) };
const confirm = ({ prompt }) => {
  process.stderr.write(`${prompt}\n`);
  const decision = inputs.amount <= 10 ? "approve" : "reject";
  return { decision, by: "the ten-piece rule", comment: "more than ten go by phone" };
};
const engine = createEngine();
const run = engine.run(compiled.plan, inputs, { confirm, signal: stop.signal });
for await (const event of run) process.stdout.write(ndjson.line(event));
process.exitCode = (await run.result).exitCode;
await engine.close();

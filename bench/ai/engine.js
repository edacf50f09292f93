// Flows with `ai` nodes, and engines that run them.
import { aiPack } from "@millrace/ai";
import { parseFlow } from "@millrace/dsl";
import { compileFlow, createEngine, createRegistry } from "@millrace/engine";

/** The plan of a flow's text. */
export async function planOf(text) {
  const { graph, diagnostics } = parseFlow(text);
  const compiled = await compileFlow(graph, { registry: createRegistry([aiPack()]) });
  const [problem] = compiled.ok ? diagnostics : compiled.diagnostics;
  if (problem !== undefined) throw new Error(problem.message);
  return compiled.plan;
}

export { createEngine };

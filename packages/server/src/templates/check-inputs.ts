/** Whether a flow takes inputs that are kept for later. */
import type { FlowGraph, Json } from "@millrace/contracts";
import { compileFlow, createEngine } from "@millrace/engine";
import { ProblemError } from "../errors.ts";
import type { ServerHost } from "../ports.ts";
import { toProblems } from "../runs/index.ts";
import { subflowPort } from "./template-port.ts";

/**
 * Throws `input_invalid` when `inputs` do not fit the flow. A flow that does not compile is refused where it is run; it may
 * be mended until then.
 */
export async function checkFlowInputs(
  { registry, store }: Pick<ServerHost, "registry" | "store">,
  graph: FlowGraph,
  inputs: { readonly [name: string]: Json },
): Promise<void> {
  const compiled = await compileFlow(graph, {
    registry,
    subflows: subflowPort(store.templates),
    withoutCode: true,
  });
  if (!compiled.ok) return;
  const problems = createEngine().checkInputs(compiled.plan, inputs);
  if (problems.length > 0) {
    throw new ProblemError("input_invalid", { errors: toProblems(problems) });
  }
}

/** `subflow`: runs another flow as a step of this one. */
import { type Json, type JsonObject, NodeError } from "@millrace/contracts";
import { FailureError, failureOf } from "../failures.ts";
import type { BodyEnd, NodeType } from "../node-type.ts";
import { coreEntry, record } from "./entry.ts";

/** `subflow`: runs another flow within this run. */
export const subflow: NodeType = {
  core: true,
  slots: "none",
  entry: coreEntry({
    type: "subflow",
    title: "Subflow",
    summary: "Runs another flow as a step: same run, own inputs and outputs.",
    category: "control",
    properties: {
      flow: {
        type: "string",
        description: "`slug` or `hub/slug`, then `@3` for a version or `#sha256:…` for a digest.",
        "x-millrace": { literal: true, flow: true },
      },
      inputs: { type: "object", default: {}, description: "Inputs of that flow by name." },
    },
    required: ["flow"],
    output: record({
      outputs: { type: "object", "x-millrace": { aliases: ["output", "result", "value"] } },
    }),
    example: { title: "Load rows", fields: { flow: "load-rows@3" } },
  }),
  run(fields, ctx) {
    const problems = ctx.checkFlowInputs(fields["inputs"] as JsonObject);
    const problem = problems.problems[0];
    if (problem !== undefined) {
      throw new NodeError("input_invalid", problem.message, { reason: "input" });
    }
    return new Promise((resolve, reject) => {
      ctx.runFlow(problems.inputs, (end) => {
        const ended = outcome(end);
        if (ended instanceof Error) reject(ended);
        else resolve(ended);
      });
    });
  },
};

function outcome(end: BodyEnd): { outputs: Json } | Error {
  switch (end.status) {
    case "succeeded":
      return { outputs: end.value };
    case "cancelled":
      return new NodeError("cancelled", "the flow was stopped");
    default: {
      const { info } = end.failure;
      const options = { reason: "child", retryable: info.retryable, cause: info.code };
      return new FailureError(failureOf("subflow_failed", info.message, options));
    }
  }
}

/** `condition`: leaves by `true` or `false`. */
import { exit, NodeError } from "@millrace/contracts";
import type { NodeType } from "../node-type.ts";
import { coreEntry, record } from "./entry.ts";

/** `condition`: leaves by `true` or `false`. */
export const condition: NodeType = {
  core: true,
  checksFields: true,
  entry: coreEntry({
    type: "condition",
    title: "Condition",
    summary: "Goes on by `true` or by `false`.",
    category: "control",
    properties: { if: { type: "boolean", description: "What is decided." } },
    required: ["if"],
    output: record({ result: { type: "boolean" } }),
    ports: [
      { name: "true", description: "The condition holds." },
      { name: "false", description: "It does not." },
    ],
    example: { title: "Many rows", fields: { if: { $: "size(inputs.rows) > 100" } } },
  }),
  run(fields) {
    const result = fields["if"];
    if (typeof result !== "boolean") {
      throw new NodeError("expression_error", "`if` must be true or false", { reason: "input" });
    }
    return exit(String(result), { result });
  },
};

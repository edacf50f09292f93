/** `transform`: makes a value from others. */
import type { NodeType } from "../node-type.ts";
import { coreEntry, record } from "./entry.ts";

/** `transform`: computes a value. */
export const transform: NodeType = {
  core: true,
  entry: coreEntry({
    type: "transform",
    title: "Transform",
    summary: "Makes a value from others.",
    category: "data",
    properties: { value: { description: "Any value; expressions and templates at any depth." } },
    required: ["value"],
    output: record({ value: { "x-millrace": { aliases: ["output", "result", "data"] } } }),
    example: { title: "A record", fields: { value: { day: { $: "inputs.date" } } } },
  }),
  run: (fields) => ({ value: fields["value"] }),
};

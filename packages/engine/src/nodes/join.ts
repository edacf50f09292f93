/** `join`: waits for several paths, as the `join` policy says. */
import type { NodeType } from "../node-type.ts";
import { coreEntry, record } from "./entry.ts";

/** `join`: merges branches; its `join` policy says how many must arrive. */
export const join: NodeType = {
  core: true,
  wantsSources: true,
  entry: coreEntry({
    type: "join",
    title: "Join",
    summary: "Goes on when the paths that lead to it are there; the `join` policy says how many.",
    category: "control",
    properties: {},
    output: record({
      from: { type: "array", items: { type: "string" } },
      first: { type: ["string", "null"] },
    }),
    example: { title: "After both", fields: {} },
  }),
  run(_fields, ctx) {
    const from = [...ctx.liveSources()];
    return { from, first: from[0] ?? null };
  },
};

/** Commands on the node catalog. No code of an extension runs for them. */
import * as z from "zod";
import { catalogEntrySchema } from "../schemas/catalog.ts";
import { pageSchema } from "../schemas/common.ts";
import { commandTable, get, pageArgs } from "./table.ts";

/** Commands on the catalog of node types. */
export const nodeCommands = commandTable({
  list_nodes: {
    summary: "List node types, sorted by type",
    args: z.strictObject({
      q: z.string().min(1).max(200).exactOptional(),
      category: z.string().min(1).max(64).exactOptional(),
      ...pageArgs,
    }),
    result: pageSchema(catalogEntrySchema),
    http: get("/api/nodes"),
  },
  get_node: {
    summary: "Show one node type with its fields, output and ports",
    args: z.strictObject({ type: z.string().min(1).max(256) }),
    result: catalogEntrySchema,
    http: get("/api/nodes/:type"),
  },
});

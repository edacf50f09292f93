/** Commands about the server itself. */
import * as z from "zod";
import { commandInfoSchema, metaSchema } from "../schemas/server.ts";
import { commandTable, get, none } from "./table.ts";

/** Commands that tell about the server itself. */
export const metaCommands = commandTable({
  get_meta: {
    summary: "Show versions, limits and features",
    args: none,
    result: metaSchema,
    effect: "read",
    http: get("/api/meta"),
  },
  list_commands: {
    summary: "List all commands with their schemas",
    args: none,
    result: z.array(commandInfoSchema),
    effect: "read",
    http: get("/api/commands"),
  },
});

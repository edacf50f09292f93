/** Commands about the server: AI providers, settings, and its own data. No answer holds a key, or where it is. */
import * as z from "zod";
import { jsonObjectSchema } from "../schemas/common.ts";
import {
  commandInfoSchema,
  metaSchema,
  providerInfoSchema,
  settingsSchema,
} from "../schemas/server.ts";
import { change, commandTable, get, ifMatch, ifMatchHeader, none } from "./table.ts";

/** Commands on AI providers. */
export const providerCommands = commandTable({
  list_providers: {
    summary: "List AI providers, and whether there is a credential for each",
    args: none,
    result: z.array(providerInfoSchema),
    http: get("/api/providers"),
  },
});

/** Commands on the settings document. */
export const settingsCommands = commandTable({
  get_settings: {
    summary: "Show the settings",
    args: none,
    result: settingsSchema,
    http: get("/api/settings"),
  },
  get_settings_schema: {
    summary: "Show the JSON Schema of the settings",
    args: none,
    result: jsonObjectSchema,
    http: get("/api/settings/schema"),
  },
  update_settings: {
    summary: "Change settings by a merge patch; null goes back to the default",
    args: z.strictObject({ patch: jsonObjectSchema, ifMatch }),
    result: settingsSchema,
    effect: "admin",
    errors: ["value_invalid", "credential_store_unavailable", "store_read_only"],
    http: change("PATCH", "/api/settings", { body: { arg: "patch" }, ...ifMatchHeader }),
  },
});

/** Commands that tell about the server itself. */
export const metaCommands = commandTable({
  get_meta: {
    summary: "Show versions, limits and features",
    args: none,
    result: metaSchema,
    http: get("/api/meta"),
  },
  list_commands: {
    summary: "List all commands with their schemas",
    args: none,
    result: z.array(commandInfoSchema),
    http: get("/api/commands"),
  },
});

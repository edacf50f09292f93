/** Commands on the settings document. */
import * as z from "zod";
import { jsonObjectSchema } from "../schemas/common.ts";
import { settingsSchema } from "../schemas/server.ts";
import { CHANGE_ERRORS, commandTable, get, ifMatch, ifMatchHeader, none } from "./table.ts";

/** Commands on the settings document. */
export const settingsCommands = commandTable({
  get_settings: {
    summary: "Show the settings",
    args: none,
    result: settingsSchema,
    effect: "read",
    http: get("/api/settings"),
  },
  get_settings_schema: {
    summary: "Show the JSON Schema of the settings",
    args: none,
    result: jsonObjectSchema,
    effect: "read",
    http: get("/api/settings/schema"),
  },
  update_settings: {
    summary: "Change settings by a merge patch; null goes back to the default",
    args: z.strictObject({ patch: jsonObjectSchema, ifMatch }),
    result: settingsSchema,
    effect: "admin",
    errors: [...CHANGE_ERRORS, "value_invalid", "credential_store_unavailable", "store_read_only"],
    http: {
      method: "PATCH",
      path: "/api/settings",
      status: 200,
      body: { arg: "patch" },
      ...ifMatchHeader,
    },
  },
});

/** Commands on what flows read as `vars` and `secrets`. A secret comes in and never goes out. */
import * as z from "zod";
import { jsonValueSchema, timeSchema } from "../schemas/common.ts";
import { change, commandTable, get, none, nothing, remove } from "./table.ts";

const name: z.ZodString = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/)
  .describe("As it stands in flows: vars.NAME, secrets.NAME.");
const environment = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/)
  .describe("Counts in this environment alone, over the value of all.")
  .exactOptional();

/** Text that fits in a header and that no service trims: a redactor would miss a trimmed copy. */
const secret = z
  .string()
  .min(6)
  .max(65_536)
  .refine(
    (text) => /^[!-~](?:[ -~]*[!-~])?$/.test(text),
    "takes printable ASCII, no blank at either end",
  )
  .describe("Printable ASCII, with no blank at either end.");

const varSchema = z.strictObject({ name, value: jsonValueSchema, environment });
const secretSchema = z.strictObject({ name, environment, setAt: timeSchema });

/** Commands on variables and secrets of flows. */
export const varCommands = commandTable({
  list_vars: {
    summary: "List what flows read as vars, of all environments",
    args: none,
    result: z.strictObject({ items: z.array(varSchema) }),
    http: get("/api/vars"),
  },
  set_var: {
    summary: "Set a variable; runs that are started from now on read it",
    args: z.strictObject({ name, value: jsonValueSchema, environment }),
    result: varSchema,
    effect: "admin",
    http: change("PUT", "/api/vars/:name"),
  },
  delete_var: {
    summary: "Delete a variable",
    args: z.strictObject({ name, environment }),
    result: nothing,
    effect: "admin",
    http: remove("/api/vars/:name"),
  },
  list_secrets: {
    summary: "List the names of secrets of flows, and when each was set",
    args: none,
    result: z.strictObject({ items: z.array(secretSchema) }),
    errors: ["credential_store_unavailable"],
    http: get("/api/secrets"),
  },
  set_secret: {
    summary: "Set a secret, which nothing shows again",
    args: z.strictObject({ name, environment, value: secret }),
    result: secretSchema,
    effect: "admin",
    errors: ["credential_store_unavailable"],
    http: change("PUT", "/api/secrets/:name"),
  },
  delete_secret: {
    summary: "Delete a secret",
    args: z.strictObject({ name, environment }),
    result: nothing,
    effect: "admin",
    errors: ["credential_store_unavailable"],
    http: remove("/api/secrets/:name"),
  },
});

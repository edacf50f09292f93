/** Catalog entries: what is known of a node type without running its code. */
import * as z from "zod";
import type { CatalogEntry } from "../catalog.ts";
import type { ExtensionRuntime, Permissions } from "../permissions.ts";
import { jsonObjectSchema } from "./common.ts";
import { policySchema } from "./graph.ts";
import { serviceIntegrationSchema } from "./service.ts";

const words = z.array(z.string());

const permissions: z.ZodType<Permissions> = z.strictObject({
  net: words.exactOptional(),
  fs: z.strictObject({ read: words.exactOptional(), write: words.exactOptional() }).exactOptional(),
  env: words.exactOptional(),
  secrets: words.exactOptional(),
  spawn: words.exactOptional(),
  native: z.boolean().exactOptional(),
});

const enforcement = z.enum(["runtime", "tripwire", "none"]);

const runtime: z.ZodType<ExtensionRuntime> = z.strictObject({
  mode: z.enum(["child", "inProcess"]),
  enforcement: z.strictObject({
    net: enforcement,
    fs: enforcement,
    env: enforcement,
    spawn: enforcement,
    native: enforcement,
  }),
});

/** One row of the catalog. */
export const catalogEntrySchema: z.ZodType<CatalogEntry> = z.strictObject({
  type: z.string().min(1),
  version: z.int().min(1),
  kind: z.enum(["action", "control", "ai", "service"]),
  title: z.string(),
  summary: z.string(),
  category: z.string(),
  tags: words,
  fields: jsonObjectSchema,
  output: jsonObjectSchema,
  ports: z.array(
    z.strictObject({ name: z.string().min(1), description: z.string().exactOptional() }),
  ),
  portsFrom: z.string().exactOptional(),
  body: z.boolean(),
  effect: z.enum(["pure", "read", "write", "destructive"]),
  idempotent: z.literal(true).exactOptional(),
  requires: z.strictObject({
    secrets: words,
    connection: z.string().exactOptional(),
    permissions,
  }),
  defaults: z.strictObject({ policy: policySchema.exactOptional() }),
  examples: z.array(jsonObjectSchema),
  source: z.union([
    z.strictObject({ package: z.literal("core") }),
    z.strictObject({ package: z.string(), version: z.string(), digest: z.string() }),
  ]),
  runtime: runtime.exactOptional(),
  state: z.enum(["ready", "failed", "disabled"]),
  problem: z.strictObject({ code: z.string(), message: z.string() }).exactOptional(),
  deprecated: z.string().exactOptional(),
  serviceIntegration: serviceIntegrationSchema.exactOptional(),
});

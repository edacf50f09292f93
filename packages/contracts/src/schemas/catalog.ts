/** Catalog entries: what is known of a node type without running its code. */
import * as z from "zod";
import { type Infer, jsonObjectSchema } from "./common.ts";
import { policySchema } from "./graph.ts";
import { serviceIntegrationSchema } from "./service.ts";

const words = z.array(z.string());

const permissions = z.strictObject({
  net: words.exactOptional(),
  sockets: words.exactOptional(),
  fs: z.strictObject({ read: words.exactOptional(), write: words.exactOptional() }).exactOptional(),
  env: words.exactOptional(),
  secrets: words.exactOptional(),
  spawn: words.exactOptional(),
  native: z.boolean().exactOptional(),
});

/** The resources that code may use: declared by a package, granted by the operator. */
export interface Permissions extends Infer<typeof permissions> {}

const enforcement = z.enum(["runtime", "tripwire", "none"]);

/**
 * How a permission is enforced on code that bypasses its context. `runtime`: Node refuses the access; `tripwire`: a guard
 * against accidents, which hostile code can get around; `none`: not enforced, the code is trusted.
 */
export type Enforcement = Infer<typeof enforcement>;

const runtime = z.strictObject({
  mode: z.enum(["child", "inProcess"]),
  enforcement: z.strictObject({
    net: enforcement,
    fs: enforcement,
    env: enforcement,
    spawn: enforcement,
    native: enforcement,
  }),
});

/** The process in which the code of an extension runs, and how each permission is enforced there. */
export interface ExtensionRuntime extends Infer<typeof runtime> {}

const port = z.strictObject({
  name: z.string().min(1),
  description: z.string().exactOptional(),
});

/** A named exit. `out` is implied when none is given; `error` always exists. */
export interface PortSpec extends Infer<typeof port> {}

/** One row of the catalog. */
export const catalogEntrySchema = z.strictObject({
  type: z.string().min(1),
  version: z.int().min(1),
  kind: z.enum(["action", "control", "ai", "service"]),
  title: z.string(),
  summary: z.string(),
  category: z.string(),
  tags: words,
  /** JSON Schema 2020-12 of all fields, an object schema. */
  fields: jsonObjectSchema,
  /**
   * JSON Schema 2020-12 of the output. Where it names `properties`, a flow that reads another member is refused (FLOW5001);
   * an output that has more members says so with `additionalProperties`.
   */
  output: jsonObjectSchema,
  ports: z.array(port),
  /** Field that yields further ports: the keys of an object, the `name`s of a list. */
  portsFrom: z.string().exactOptional(),
  /** Whether the node holds a `body`. */
  body: z.boolean(),
  effect: z.enum(["pure", "read", "write", "destructive"]),
  /** The same idempotency key twice has one effect. */
  idempotent: z.literal(true).exactOptional(),
  requires: z.strictObject({
    secrets: words,
    /** Field that holds the connection's name. */
    connection: z.string().exactOptional(),
    permissions,
  }),
  defaults: z.strictObject({ policy: policySchema.exactOptional() }),
  examples: z.array(jsonObjectSchema),
  source: z.union([
    z.strictObject({ package: z.literal("core") }),
    z.strictObject({ package: z.string(), version: z.string(), digest: z.string() }),
  ]),
  /** Where its code runs; absent for core and for services, which have none. */
  runtime: runtime.exactOptional(),
  state: z.enum(["ready", "failed", "disabled"]),
  problem: z.strictObject({ code: z.string(), message: z.string() }).exactOptional(),
  deprecated: z.string().exactOptional(),
  serviceIntegration: serviceIntegrationSchema.exactOptional(),
});

/** One row of the catalog: the answer of `list_nodes` and `get_node`, and what validation reads. */
export interface CatalogEntry extends Infer<typeof catalogEntrySchema> {}

/** Hints in a field or output schema under the key `x-millrace`. */
export interface SchemaHints {
  /** Extra roots; the field is evaluated later, by the node. */
  readonly deferred?: readonly string[];
  readonly literal?: true;
  readonly sink?: "command" | "url" | "path" | "sql" | "html";
  readonly secret?: true;
  readonly untrusted?: true;
  readonly connection?: true;
  readonly flow?: true;
  /** Of a member of an output: names that other tools have for it. Reading one of them is an error that suggests this one. */
  readonly aliases?: readonly string[];
}

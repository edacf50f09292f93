/** What is known of a node type without running its code. */

import type { Policy } from "./graph.ts";
import type { JsonObject, JsonSchema } from "./json.ts";
import type { Effect, ExtensionRuntime, Permissions } from "./permissions.ts";
import type { ServiceIntegration } from "./service.ts";

/** A named exit. `out` is implied when none is given; `error` always exists. */
export interface PortSpec {
  readonly name: string;
  readonly description?: string;
}

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

/** One row of the catalog: the answer of `list_nodes` and `get_node`, and what validation reads. */
export interface CatalogEntry {
  readonly type: string;
  readonly version: number;
  readonly kind: "action" | "control" | "ai" | "service";
  readonly title: string;
  readonly summary: string;
  readonly category: string;
  readonly tags: readonly string[];
  /** JSON Schema 2020-12 of all fields, an object schema. */
  readonly fields: JsonSchema;
  /**
   * JSON Schema 2020-12 of the output. Where it names `properties`, a flow that reads another member is refused (FLOW5001);
   * an output that has more members says so with `additionalProperties`.
   */
  readonly output: JsonSchema;
  readonly ports: readonly PortSpec[];
  /** Field that yields further ports: the keys of an object, the `name`s of a list. */
  readonly portsFrom?: string;
  /** Whether the node holds a `body`. */
  readonly body: boolean;
  readonly effect: Effect;
  /** The same idempotency key twice has one effect. */
  readonly idempotent?: true;
  readonly requires: {
    readonly secrets: readonly string[];
    /** Field that holds the connection's name. */
    readonly connection?: string;
    readonly permissions: Permissions;
  };
  readonly defaults: { readonly policy?: Partial<Policy> };
  readonly examples: readonly JsonObject[];
  readonly source:
    | { readonly package: "core" }
    | { readonly package: string; readonly version: string; readonly digest: string };
  /** Where its code runs; absent for core and for services, which have none. */
  readonly runtime?: ExtensionRuntime;
  readonly state: "ready" | "failed" | "disabled";
  readonly problem?: { readonly code: string; readonly message: string };
  readonly deprecated?: string;
  readonly serviceIntegration?: ServiceIntegration;
}

/** Catalog entries of core types: what they share, said once. */
import type {
  CatalogEntry,
  Effect,
  FlowBody,
  Json,
  JsonObject,
  JsonSchema,
  Policy,
  PortSpec,
} from "@millrace/contracts";

/** The catalog data of a core type. */
export interface CoreEntry {
  readonly type: string;
  readonly title: string;
  readonly summary: string;
  readonly category: "control" | "data" | "people" | "time";
  readonly properties: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  readonly output: JsonSchema;
  readonly ports?: readonly PortSpec[];
  readonly portsFrom?: string;
  readonly body?: true;
  readonly effect?: Effect;
  readonly policy?: Partial<Policy>;
  readonly example: {
    readonly title: string;
    readonly fields: { readonly [name: string]: Json };
    readonly body?: FlowBody;
  };
}

/** The port of a node that has one way on. */
export const OUT_PORT: PortSpec = {
  name: "out",
  description: "What comes next once the node has succeeded.",
};

/** The catalog entry of a core type. */
export function coreEntry(core: CoreEntry): CatalogEntry {
  const { type, title, summary, category, output, example } = core;
  return Object.freeze({
    type,
    version: 1,
    kind: "control",
    title,
    summary,
    category,
    tags: [],
    fields: {
      type: "object",
      properties: core.properties,
      required: core.required ?? [],
      additionalProperties: false,
    },
    output,
    ports: core.ports ?? [OUT_PORT],
    ...(core.portsFrom !== undefined && { portsFrom: core.portsFrom }),
    body: core.body ?? false,
    effect: core.effect ?? "pure",
    requires: { secrets: [], permissions: {} },
    defaults: core.policy === undefined ? {} : { policy: core.policy },
    examples: [example as unknown as JsonObject],
    source: { package: "core" },
    state: "ready",
  } satisfies CatalogEntry);
}

/** The schema of a record with exactly these members. */
export function record(properties: { readonly [name: string]: JsonSchema }): JsonSchema {
  return {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

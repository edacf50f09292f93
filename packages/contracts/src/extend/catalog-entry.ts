/**
 * Definition to catalog entry: what is known of a type without running its code. Schemas of zod become JSON Schema by
 * their own copy of zod, so whoever writes raw JSON Schemas never loads zod.
 */

import type { JsonObject, JsonSchema } from "../json.ts";
import type { CatalogEntry, Permissions } from "../schemas/catalog.ts";
import type { Effect } from "../service.ts";
import { ExtensionError } from "./extension-error.ts";
import { frozenJson } from "./json-data.ts";
import { isZodSchema, type Schema, zodProblem } from "./schema.ts";
import { operationEffect } from "./service-arguments.ts";
import {
  type ActionAdapterDefinition,
  definitionKind,
  type ExtensionDefinition,
  type NodeSpec,
  type NodeTypeDefinition,
  type ServiceDefinition,
} from "./types.ts";

/** Default time limit of one try of an action; a slower effect outside must set its own. */
const ACTION_TIMEOUT_MS = 30_000;

const CORE: CatalogEntry["source"] = { package: "core" };

/** Data about a definition that only its host has. */
export interface CatalogOptions {
  /** Where it comes from; default `{ package: "core" }`. */
  readonly source?: CatalogEntry["source"];
  /** Permissions that the package declares; default none. */
  readonly permissions?: Permissions;
  /** Default `action` for actions, `control` for node types, `service` for services. */
  readonly kind?: CatalogEntry["kind"];
  /** Whether the node holds a body; core only. Default false. */
  readonly body?: boolean;
}

/**
 * The catalog entry of a node type or a service; a service is listed as `service.<slug>`. `@2` at the end of a type becomes
 * `version: 2`. Throws `ExtensionError` code `extension_definition_invalid` for a zod schema that JSON Schema cannot say.
 */
export function catalogEntryOf(
  definition: NodeTypeDefinition | ServiceDefinition,
  options: CatalogOptions = {},
): CatalogEntry {
  return "slug" in definition
    ? serviceEntry(definition, options)
    : nodeEntry(definition.type, definition, {}, { kind: "control", ...options });
}

/** The entries of an adapter or of a whole extension, sorted by type. Throws like `catalogEntryOf`. */
export function catalogEntriesOf(
  definition: ActionAdapterDefinition | ExtensionDefinition,
  options: CatalogOptions = {},
): readonly CatalogEntry[] {
  const entries = isAdapter(definition)
    ? definition.actions.map((action) =>
        nodeEntry(
          `${definition.id}.${action.name}`,
          action,
          { timeoutMs: ACTION_TIMEOUT_MS },
          options,
        ),
      )
    : [
        ...definition.adapters.flatMap((adapter) => catalogEntriesOf(adapter, options)),
        ...definition.nodeTypes.map((type) => catalogEntryOf(type, options)),
        ...definition.services.map((service) => catalogEntryOf(service, options)),
      ];
  return Object.freeze(
    entries.sort((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : a.version - b.version)),
  );
}

function nodeEntry(
  typeAtVersion: string,
  spec: NodeSpec<unknown, unknown> & { readonly portsFrom?: string },
  policy: { readonly timeoutMs?: number },
  options: CatalogOptions,
): CatalogEntry {
  const [type = typeAtVersion, version] = typeAtVersion.split("@");
  const fields = toJsonSchema(spec.fields, type, "/fields");
  if (fields["type"] !== "object")
    throw invalid(type, "/fields", "must be the schema of an object");
  const merged = { ...policy, ...spec.defaults?.policy };
  return Object.freeze({
    type,
    version: version === undefined ? 1 : Number(version),
    kind: options.kind ?? "action",
    title: spec.title,
    summary: spec.summary,
    category: spec.category ?? (type.split(".")[0] as string),
    tags: spec.tags ?? [],
    // A field that no schema names is a typing mistake, whichever way the object was written.
    fields: isZodSchema(spec.fields) ? { additionalProperties: false, ...fields } : fields,
    output: toJsonSchema(spec.output, type, "/output"),
    ports: spec.ports ?? [{ name: "out" }],
    ...(spec.portsFrom === undefined ? {} : { portsFrom: spec.portsFrom }),
    body: options.body ?? false,
    effect: spec.effect,
    ...(spec.idempotent ? { idempotent: true as const } : {}),
    requires: {
      secrets: spec.needs?.secrets ?? [],
      ...(spec.needs?.connection === undefined ? {} : { connection: spec.needs.connection }),
      permissions: options.permissions ?? {},
    },
    defaults: Object.keys(merged).length === 0 ? {} : { policy: merged },
    examples: (spec.examples ?? []) as readonly JsonObject[],
    source: options.source ?? CORE,
    state: "ready",
    ...(spec.deprecated === undefined ? {} : { deprecated: spec.deprecated }),
  });
}

const EFFECTS: readonly Effect[] = ["pure", "read", "write", "destructive"];

function serviceEntry(service: ServiceDefinition, options: CatalogOptions): CatalogEntry {
  const effects = service.serviceIntegration.operations.map(operationEffect);
  const strongest = Math.max(...effects.map((effect) => EFFECTS.indexOf(effect)));
  return Object.freeze({
    type: `service.${service.slug}`,
    version: 1,
    kind: "service",
    title: service.title,
    summary: service.summary,
    category: "service",
    tags: [],
    fields: { type: "object" },
    output: {},
    ports: [{ name: "out" }],
    body: false,
    effect: EFFECTS[strongest] as Effect,
    requires: { secrets: [], permissions: options.permissions ?? {} },
    defaults: {},
    examples: [],
    source: options.source ?? CORE,
    state: "ready",
    serviceIntegration: service.serviceIntegration,
  });
}

/** zod describes what goes in: fields before defaults, and outputs as a body returns them. */
function toJsonSchema(schema: Schema<unknown>, type: string, pointer: string): JsonSchema {
  if (!isZodSchema(schema)) return schema;
  const problem = zodProblem(schema);
  if (problem !== undefined) throw invalid(type, pointer, problem);
  let converted: JsonObject;
  try {
    converted = schema.toJSONSchema({ io: "input", target: "draft-2020-12" }) as JsonObject;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw invalid(type, pointer, `cannot be said in JSON Schema: ${why}`);
  }
  const { $schema: _dialect, ...rest } = converted;
  return frozenJson(rest, `node type "${type}"`, pointer);
}

function isAdapter(
  definition: ActionAdapterDefinition | ExtensionDefinition,
): definition is ActionAdapterDefinition {
  return definitionKind(definition) === "adapter";
}

function invalid(type: string, pointer: string, message: string): ExtensionError {
  return new ExtensionError(
    "extension_definition_invalid",
    `node type "${type}": ${pointer} ${message}`,
    { pointer },
  );
}

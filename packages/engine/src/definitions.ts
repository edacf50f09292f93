/** Definitions of extensions as node types of the engine. */
import {
  type ActionAdapterDefinition,
  type ActionDefinition,
  type CatalogEntry,
  type CatalogOptions,
  catalogEntriesOf,
  catalogEntryOf,
  definitionKind,
  type ExtensionDefinition,
  isZodSchema,
  type NodeContext,
  NodeError,
  type NodeTypeDefinition,
  type Schema,
  type ServiceDefinition,
} from "@millrace/contracts";
import type { CoreContext, Fields, NodeType } from "./node-type.ts";

/** A list of node types that comes as one, such as `aiPack()`; its schemas are not checked again. */
export type NodePack = readonly NodeType[];

/** A source of node types for `createRegistry`. */
export type TypeSource =
  | NodeType
  | NodePack
  | NodeTypeDefinition
  | ActionAdapterDefinition
  | ExtensionDefinition
  | ServiceDefinition
  | ServiceEntry;

/** A service as it stands in a catalog, which says whose it is. */
export type ServiceEntry = CatalogEntry & Required<Pick<CatalogEntry, "serviceIntegration">>;

/** The services that a definition adds, as they are listed. */
export function servicesOf(source: TypeSource): readonly ServiceEntry[] {
  if (isServiceEntry(source)) return [source];
  const kind = definitionKind(source);
  const services =
    kind === "service"
      ? [source as ServiceDefinition]
      : kind === "extension"
        ? (source as ExtensionDefinition).services
        : [];
  return services.map((service) => catalogEntryOf(service) as ServiceEntry);
}

function isServiceEntry(source: TypeSource): source is ServiceEntry {
  const { kind, serviceIntegration } = Object(source) as Partial<CatalogEntry>;
  return kind === "service" && serviceIntegration !== undefined;
}

/** The node types that a definition adds; a service adds none. */
export function typesOf(source: TypeSource, options: CatalogOptions = {}): readonly NodeType[] {
  if (Array.isArray(source)) return source as NodePack;
  if (isServiceEntry(source)) return [];
  switch (definitionKind(source)) {
    case "nodeType":
      return [ofNodeType(source as NodeTypeDefinition, options)];
    case "adapter":
      return ofAdapter(source as ActionAdapterDefinition, options);
    case "extension": {
      const { adapters, nodeTypes } = source as ExtensionDefinition;
      return [...adapters, ...nodeTypes].flatMap((part) => typesOf(part, options));
    }
    case "service":
      return [];
    default:
      return [source as NodeType];
  }
}

function ofNodeType(definition: NodeTypeDefinition, options: CatalogOptions): NodeType {
  return {
    entry: catalogEntryOf(definition, options),
    run: (fields, ctx) => definition.run(fields, ctx),
    ...checkOf(definition),
    ...parserOf(definition.fields),
    ...outputCheckOf(definition.output),
  };
}

function ofAdapter(adapter: ActionAdapterDefinition, options: CatalogOptions): NodeType[] {
  const entries = catalogEntriesOf(adapter, options);
  return adapter.actions.map((action) => ({
    entry: entryFor(entries, adapter, action),
    run: (fields: Fields, ctx: CoreContext) => action.run(fields, ctx satisfies NodeContext),
    adapter: adapter.id,
    ...checkOf(action),
    ...parserOf(action.fields),
    ...outputCheckOf(action.output),
  }));
}

function entryFor(
  entries: readonly CatalogEntry[],
  adapter: ActionAdapterDefinition,
  action: ActionDefinition,
): CatalogEntry {
  const [name, version = "1"] = action.name.split("@");
  const type = `${adapter.id}.${name}`;
  const found = entries.find((entry) => entry.type === type && entry.version === Number(version));
  return found as CatalogEntry;
}

function checkOf(definition: ActionDefinition | NodeTypeDefinition): Pick<NodeType, "check"> {
  const { check } = definition;
  return check === undefined ? {} : { check: (fields: Fields) => check.call(definition, fields) };
}

/** A zod schema checks for itself: it can say more than JSON Schema, and it fills in defaults. */
function parserOf(schema: Schema<unknown>): Pick<NodeType, "parseFields" | "checksFields"> {
  if (!isZodSchema(schema)) return {};
  return {
    checksFields: true,
    parseFields(fields) {
      const parsed = schema.safeParse(fields);
      if (parsed.success) return parsed.data as Fields;
      throw new NodeError("field_invalid", firstIssue(parsed.error.issues), { reason: "input" });
    },
  };
}

function outputCheckOf(schema: Schema<unknown>): Pick<NodeType, "outputProblem"> {
  if (!isZodSchema(schema)) return {};
  return {
    outputProblem(output) {
      const parsed = schema.safeParse(output);
      return parsed.success ? null : firstIssue(parsed.error.issues);
    },
  };
}

/** Where and what, without the value. */
function firstIssue(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): string {
  const [issue] = issues;
  return issue === undefined
    ? "not valid"
    : `${issue.path.map(String).join("/")}: ${issue.message}`;
}

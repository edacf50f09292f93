/** The node types that flows may use: those of the engine, of packs, and of extensions. */
import type { CatalogEntry } from "@millrace/contracts";
import type { FlowCatalog } from "@millrace/dsl";
import { type ServiceEntry, servicesOf, type TypeSource, typesOf } from "./definitions.ts";
import { EngineError } from "./errors.ts";
import type { NodeType } from "./node-type.ts";
import { CONTROL_TYPES } from "./nodes/index.ts";
import { unreadable } from "./schema-check.ts";

/** The node types that flows are compiled with: control types and what was added. Immutable. */
export interface Registry {
  /** A type; without `version` the newest. */
  get(type: string, version?: number): NodeType | undefined;
  /** The same; throws `registry_invalid` for a type that is not there. */
  require(type: string, version?: number): NodeType;
  /** Every entry, sorted by type, then version; services are listed as `service.<slug>`. */
  entries(): readonly CatalogEntry[];
  /** The same as validation reads it. */
  catalog(): FlowCatalog;
}

/**
 * A registry of the control types (`condition switch join map loop subflow delay confirm transform log fail`) and `types`: packs such
 * as `aiPack()`, definitions of `defineNodeType`, `defineActionAdapter`, `defineService`, `defineExtension`, entries of services, or
 * low-level types. Services are listed and known to validation; what runs them is `services` of `createEngine`. Throws `EngineError`: `registry_duplicate` for a type and version that is there already,
 * `registry_invalid` for what is no node type or has a schema outside the subset of JSON Schema that is checked.
 */
export function createRegistry(types: readonly TypeSource[] = []): Registry {
  if (!Array.isArray(types)) {
    throw new EngineError(
      "registry_invalid",
      "createRegistry takes a list: createRegistry([weigh])",
    );
  }
  const versions = new Map<string, Map<number, NodeType>>();
  const all = [...CONTROL_TYPES];
  for (const source of types) {
    const added = typesOf(source);
    if (!Array.isArray(source)) for (const type of added) refuseType(type);
    all.push(...added);
  }
  for (const type of all) {
    const { type: name, version } = type.entry;
    const known = versions.get(name) ?? new Map<number, NodeType>();
    if (known.has(version)) {
      const text = `node type "${name}" version ${version} is there twice; remove one of the two`;
      throw new EngineError("registry_duplicate", text);
    }
    versions.set(name, known.set(version, type));
  }
  const services = new Map<string, CatalogEntry>();
  for (const entry of types.flatMap(servicesOf)) {
    refuseOperations(entry);
    if (services.has(entry.type) || versions.has(entry.type)) {
      const text = `service "${slugOf(entry)}" is there twice; remove one of the two`;
      throw new EngineError("registry_duplicate", text);
    }
    services.set(entry.type, entry);
  }
  const sorted = (): readonly CatalogEntry[] =>
    Object.freeze(
      [...all.map(({ entry }) => entry), ...services.values()].sort((a, b) =>
        a.type < b.type ? -1 : a.type > b.type ? 1 : a.version - b.version,
      ),
    );
  const fixed = all.some(({ changes }) => changes === true) ? null : sorted();
  const get = (type: string, version?: number): NodeType | undefined => {
    const known = versions.get(type);
    if (known === undefined) return undefined;
    return known.get(version ?? Math.max(...known.keys()));
  };
  return Object.freeze({
    get,
    require(type: string, version?: number) {
      const found = get(type, version);
      if (found !== undefined) return found;
      throw new EngineError("registry_invalid", `there is no node type "${type}"`);
    },
    entries: () => fixed ?? sorted(),
    catalog: () => ({
      entry: (type: string, version?: number) => get(type, version)?.entry ?? services.get(type),
      types: () => versions.keys(),
    }),
  });
}

/** A schema that cannot be checked would leave every node of the type failing. */
function refuseType(type: NodeType): void {
  const { entry } = Object(type) as Partial<NodeType>;
  if (typeof entry?.type !== "string" || typeof type.run !== "function") {
    const text =
      "a node type needs a catalog entry and a run function; make it with defineNodeType";
    throw new EngineError("registry_invalid", text);
  }
  const { fields, output, type: name } = type.entry;
  const own = type.parseFields === undefined ? { fields, output } : {};
  for (const [part, schema] of Object.entries(own)) {
    const problem = unreadable(schema)[0];
    if (problem === undefined) continue;
    const text = `node type "${name}": schema of ${part}${problem.pointer}: ${problem.message}`;
    throw new EngineError("registry_invalid", text);
  }
}

/** The same for the schemas of operations; `checkService` has seen to all else. */
function refuseOperations(entry: ServiceEntry): void {
  const { operations } = entry.serviceIntegration;
  for (const { id, params, query, headers, body, result } of operations) {
    const parts = { params, query, headers, "body/schema": body?.schema, result };
    for (const [part, schema] of Object.entries(parts)) {
      const problem = schema === undefined ? undefined : unreadable(schema)[0];
      if (problem === undefined) continue;
      const text = `service "${slugOf(entry)}": ${part}${problem.pointer} of operation ${id}: ${problem.message}`;
      throw new EngineError("registry_invalid", text);
    }
  }
}

function slugOf({ type }: ServiceEntry): string {
  return type.replace(/^service\./, "");
}

/**
 * `catalog.json`: all that is known of an extension without running it. It is generated from the definition, and says its own
 * digest, so that code and catalog which do not belong together are found out.
 */
import { createHash } from "node:crypto";
import {
  type CatalogEntry,
  catalogEntriesOf,
  type ExtensionDefinition,
  type Json,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/check";
import { canonicalJson, compileSchema } from "@millrace/dsl";
import { parseJson } from "./manifest.ts";
import { ProblemFound } from "./problem.ts";

/** Form of the file that is written and read here. */
const CATALOG_VERSION = 1;
const MAX_ENTRIES = 5_000; // as many as one imported service may have operations

/** An entry without what its host knows: where it comes from, what was granted, how it stands. */
export type PlainEntry = Omit<CatalogEntry, "source" | "state" | "problem" | "runtime">;

/** A provider as it is listed. */
export interface ListedProvider {
  readonly id: string;
  readonly title: string;
}

/** What an extension contributes, as data. */
export interface ExtensionCatalog {
  readonly catalogVersion: typeof CATALOG_VERSION;
  /** `sha256:` over everything else in here, in canonical JSON. */
  readonly digest: string;
  /** Node types, and services as `service.<slug>`; sorted by type, then version. */
  readonly nodes: readonly PlainEntry[];
  readonly providers: readonly ListedProvider[];
  readonly adapters: readonly { readonly id: string; readonly title: string }[];
  /** Types, as `type@version`, that look at literal fields before a run. */
  readonly checks: readonly string[];
}

/**
 * The catalog of a definition. Throws `ExtensionError` for a schema that JSON Schema cannot say, and `ProblemFound`
 * `extension_catalog_invalid` for one that is outside the subset that is checked.
 */
export function catalogOf(definition: ExtensionDefinition): ExtensionCatalog {
  const nodes = catalogEntriesOf(definition).map(({ source: _, state: __, ...entry }) => entry);
  for (const entry of nodes) refuseSchemas(entry);
  const body = {
    nodes,
    providers: definition.providers.map(({ id, title }) => ({ id, title })),
    adapters: definition.adapters.map(({ id, title }) => ({ id, title })),
    checks: definition.nodeTypes
      .filter(({ check }) => check !== undefined)
      .map(({ type }) => (type.includes("@") ? type : `${type}@1`))
      .sort(),
  };
  return { catalogVersion: CATALOG_VERSION, digest: digestOf(body), ...body };
}

/** Reads the text of a `catalog.json`. Throws `ProblemFound` `extension_catalog_invalid`. */
export function parseCatalog(text: string): ExtensionCatalog {
  const file = parseJson(text, "catalog.json");
  if (!isObject(file) || file["catalogVersion"] !== CATALOG_VERSION) {
    throw invalid(`is not of version ${CATALOG_VERSION}; build the extension again`);
  }
  const { catalogVersion: _, digest, ...body } = file as unknown as ExtensionCatalog;
  const lists = [body.nodes, body.providers, body.adapters, body.checks];
  if (!lists.every((each) => Array.isArray(each) && each.length <= MAX_ENTRIES)) {
    throw invalid(`must hold the lists nodes, providers, adapters and checks`);
  }
  if (digestOf(body) !== digest) throw invalid("was changed by hand; build the extension again");
  for (const entry of body.nodes) {
    if (!isObject(entry) || typeof entry["type"] !== "string") throw invalid("holds no node types");
    refuseSchemas(entry);
  }
  return { catalogVersion: CATALOG_VERSION, digest, ...body };
}

/** A schema that cannot be checked would leave every node of the type failing. */
function refuseSchemas(entry: PlainEntry): void {
  for (const part of ["fields", "output"] as const) {
    const made = compileSchema(entry[part]);
    if (made.ok) continue;
    const [problem] = made.problems;
    const at = `${part}${problem?.pointer ?? ""}`;
    throw invalid(`node type "${entry.type}": schema of ${at}: ${problem?.message ?? "no schema"}`);
  }
}

function digestOf(body: Omit<ExtensionCatalog, "catalogVersion" | "digest">): string {
  const text = canonicalJson(body as unknown as Json);
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function invalid(what: string): ProblemFound {
  return new ProblemFound("extension_catalog_invalid", `catalog.json ${what}`);
}

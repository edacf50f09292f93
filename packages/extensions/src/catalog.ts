/**
 * `catalog.json`: all that is known of an extension without running it. It is generated from the definition, and says its own
 * digest, so that code and catalog which do not belong together are found out.
 */
import { createHash } from "node:crypto";
import {
  type CatalogEntry,
  catalogEntriesOf,
  checkService,
  type ExtensionDefinition,
  type Json,
} from "@millrace/contracts";
import { canonicalJson, isObject } from "@millrace/contracts/kit";
import {
  type Infer,
  integer,
  list,
  must,
  object,
  oneOf,
  optional,
  problemsOf,
  text,
} from "@millrace/contracts/shape";
import { compileSchema } from "@millrace/dsl";
import { parseJson } from "./manifest.ts";
import { ProblemFound } from "./problem.ts";

/** Form of the file that is written and read here. */
const CATALOG_VERSION = 1;
const MAX_ENTRIES = 5_000; // as many as one imported service may have operations

/** An entry without what its host knows: where it comes from, what was granted, how it stands. */
export type PlainEntry = Omit<CatalogEntry, "source" | "state" | "problem" | "runtime">;

const anObject = must(isObject, "an object");
const words = list(text("a word"));
const named = object({ id: text("an id"), title: text("a title", { min: 0 }) });
const port = object({
  name: text("a port", { max: 128 }),
  description: optional(text("a sentence")),
});

const ENTRY = object({
  type: text("a type such as approval.quorum", {
    pattern: /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*(?:\.[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*)*$/,
  }),
  version: integer(1, 9_999),
  kind: oneOf("action", "control", "service"),
  title: text("a title", { min: 0 }),
  summary: text("a sentence", { min: 0 }),
  category: text("a word"),
  tags: words,
  fields: anObject,
  output: anObject,
  ports: list(port, { unique: "name" }),
  body: oneOf(false),
  effect: oneOf("pure", "read", "write", "destructive"),
  requires: object({
    secrets: words,
    connection: optional(text("a field")),
    permissions: optional(anObject),
  }),
  defaults: object({ policy: optional(anObject) }),
  examples: list(anObject),
  portsFrom: optional(text("a field")),
  idempotent: optional(oneOf(true)),
  deprecated: optional(text("what to use instead")),
  serviceIntegration: optional(anObject),
});

const CATALOG = object({
  nodes: list(ENTRY),
  providers: list(named, { unique: "id" }),
  adapters: list(named, { unique: "id" }),
  checks: words,
});

/** A provider as it is listed. */
export interface ListedProvider extends Infer<typeof named> {}

/** Contributions of an extension, as data; `checks`: types, as `type@version`, that check literal fields before a run. */
export interface ExtensionCatalog extends Omit<Infer<typeof CATALOG>, "nodes"> {
  readonly catalogVersion: typeof CATALOG_VERSION;
  /** `sha256:` over everything else in here, in canonical JSON. */
  readonly digest: string;
  /** Node types, and services as `service.<slug>`; sorted by type, then version. */
  readonly nodes: readonly PlainEntry[];
}

/**
 * The catalog of a definition. Throws `ExtensionError` for a schema that JSON Schema cannot say, and `ProblemFound`
 * `extension_catalog_invalid` for one that is outside the subset that is checked.
 */
export function catalogOf(definition: ExtensionDefinition): ExtensionCatalog {
  const nodes = catalogEntriesOf(definition).map(({ source: _, state: __, ...entry }) => entry);
  for (const entry of nodes) if (entry.kind !== "service") refuseSchemas(entry);
  const body = {
    nodes,
    providers: definition.providers.map(({ id, title }) => ({ id, title })),
    adapters: definition.adapters.map(({ id, title }) => ({ id, title })),
    checks: [
      ...definition.nodeTypes,
      ...definition.adapters.flatMap(({ id, actions }) =>
        actions.map(({ name, check }) => ({ type: `${id}.${name}`, check })),
      ),
    ]
      .filter(({ check }) => check !== undefined)
      .map(({ type }) => (type.includes("@") ? type : `${type}@1`))
      .sort(),
  };
  const json = canonicalJson(body as unknown as Json);
  // In canonical order, so that whoever reads the file finds the text of its digest without sorting.
  const ordered = JSON.parse(json) as typeof body;
  return { catalogVersion: CATALOG_VERSION, digest: digestOf(json), ...ordered };
}

/** Digests of the texts that were in order: a project that is read again has most of them. */
const inOrder = new Set<string>();
const MAX_IN_ORDER = 1_000;

/** Reads the text of a `catalog.json`. Throws `ProblemFound` `extension_catalog_invalid`. */
export function parseCatalog(json: string): ExtensionCatalog {
  const file = parseJson(json, "catalog.json");
  const ofText = digestOf(json);
  if (!inOrder.has(ofText)) {
    checkCatalog(file);
    if (inOrder.size >= MAX_IN_ORDER) inOrder.clear();
    inOrder.add(ofText);
  }
  return file as ExtensionCatalog;
}

function checkCatalog(file: unknown): void {
  if (!isObject(file) || file["catalogVersion"] !== CATALOG_VERSION) {
    throw invalid(`is not of version ${CATALOG_VERSION}; build the extension again`);
  }
  const { catalogVersion: _, digest, ...body } = file as unknown as ExtensionCatalog;
  const lists = [body.nodes, body.providers, body.adapters, body.checks];
  if (!lists.every((each) => Array.isArray(each) && each.length <= MAX_ENTRIES)) {
    throw invalid(`must hold the lists nodes, providers, adapters and checks`);
  }
  if (!isOf(digest, body)) throw invalid("was changed by hand; build the extension again");
  const problem = problemsOf(body, CATALOG)[0];
  if (problem !== undefined) throw invalid(`${problem.pointer} ${problem.message}`);
  const schemas = new Set<string>();
  for (const entry of body.nodes) {
    if ((entry.kind === "service") !== entry.type.startsWith("service.")) {
      throw invalid(`${entry.type}: the kind service and types of service.* belong together`);
    }
    if (entry.kind === "service") refuseService(entry);
    else refuseSchemas(entry, schemas);
  }
}

/** Refuses a service that its host could not read. */
function refuseService({ type, title, summary, serviceIntegration }: PlainEntry): void {
  const finding = checkService({ slug: type.slice(8), title, summary, serviceIntegration })[0];
  if (finding !== undefined) throw invalid(`${type}: ${finding.pointer} ${finding.message}`);
  for (const { id, params, query, headers, body, result } of serviceIntegration?.operations ?? []) {
    for (const schema of [params, query, headers, body?.schema, result]) {
      const made = schema === undefined ? undefined : compileSchema(schema);
      if (made?.ok !== false) continue;
      throw invalid(`${type}: a schema of ${id}: ${made.problems[0]?.message ?? "no schema"}`);
    }
  }
}

/**
 * A schema that cannot be checked would leave every node of the type failing. `fine`: texts of schemas that can; entries of one
 * extension have many in common.
 */
function refuseSchemas(entry: PlainEntry, fine?: Set<string>): void {
  for (const part of ["fields", "output"] as const) {
    const text = fine === undefined ? "" : JSON.stringify(entry[part]);
    if (fine?.has(text)) continue;
    const made = compileSchema(entry[part]);
    if (made.ok) {
      fine?.add(text);
      continue;
    }
    const [problem] = made.problems;
    const at = `${part}${problem?.pointer ?? ""}`;
    throw invalid(`node type "${entry.type}": schema of ${at}: ${problem?.message ?? "no schema"}`);
  }
}

/** A file as it was generated is in canonical order already, which saves the sorting: most of the time of a large one. */
function isOf(digest: string, body: object): boolean {
  return (
    digestOf(JSON.stringify(body)) === digest || digestOf(canonicalJson(body as Json)) === digest
  );
}

function digestOf(json: string): string {
  return `sha256:${createHash("sha256").update(json).digest("hex")}`;
}

function invalid(what: string): ProblemFound {
  return new ProblemFound("extension_catalog_invalid", `catalog.json ${what}`);
}

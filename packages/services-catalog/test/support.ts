/** Services of the catalog as a project has them. */
import { readFileSync } from "node:fs";
import {
  defineService,
  type Json,
  type JsonObject,
  type JsonSchema,
  type ServiceDefinition,
  type ServiceOperation,
  type ServiceSpec,
  serviceArguments,
} from "@millrace/contracts";
import { type CatalogService, completeService, readCatalog } from "../src/index.ts";

export const CATALOG = await readCatalog();

/** What `scripts/check-catalog.mjs` found: endpoints by service, and how credentials are sent by service and credential. */
export const PUBLISHED: {
  readonly operations: {
    readonly [slug: string]: {
      readonly source: string;
      readonly on: string;
      readonly operations: { readonly [id: string]: PublishedOperation };
    };
  };
  readonly auth: {
    readonly source: string;
    readonly services: { readonly [name: string]: PublishedAuth };
  };
} = JSON.parse(readFileSync(new URL("published.json", import.meta.url), "utf8"));

interface PublishedOperation {
  readonly method: string;
  readonly path: string;
  readonly required: readonly string[];
  readonly scopes?: readonly string[];
}

interface PublishedAuth {
  readonly scheme: string;
  readonly origin: string;
  /** Parameters of the address of the consent. */
  readonly params?: { readonly [name: string]: string };
  /** Those of ours that are in the list. */
  readonly scopes?: readonly string[];
  /** As descriptors say it. */
  readonly [member: string]: unknown;
}

const examplesOf = ({ meta }: CatalogService) =>
  Object.fromEntries(
    Object.entries(meta.values ?? {}).map(([name, { example }]) => [name, example]),
  );

/** A service with the examples of its values, for one of its credentials. */
export function complete(entry: CatalogService, auth?: string): ServiceSpec {
  const options = { values: examplesOf(entry), ...(auth !== undefined && { auth }) };
  const { service, problems } = completeService(entry, options);
  if (service === null) throw new Error(`${entry.slug}: ${problems.join("; ")}`);
  return service;
}

/** Every service for every credential that it takes, by a name of its own. */
export const VARIANTS: readonly (readonly [name: string, service: ServiceSpec])[] = CATALOG.flatMap(
  (entry) => [
    [entry.slug, complete(entry)] as const,
    ...Object.keys(entry.meta.otherAuth ?? {}).map(
      (auth) => [`${entry.slug}-${auth}`, complete(entry, auth)] as const,
    ),
  ],
);

/** The service under another slug and origin, with its own path. */
export function movedTo(origin: string, slug: string, service: ServiceSpec): ServiceDefinition {
  const { pathname } = new URL(service.serviceIntegration.baseUrl);
  const baseUrl = `${origin}/${slug}${pathname === "/" ? "" : pathname}`;
  return defineService({
    ...service,
    slug,
    serviceIntegration: { ...service.serviceIntegration, baseUrl },
  });
}

/** What a call must give, with values that fit. */
export function sampleArgs(operation: ServiceOperation): JsonObject {
  const required = [...serviceArguments(operation).known].filter(([, each]) => each.required);
  return Object.fromEntries(required.map(([name, { schema }]) => [name, sampleOf(schema)]));
}

function sampleOf(schema: JsonSchema): Json {
  const {
    type,
    enum: words,
    properties = {},
    required = [],
  } = schema as {
    readonly type?: string;
    readonly enum?: readonly Json[];
    readonly properties?: { readonly [name: string]: JsonSchema };
    readonly required?: readonly string[];
  };
  if (words !== undefined) return words[0] ?? null;
  if (type === "integer" || type === "number") return 7;
  if (type === "boolean") return true;
  if (type === "array") return [];
  if (type !== "object") return "a/b c";
  return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
}

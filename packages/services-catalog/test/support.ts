/** Services of the catalog as a project has them. */
import { readFileSync } from "node:fs";
import {
  type CredentialsPort,
  defineService,
  type Json,
  type JsonObject,
  type JsonSchema,
  type ServiceDefinition,
  type ServiceOperation,
  type ServiceSpec,
  serviceArguments,
} from "@millrace/contracts";
import { compileFlow, createEngine, createRegistry } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { servicesPack } from "@millrace/services";
import { graphWith } from "@millrace/test-support/graph";
import { expect } from "vitest";
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

/** The credential of every service: a name and a secret, as Basic wants it. */
export const TOKEN = "user:t0ken-7f3a9c";

/** A call of an operation of a service. */
export interface Call {
  readonly slug: string;
  readonly operation: string;
  readonly args: JsonObject;
}

/** Runs calls as steps of one flow over the real engine, and answers how each ended: "ok", or what its failure and log say. */
export async function runCalls(
  services: ReadonlyMap<string, ServiceDefinition>,
  calls: readonly Call[],
): Promise<readonly (string | undefined)[]> {
  const nodes = calls.map(({ slug, operation, args }, at) => {
    const fields = { connection: slug, operation, args };
    // A call that fails ends no other.
    return { id: `n${at}`, type: "service.call", fields, policy: { onError: "port" } as const };
  });
  const connections = [...services].map(([slug, { serviceIntegration }]) => {
    const { scheme } = serviceIntegration.auth;
    return { name: slug, auth: scheme === "oauth2" ? ("oauth" as const) : scheme, service: slug };
  });
  const graph = graphWith({ id: "all", nodes, connections });
  const compiled = await compileFlow(graph, { registry: createRegistry([servicesPack()]) });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  const engine = createEngine({
    host: createNodeHost(),
    egress: { allow: [{ cidr: "127.0.0.1/32" }] },
    services,
    credentials: credentialsOf(services),
  });
  const ends = new Map<string, string>();
  const logs = new Map<string, string>();
  for await (const batch of engine.run(compiled.plan).batches()) {
    for (const event of batch) {
      const node = "node" in event ? (event.node ?? "") : "";
      if (event.kind === "log") logs.set(node, event.text);
      if (event.kind === "node.failed") {
        ends.set(node, [event.error.message, logs.get(node) ?? []].flat().join(": "));
      }
      if (event.kind === "node.succeeded") ends.set(node, "ok");
      expect(JSON.stringify(event)).not.toContain("t0ken-7f3a9c");
    }
  }
  return nodes.map(({ id }) => ends.get(id));
}

function credentialsOf(services: ReadonlyMap<string, ServiceDefinition>): CredentialsPort {
  const resolve: CredentialsPort["resolve"] = async (slug) => ({
    scheme: services.get(slug)?.serviceIntegration.auth.scheme ?? "none",
    scopes: [],
    reveal: () => TOKEN,
  });
  return {
    resolve,
    renew: (slug, _rejected, asked) => resolve(slug, asked),
    secret: async () => undefined,
  };
}

/** What a call must give, with values that fit; with `all` what it can give. */
export function sampleArgs(operation: ServiceOperation, { all = false } = {}): JsonObject {
  const given = [...serviceArguments(operation).known].filter(([, each]) => all || each.required);
  return Object.fromEntries(given.map(([name, { schema }]) => [name, sampleOf(schema, all)]));
}

function sampleOf(schema: JsonSchema, all: boolean): Json {
  const {
    type,
    enum: words,
    items = {},
    maximum = 7,
    properties = {},
    required = [],
  } = schema as {
    readonly type?: string;
    readonly enum?: readonly Json[];
    readonly items?: JsonSchema;
    readonly maximum?: number;
    readonly properties?: { readonly [name: string]: JsonSchema };
    readonly required?: readonly string[];
  };
  if (words !== undefined) return words[0] ?? null;
  if (type === "integer" || type === "number") return maximum;
  if (type === "boolean") return true;
  if (type === "array") return all ? [sampleOf(items, all)] : [];
  if (type !== "object") return "a/b c";
  const names = all ? Object.keys(properties) : required;
  return Object.fromEntries(names.map((name) => [name, sampleOf(properties[name] ?? {}, all)]));
}

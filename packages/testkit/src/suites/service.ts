/** What every service as data keeps to: where its requests go, and that the credential is there once. */
import assert from "node:assert/strict";
import type { Json, JsonObject, JsonSchema, ServiceDefinition } from "@millrace/contracts";
import { buildServiceRequest, type ServiceRequest } from "@millrace/engine";
import type { ConformanceCase } from "../conformance-case.ts";

/** What a hole of a path must not let through as it is. */
const HOSTILE = "a/b?c#d e%2f..é";
const TOKEN = "canary-token-7f3a9c51e2";

/** The cases of a service. */
export function serviceCases(service: ServiceDefinition): readonly ConformanceCase[] {
  const { slug, serviceIntegration } = service;
  const { baseUrl, operations, auth } = serviceIntegration;
  const build = (id: string, withToken: boolean): ServiceRequest => {
    const operation = operations.find((each) => each.id === id);
    const args = sampleArgs(operation?.params, operation?.query, operation?.headers);
    return buildServiceRequest(serviceIntegration, {
      operation: id,
      args: operation?.body === undefined ? args : { ...args, ...bodyArgs(operation.body.schema) },
      connection: slug,
      ...(withToken && { credential: TOKEN }),
    });
  };
  return operations.flatMap(({ id, path }) => [
    {
      name: `service ${slug}: ${id} stays on its origin, and what fills its path is one segment`,
      async run() {
        const url = new URL(build(id, false).url);
        const base = new URL(baseUrl);
        assert.equal(url.origin, base.origin);
        const pattern = `${base.pathname.replace(/\/$/, "")}${path}`;
        assert.equal(url.pathname.split("/").length, pattern.split("/").length, url.pathname);
      },
    },
    {
      name: `service ${slug}: ${id} shows its credential once, and in a URL only where it says so`,
      async run() {
        const { url, headers } = build(id, true);
        const inUrl = countOf(decodeURIComponent(url));
        const values = Object.values(headers).map((value) => countOf(plain(value)));
        const inHeaders = values.reduce((sum, count) => sum + count, 0);
        assert.equal(inUrl + inHeaders, auth.scheme === "none" ? 0 : 1);
        assert.equal(inUrl, auth.scheme === "apiKey" && auth.in === "query" ? 1 : 0);
      },
    },
  ]);
}

function countOf(text: string): number {
  return text.split(TOKEN).length - 1;
}

/** Basic credentials are base64 (RFC 7617). */
function plain(header: string): string {
  const [, encoded] = /^Basic (.+)$/.exec(header) ?? [];
  return encoded === undefined ? header : atob(encoded);
}

function sampleArgs(...schemas: readonly (JsonSchema | undefined)[]): JsonObject {
  return Object.assign({}, ...schemas.map((schema) => membersOf(schema))) as JsonObject;
}

function bodyArgs(schema: JsonSchema | undefined): JsonObject {
  const sample = sampleOf(schema ?? {});
  return typeof sample === "object" && sample !== null && !Array.isArray(sample)
    ? (sample as JsonObject)
    : { body: sample };
}

type Shape = {
  readonly type?: unknown;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly default?: Json;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: JsonSchema };
};

/** The required members of an object. */
function membersOf(schema: JsonSchema | undefined): JsonObject {
  const { properties = {}, required = [] } = (schema ?? {}) as Shape;
  return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
}

/** Some value that fits a schema; a text is hostile where anything goes. */
function sampleOf(schema: JsonSchema): Json {
  const shape = schema as Shape;
  if (shape.const !== undefined) return shape.const;
  if (shape.enum !== undefined) return shape.enum[0] ?? null;
  const type = Array.isArray(shape.type) ? shape.type[0] : shape.type;
  switch (type) {
    case "integer":
    case "number":
      return shape.minimum ?? 1;
    case "boolean":
      return true;
    case "array":
      return [sampleOf(shape.items ?? {})];
    case "object":
      return membersOf(schema);
    default:
      return HOSTILE.padEnd(shape.minLength ?? 0, "x");
  }
}

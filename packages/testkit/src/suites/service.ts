/** Laws of every declared service: the target of its requests, one credential per request, and its renewal. */
import assert from "node:assert/strict";
import type { ServiceDefinition } from "@millrace/contracts";
import { buildServiceRequest, type ServiceRequest } from "@millrace/services";
import type { ConformanceCase } from "../fixtures.ts";
import { credentialsConformance } from "../services/credentials-conformance.ts";
import { plainCredentials } from "../services/plain-credentials.ts";
import { sampleArgs } from "../services/sample-call.ts";

const TOKEN = "canary-token-7f3a9c51e2";

export function serviceCases(service: ServiceDefinition): readonly ConformanceCase[] {
  const { slug, serviceIntegration } = service;
  const { baseUrl, operations, auth } = serviceIntegration;
  const data = operations.flatMap((operation) => {
    const { id, path } = operation;
    const build = (withToken: boolean): ServiceRequest =>
      buildServiceRequest(serviceIntegration, {
        operation: id,
        args: sampleArgs(operation),
        connection: slug,
        ...(withToken && { credential: TOKEN }),
      });
    return [
      {
        name: `service ${slug}: ${id} stays on its origin, and what fills its path is one segment`,
        async run() {
          const url = new URL(build(false).url);
          const base = new URL(baseUrl);
          assert.equal(url.origin, base.origin);
          const pattern = `${base.pathname.replace(/\/$/, "")}${path}`;
          assert.equal(url.pathname.split("/").length, pattern.split("/").length, url.pathname);
        },
      },
      {
        name: `service ${slug}: ${id} shows its credential once, and in a URL only where it says so`,
        async run() {
          const { url, headers } = build(true);
          const inUrl = countOf(decodeURIComponent(url));
          const values = Object.values(headers).map((value) => countOf(plain(value)));
          const inHeaders = values.reduce((sum, count) => sum + count, 0);
          assert.equal(inUrl + inHeaders, auth.scheme === "none" ? 0 : 1);
          assert.equal(inUrl, auth.scheme === "apiKey" && auth.in !== "header" ? 1 : 0);
        },
      },
    ];
  });
  return [...data, ...credentialsConformance(service, plainCredentials)];
}

function countOf(text: string): number {
  return text.split(TOKEN).length - 1;
}

/** Basic credentials are base64 (RFC 7617). */
function plain(header: string): string {
  const [, encoded] = /^Basic (.+)$/.exec(header) ?? [];
  return encoded === undefined ? header : atob(encoded);
}

/**
 * Laws of every host's credentials, over real sockets: a service of an author is moved to loopback, and the
 * credentials under test renew its tokens there.
 *   K1  However many calls need another token at once, it is asked for once.
 *   K2  A call that was refused is sent once more, with the new token.
 *   K3  Without another token every call fails, and no call is repeated.
 */
import assert from "node:assert/strict";
import {
  type CredentialsPort,
  defineService,
  type ServiceDefinition,
  type ServiceOperation,
} from "@millrace/contracts";
import { compileFlow, createEngine, createRegistry } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { servicesPack } from "@millrace/services";
import type { ConformanceCase } from "../fixtures.ts";
import { graphOf } from "../host/test-host.ts";
import { type LoopbackService, startLoopbackService } from "./loopback-service.ts";
import { sampleArgs, sampleOf } from "./sample-call.ts";

/** Calls that need a token at the same moment. */
const CALLS = 20;
const HOUR_MS = 3_600_000;

/** Setup of a host: an existing connection. */
export interface CredentialsSetup {
  /** The service on loopback; the slug of its connection is its own. */
  readonly service: ServiceDefinition;
  readonly client: { readonly client_id: string; readonly client_secret: string };
  /** As token endpoints give it, with the time of its expiry. */
  readonly token: {
    readonly access_token: string;
    readonly token_type: "Bearer";
    readonly refresh_token: string;
    readonly scope: string;
    /** ISO time. */
    readonly expires_at: string;
  };
}

/** Credentials of a case, with the function that closes them. */
export interface CredentialsUnderTest {
  readonly credentials: CredentialsPort;
  close?(): Promise<void>;
}

/** The cases over a service of scheme `oauth2`; none for another, which has nothing to renew. */
export function credentialsConformance(
  service: ServiceDefinition,
  open: (setup: CredentialsSetup) => Promise<CredentialsUnderTest>,
): readonly ConformanceCase[] {
  const [operation] = service.serviceIntegration.operations;
  if (service.serviceIntegration.auth.scheme !== "oauth2" || operation === undefined) return [];
  const it = (body: (bench: Bench) => Promise<void>) => () =>
    within(service, operation, open, body);
  return [
    {
      name: `service ${service.slug}: ${CALLS} calls at once with a token that has expired ask for one`,
      run: it(async ({ loopback, call }) => {
        const ends = await call(-HOUR_MS);
        assert.equal(loopback.tokens.length, 1, "tokens that were asked for");
        assert.deepEqual(ends, Array(CALLS).fill("succeeded"));
        assert.match(loopback.tokens[0]?.body ?? "", /grant_type=refresh_token/);
        const used = new Set(loopback.calls.map(({ authorization }) => authorization));
        assert.deepEqual([...used], ["Bearer token-1"], "an expired token was sent");
        assert.equal(loopback.calls.length, CALLS);
      }),
    },
    {
      name: `service ${service.slug}: ${CALLS} calls at once that are refused ask for one token, and are sent once more`,
      run: it(async ({ loopback, call }) => {
        assert.deepEqual(await call(HOUR_MS), Array(CALLS).fill("succeeded"));
        assert.equal(loopback.tokens.length, 1, "tokens that were asked for");
        const sent = (token: string) =>
          loopback.calls.filter(({ authorization }) => authorization === `Bearer ${token}`).length;
        assert.equal(sent("token-1"), CALLS);
        assert.ok(sent(TOKEN) <= CALLS, "a token that was refused was sent again");
      }),
    },
    {
      name: `service ${service.slug}: calls fail when there is no other token, and it is asked for once`,
      run: it(async ({ loopback, call }) => {
        loopback.isRevoked = true;
        const ends = new Set(await call(-HOUR_MS));
        assert.deepEqual([...ends], ["credentials_expired"]);
        assert.equal(loopback.tokens.length, 1, "tokens that were asked for");
        assert.equal(loopback.calls.length, 0, "a call was sent without a token");
      }),
    },
  ];
}

const TOKEN = "token-before";

interface Bench {
  readonly loopback: LoopbackService;
  /** Makes the calls with a token that expires in so many milliseconds, and answers how each ended. */
  call(expiresInMs: number): Promise<readonly string[]>;
}

async function within(
  { slug, title, summary, serviceIntegration }: ServiceDefinition,
  operation: ServiceOperation,
  open: (setup: CredentialsSetup) => Promise<CredentialsUnderTest>,
  body: (bench: Bench) => Promise<void>,
): Promise<void> {
  const { auth, baseUrl } = serviceIntegration;
  if (auth.scheme !== "oauth2") return;
  const loopback = await startLoopbackService(sampleOf(operation.result ?? { type: "object" }));
  const { pathname } = new URL(baseUrl);
  const service = defineService({
    ...{ slug, title, summary },
    serviceIntegration: {
      ...serviceIntegration,
      baseUrl: `${loopback.origin}${pathname === "/" ? "" : pathname}`,
      auth: { ...auth, tokenUrl: loopback.tokenUrl },
    },
  });
  const opened: CredentialsUnderTest[] = [];
  try {
    await body({
      loopback,
      async call(expiresInMs) {
        const scope = (auth.scopes ?? []).join(" ");
        const expires_at = new Date(Date.now() + expiresInMs).toISOString();
        const named = {
          access_token: TOKEN,
          token_type: "Bearer",
          refresh_token: "again",
        } as const;
        const token = { ...named, scope, expires_at };
        const client = { client_id: "client", client_secret: "client-secret" };
        const made = await open({ service, client, token });
        opened.push(made);
        return callAtOnce(service, operation, made.credentials);
      },
    });
  } finally {
    for (const each of opened) await each.close?.();
    await loopback.close();
  }
}

async function callAtOnce(
  service: ServiceDefinition,
  operation: ServiceOperation,
  credentials: CredentialsPort,
): Promise<readonly string[]> {
  const { openFetch, ...host } = createNodeHost();
  const engine = createEngine({
    host: { ...host, openFetch },
    credentials,
    services: { get: (slug) => (slug === service.slug ? service : undefined) },
    egress: { allow: [{ cidr: "127.0.0.1/32" }] },
  });
  try {
    const { slug } = service;
    const fields = { connection: slug, operation: operation.id, args: sampleArgs(operation) };
    const connections = [{ name: slug, service: slug, auth: "oauth" }];
    const compiled = await compileFlow(graphOf("service.call", fields, connections), {
      registry: createRegistry([servicesPack()]),
    });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
    const { plan } = compiled;
    const runs = Array.from({ length: CALLS }, () => engine.run(plan).result);
    const ends = await Promise.all(runs);
    return ends.map(({ status, error }) => error?.code ?? status);
  } finally {
    await engine.close({ graceMs: 0 });
  }
}

/** Every way in which a run has no credential: its code, its exit code, and what it says to do. */
import { inspect } from "node:util";
import { exitCodeFor, NodeError } from "@millrace/contracts";
import { createNodeHost } from "@millrace/engine/node";
import { OAuthError } from "@millrace/oauth";
import { egressFetch } from "@millrace/server/connections";
import { startHostileTokenEndpoint } from "@millrace/test-support/hostile-token-endpoint";
import { describe, expect, onTestFinished, test } from "vitest";
import { asked, credentials, failure, nowhere, oauth2, PAST, service, stored } from "./support.ts";

describe("what fails a node", () => {
  const refreshable = stored({ refresh_token: "r3fresh-s3cret", expires_at: PAST });
  const CONNECT = "Connect it: millrace connect tracker";
  const RECONNECT = "Reconnect the service: millrace connect tracker";

  interface Given {
    readonly entry?: string;
    readonly client?: string;
    readonly store?: Error;
    /** What the token endpoint answers. */
    readonly answer?: { readonly status: number; readonly body?: string };
  }
  type Row = [name: string, code: string, exit: number, ends: string, Given, more?: object];
  const locked = new OAuthError("Credential", "credential store: locked. Unlock it.", {
    reason: "locked",
  });
  const busy = new OAuthError("Credential", "credential store: busy. Try again.", {
    reason: "lock_timeout",
  });
  /** A renewal that gets this answer. */
  const renewed = (status: number, body?: object) => ({
    entry: refreshable,
    answer: { status, ...(body && { body: JSON.stringify(body) }) },
  });
  const refused = renewed(200, { ok: false, error: "invalid_refresh_token" });
  const noToken = "access_token must be a string that is not empty";
  const retryable = true;

  test.each<Row>([
    ["no entry", "credentials_missing", 5, CONNECT, {}],
    ["no refresh token", "no_refresh_token", 5, RECONNECT, { entry: stored({ expires_at: PAST }) }],
    ...["invalid_grant", "invalid_client", "unauthorized_client"].map(
      (error): Row => [error, "credentials_expired", 5, RECONNECT, renewed(400, { error })],
    ),
    ["a refusal with a status of success", "credentials_expired", 5, RECONNECT, refused],
    ["an entry that is no token", "credentials_expired", 5, RECONNECT, { entry: "s3cret" }],
    [
      "a client that is none",
      "credentials_expired",
      5,
      RECONNECT,
      { entry: refreshable, client: "s3cret" },
    ],
    ["a locked store", "unavailable", 6, "Unlock it.", { store: locked }],
    ["a store that is busy", "unavailable", 6, "Try again.", { store: busy }, { retryable }],
    ["a store that throws", "unavailable", 6, "try again.", { store: new Error("s3cret") }],
    [
      "a server that is not there",
      "network",
      1,
      "127.0.0.1:1",
      { entry: refreshable },
      { retryable },
    ],
    ["a server that is busy", "http_status", 1, "503", renewed(503), { retryable, status: 503 }],
    [
      "a server that refuses something else",
      "http_status",
      1,
      "400",
      renewed(400, { error: "invalid_scope" }),
      { status: 400 },
    ],
    ["an answer that is no token", "decode_failed", 1, noToken, renewed(200, {})],
  ])("%s: %s", async (_name, code, exit, ends, given, more) => {
    const { entry, answer, store: fault, client } = given;
    let { tokenUrl } = nowhere;
    if (answer !== undefined) {
      const endpoint = await startHostileTokenEndpoint({ script: [answer] });
      onTestFinished(() => endpoint.close());
      tokenUrl = endpoint.tokenUrl;
    }
    const services = new Map([["tracker", service("tracker", oauth2({ ...nowhere, tokenUrl }))]]);
    const entries = {
      ...(entry !== undefined && { "service:tracker": entry }),
      ...(client !== undefined && { "client:tracker": client }),
    };
    const { port, store } = credentials(entries, { services });
    store.failure = fault;
    const error = await failure(port.resolve("tracker", asked()));
    const { retryable, status } = error;
    const wanted = { code, retryable: false, status: undefined, ...more };
    expect({ code: error.code, retryable, status }).toEqual(wanted);
    expect(error.message.endsWith(ends), error.message).toBe(true);
    expect(exitCodeFor({ status: "failed", error: { code } })).toBe(exit);
    const shown = `${error.stack} ${JSON.stringify(error)} ${inspect(error, { showHidden: true })}`;
    expect(shown).not.toMatch(/s3cret/);
  });

  test("no OAuth client for a token that must be renewed", async () => {
    const { port, store } = credentials({ "service:tracker": refreshable });
    await store.delete("client:tracker");
    expect((await failure(port.resolve("tracker", asked()))).message).toBe(
      `no OAuth client of service "tracker" is stored. ${CONNECT}`,
    );
  });

  test("a refusal of the egress policy keeps its own code", async () => {
    const denied = new NodeError("egress_denied", "private-address: 127.0.0.1 is denied", {
      reason: "denied",
    });
    const { port } = credentials(
      { "service:tracker": refreshable },
      { fetch: () => Promise.reject(denied) },
    );
    expect((await failure(port.resolve("tracker", asked()))).code).toBe("egress_denied");
  });

  test("behind the egress policy a token endpoint that is not there is named, and nothing of the call was sent", async () => {
    const fetch = egressFetch(createNodeHost().openFetch({ allow: [{ cidr: "127.0.0.0/8" }] }));
    const { port } = credentials({ "service:tracker": refreshable }, { fetch });
    const error = await failure(port.resolve("tracker", asked()));
    expect(error).toMatchObject({ code: "network", retryable: true, sent: false });
    expect(error.message).toMatch(/^the credential of connection "tracker" could not be renewed: /);
    expect(error.message).toContain("127.0.0.1 failed (ECONNREFUSED)");
  });

  test("behind the egress policy a token endpoint that redirects is an answer of its own, and is not followed", async () => {
    const headers = { location: "/elsewhere" };
    const endpoint = await startHostileTokenEndpoint({ script: [{ status: 307, headers }] });
    onTestFinished(() => endpoint.close());
    const fetch = egressFetch(createNodeHost().openFetch({ allow: [{ cidr: "127.0.0.0/8" }] }));
    const { tokenUrl } = endpoint;
    const services = new Map([["tracker", service("tracker", oauth2({ ...nowhere, tokenUrl }))]]);
    const { port } = credentials({ "service:tracker": refreshable }, { fetch, services });
    const error = await failure(port.resolve("tracker", asked()));
    expect(error).toMatchObject({ code: "http_status", status: 307 });
    expect(endpoint.requests).toHaveLength(1);
  });
});

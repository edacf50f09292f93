/** Signed calls of webhooks: each counts once, for five minutes. */
import { createHmac } from "node:crypto";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, test } from "vitest";
import { createTestClock } from "./support/clock.ts";
import { keepLog, problemOf, serve } from "./support/server.ts";
import { call, createHook, received, runs, SECRET, START, serveHooks } from "./support/webhooks.ts";

function signed(body: string, seconds: number, secret = SECRET): Record<string, string> {
  const v1 = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return { "content-type": "application/json", "millrace-signature": `t=${seconds},v1=${v1}` };
}

describe("a signed call", () => {
  const body = JSON.stringify({ n: 1 });
  const now = START / 1_000;

  test("is taken once, within five minutes, with the right key over the right bytes", async () => {
    const log = keepLog();
    const server = await serveHooks({ clock: createTestClock(START), log });
    const { id, token } = await createHook(server, { secret: SECRET });
    const send = (headers: Record<string, string>, text = body) =>
      call(server, token, { body: text, headers });
    const told = () => log.lines.filter(({ message }) => message === "webhook.refused");
    for (const [reason, headers, text] of [
      ["missing", { "content-type": "application/json" }],
      ["wrong", signed(body, now, "another-secret-of-16")],
      ["wrong", signed(body, now), `${body} `],
      ["stale", signed(body, now - 301)],
      ["stale", signed(body, now + 301)],
      ["missing", { ...signed(body, now), "millrace-signature": "t=1,v1=zz" }],
    ] as const) {
      const response = await send(headers, text);
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Millrace-Signature");
      const { code, detail, requestId } = await problemOf(response);
      expect([code, detail]).toEqual(["unauthorized", expect.stringContaining("not signed")]);
      const fields = { requestId, webhookId: id, template: "echo", reason };
      expect(told().at(-1)?.fields).toEqual(fields);
    }
    expect((await runs(server)).items).toEqual([]);
    for (const seconds of [now, now - 300, now + 300]) {
      const answers = await Promise.all([1, 2, 3].map(() => send(signed(body, seconds))));
      expect(answers.map(({ status }) => status).sort()).toEqual([202, 401, 401]);
    }
    expect((await runs(server)).items).toHaveLength(3);
    expect(told().at(-1)?.fields).toMatchObject({ reason: "used" });
  });

  test("is taken once, also at the last moment at which it is valid", async () => {
    const clock = createTestClock(START);
    const server = await serveHooks({ clock });
    const { token } = await createHook(server, { secret: SECRET });
    const init = { body, headers: signed(body, now + 300) };
    expect((await call(server, token, init)).status).toBe(202);
    clock.set(600_000);
    expect((await call(server, token, init)).status).toBe(401);
  });

  test("that starts no run may be sent again", async () => {
    const server = await serveHooks({ clock: createTestClock(START) });
    const { token } = await createHook(server, { secret: SECRET });
    const broken = { body: "{", headers: signed("{", now) };
    expect((await call(server, token, broken)).status).toBe(400);
    expect((await call(server, token, broken)).status).toBe(400);
  });

  test("stays used after a restart, and passes no signature on", async () => {
    const dir = temporaryFolder();
    const clock = createTestClock(START);
    const credentials = { store: memoryCredentialStore() };
    const first = await serveHooks({ store: dir, clock, credentials });
    const { token } = await createHook(first, { secret: SECRET });
    const init = { body, headers: signed(body, now) };
    const got = await received(first, await call(first, token, init));
    expect(Object.keys((got as { headers: object }).headers)).not.toContain("millrace-signature");
    await first.close();
    const second = await serve({ store: dir, clock, credentials, webhooks: true });
    expect((await call(second, token, init)).status).toBe(401);
    expect((await call(second, token, { body, headers: signed(body, now + 1) })).status).toBe(202);
  });

  test("stays out when its key cannot be read", async () => {
    const store = memoryCredentialStore();
    const server = await serveHooks({ clock: createTestClock(START), credentials: { store } });
    const { id, token } = await createHook(server, { secret: SECRET });
    await store.delete(`webhook:${id}`);
    const response = await call(server, token, { body, headers: signed(body, now) });
    expect(response.status).toBe(503);
    expect((await problemOf(response)).code).toBe("credential_store_unavailable");
  });
});

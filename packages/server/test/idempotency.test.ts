/** Keys of commands that start no run: kept by the store, through restarts. Those of runs: see `recovery.test.ts`. */
import { createHash } from "node:crypto";
import type { RunRef, Template } from "@millrace/contracts";
import { canonicalJson } from "@millrace/contracts/kit";
import type { RunningServer } from "@millrace/server";
import { openStore } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, test } from "vitest";
import { HELLO } from "./support/flows.ts";
import { post, problemOf, serve } from "./support/server.ts";

/** Of arguments as the server canonicalises them, with their defaults. */
const hashOf = (args: object) =>
  createHash("sha256")
    .update(canonicalJson({ ...args, overwrite: false }))
    .digest("base64url");

const keyed = (server: RunningServer, body: object, key = "one") =>
  post(server, "/api/templates/import", body, { headers: { "idempotency-key": key } });

test("an answer is kept through a restart, and so is a refusal that would come again", async () => {
  const store = temporaryFolder();
  const first = await serve({ store });
  const made = (await (await keyed(first, { text: HELLO })).json()) as Template;
  const refused = await problemOf(await keyed(first, { text: "flow 1" }, "bad"));
  await first.close({ graceMs: 0 });
  const second = await serve({ store });
  const again = await keyed(second, { text: HELLO });
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await again.json()).toEqual(made);
  expect(await problemOf(await keyed(second, { text: `${HELLO}\n` }))).toMatchObject({
    code: "idempotency_mismatch",
  });
  const replayed = await keyed(second, { text: "flow 1" }, "bad");
  expect(replayed.headers.get("idempotent-replayed")).toBe("true");
  expect(await problemOf(replayed)).toMatchObject({ code: refused.code, errors: refused.errors });
});

test("work that a process has not finished is done again, not waited for", async () => {
  const dir = temporaryFolder();
  const args = { text: HELLO };
  const store = await openStore({ dir });
  // As a process leaves it that dies while it works.
  const fingerprint = createHash("sha256").update(hashOf(args)).digest();
  await store.idempotency.begin({ scope: "\nimport_template", key: "one", fingerprint });
  await store.close();
  const server = await serve({ store: dir });
  const done = await keyed(server, args);
  expect(done.status).toBe(201);
  expect(done.headers.get("idempotent-replayed")).toBe(null);
  const again = await keyed(server, args);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
});

test("a run and its key are one: a start that is refused keeps its refusal, one that is full keeps nothing", async () => {
  const server = await serve({ maxLiveRuns: 1, maxQueuedRuns: 1 });
  const start = (key: string) =>
    post(
      server,
      "/api/runs",
      { dsl: "flow 1 nap\n\nnode nap: delay {\n  for = 1h\n}\n" },
      { headers: { "idempotency-key": key } },
    );
  await start("a");
  const queued = (await (await start("b")).json()) as RunRef;
  expect((await start("c")).status).toBe(429);
  await post(server, `/api/runs/${queued.runId}/cancel`, {});
  const third = await start("c");
  expect(third.status).toBe(202);
  expect(third.headers.get("idempotent-replayed")).toBe(null);
  expect(await (await start("b")).json()).toEqual(queued);
});

test("of two requests at once with one key, the start of a run is shared, and other work is refused to the second", async () => {
  const { app } = await serve({ store: temporaryFolder() });
  const send = (path: string, body: object) =>
    app.request(path, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "both" },
      body: JSON.stringify(body),
    });
  const starts = await Promise.all([1, 2].map(() => send("/api/runs", { dsl: HELLO })));
  const [one, two] = (await Promise.all(starts.map((each) => each.json()))) as RunRef[];
  expect(two).toEqual(one);
  expect(starts.map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
  const [, other] = await Promise.all([
    send("/api/runs", { dsl: HELLO, options: { tags: { n: "1" } } }),
    send("/api/runs", { dsl: `${HELLO}\n` }),
  ]);
  expect((await problemOf(other as Response)).code).toBe("idempotency_mismatch");
  const imports = await Promise.all(
    [1, 2].map(() => send("/api/templates/import", { text: HELLO })),
  );
  expect(imports.map(({ status }) => status)).toEqual([201, 409]);
  expect((await problemOf(imports[1] as Response)).code).toBe("idempotency_in_flight");
});

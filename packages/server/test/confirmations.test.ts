/** Answering what a run asks, over HTTP. */
import type { Confirmation, Page } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import { ASK, ASK_PLAINLY } from "./support/flows.ts";
import { invoke, post, problemOf, serve } from "./support/server.ts";
import { expectLegal, readEvents, readUntil } from "./support/streams.ts";

const TOKEN = "anna:run:0123456789abcdef-anna";

describe("an answer over the route", () => {
  test.each([
    [{ decision: "approve", value: { reason: "because" } }, "approved", { reason: "because" }],
    [{ decision: "reject", comment: "not today" }, "rejected", { reason: null }],
  ] as const)("%o ends the pause", async (answer, outcome, outputs) => {
    const server = await serve();
    const response = await post(server, "/api/run", { dsl: ASK });
    const runId = response.headers.get("millrace-run-id") ?? "";
    const events = readEvents(response);
    await readUntil(await fetch(`${server.url}/api/runs/${runId}/events`), "run.paused");
    const resolved = await post(server, `/api/runs/${runId}/confirmations/k1`, answer);
    expect(resolved.status).toBe(200);
    expect(await resolved.json()).toMatchObject({
      id: "k1",
      runId,
      node: "ask",
      status: outcome,
      by: "api",
    });
    const log = await events;
    expectLegal(log);
    expect(log.at(-1)).toMatchObject({ kind: "summary", status: "succeeded", outputs });
  });
});

/** A run that waits, as a page of the inbox shows it. */
async function waiting(server: Awaited<ReturnType<typeof serve>>, dsl = ASK) {
  const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl });
  await readUntil(await fetch(`${server.url}/api/runs/${runId}/events`), "run.paused");
  return runId;
}

test("an answer that does not fit leaves the question open", async () => {
  const server = await serve();
  const runId = await waiting(server);
  const response = await post(server, `/api/runs/${runId}/confirmations/k1`, {
    decision: "approve",
    value: { reason: "no" },
  });
  expect(response.status).toBe(422);
  expect(await problemOf(response)).toMatchObject({
    code: "value_invalid",
    errors: [{ pointer: expect.stringContaining("/reason") }],
  });
  expect(await invoke(server, "get_run", { runId })).toMatchObject({
    status: "paused",
    confirmations: [{ id: "k1", status: "requested" }],
  });
});

test("the first answer counts; the second is told what it was", async () => {
  const server = await serve();
  const runId = await waiting(server, ASK_PLAINLY);
  const args = { decision: "reject" };
  expect((await post(server, `/api/runs/${runId}/confirmations/k1`, args)).status).toBe(200);
  const second = await post(server, `/api/runs/${runId}/confirmations/k1`, { decision: "approve" });
  expect(second.status).toBe(409);
  expect(await problemOf(second)).toMatchObject({ code: "already_resolved", outcome: "rejected" });
});

test("of fifty answers at once one counts", async () => {
  const server = await serve();
  const runId = await waiting(server, ASK_PLAINLY);
  const answers = Array.from({ length: 50 }, () =>
    post(server, `/api/runs/${runId}/confirmations/k1`, { decision: "approve" }),
  );
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 409)).toHaveLength(49);
});

test("the same answer with the same key is given again", async () => {
  const server = await serve();
  const runId = await waiting(server, ASK_PLAINLY);
  const answer = () =>
    post(
      server,
      `/api/runs/${runId}/confirmations/k1`,
      { decision: "approve" },
      { headers: { "idempotency-key": "one" } },
    );
  const first = await (await answer()).json();
  const second = await answer();
  expect(second.status).toBe(200);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(await second.json()).toEqual(first);
});

test("who answers is on the record", async () => {
  const server = await serve({ tokens: [TOKEN] });
  const headers = { authorization: "Bearer 0123456789abcdef-anna" };
  const response = await post(server, "/api/run", { dsl: ASK_PLAINLY }, { headers });
  const runId = response.headers.get("millrace-run-id") ?? "";
  const events = readEvents(response);
  await readUntil(await fetch(`${server.url}/api/runs/${runId}/events`, { headers }), "run.paused");
  await post(server, `/api/runs/${runId}/confirmations/k1`, { decision: "approve" }, { headers });
  expect((await events).find(({ kind }) => kind === "confirm.resolved")).toMatchObject({
    by: "anna",
  });
});

test("a question that there is not is not found", async () => {
  const server = await serve();
  const runId = await waiting(server, ASK_PLAINLY);
  for (const path of [`/api/runs/${runId}/confirmations/k9`, "/api/runs/none/confirmations/k1"]) {
    const response = await post(server, path, { decision: "approve" });
    expect(response.status).toBe(404);
    expect((await problemOf(response)).code).toBe("not_found");
  }
});

test("the inbox shows what is open over all runs, page by page", async () => {
  const server = await serve();
  const runIds: string[] = [];
  for (let i = 0; i < 3; i += 1) runIds.unshift(await waiting(server));
  const read = async (query: string) =>
    (await (await fetch(`${server.url}/api/confirmations${query}`)).json()) as Page<Confirmation>;
  const first = await read("?limit=2");
  expect(first.items.map(({ runId }) => runId)).toEqual(runIds.slice(0, 2));
  expect(first.items[0]).toMatchObject({
    id: "k1",
    prompt: "Go on?",
    schema: { type: "object" },
    deadline: null,
    requestedAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  const second = await read(`?limit=2&cursor=${first.nextCursor}`);
  expect(second.items.map(({ runId }) => runId)).toEqual(runIds.slice(2));
  expect(second.nextCursor).toBe(null);
  await invoke(server, "resolve_confirmation", {
    runId: runIds[0],
    confirmationId: "k1",
    decision: "reject",
  });
  expect((await read("")).items).toHaveLength(2);
  expect((await read("?status=rejected")).items).toMatchObject([
    { runId: runIds[0], status: "rejected" },
  ]);
  expect((await read(`?runId=${runIds[1]}`)).items).toMatchObject([{ runId: runIds[1] }]);
});

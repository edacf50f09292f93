/** Runs that have ended: repeated, deleted, pruned; and what of the run commands needs more than one run. */
import {
  type AnyEvent,
  createView,
  type ExecutionEvent,
  foldEvents,
  type Page,
  type Run,
  type RunRef,
  type RunSummary,
} from "@millrace/contracts";
import type { RunningServer } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, test } from "vitest";
import { ASK_PLAINLY, HELLO, SLEEP } from "./support/flows.ts";
import { saveTemplate } from "./support/schedules.ts";
import { approve, invoke, post, problemOf, serve } from "./support/server.ts";
import { expectLegal, readEvents, readUntil } from "./support/streams.ts";

/** Doubles a number, then fails unless it is let through. */
const STEPS = `flow 1 steps

input n: int

input pass: bool = false

node double: transform {
  value = inputs.n * 2
}

node gate: condition {
  if = inputs.pass
}

node stop: fail {
  message = "not today"
}

node done: transform {
  value = double.value + 1
}

double -> gate
gate.true -> done
gate.false -> stop

output result: int? = done?.value
`;

/** More events than a look at the run should read, and a question. */
const LONG = `flow 1 long

node items: map {
  items = range(1100)
  body {
    node one: transform {
      value = item
    }

    output = one.value
  }
}

node ask: confirm {
  prompt = "Go on?"
}

node yes: log {
  message = "yes"
}

items -> ask
ask.approved -> yes
`;

async function finish(server: RunningServer, request: object): Promise<AnyEvent[]> {
  return readEvents(await post(server, "/api/run", request));
}

async function logOf(server: RunningServer, runId: string): Promise<AnyEvent[]> {
  return readEvents(await fetch(`${server.url}/api/runs/${runId}/events`));
}

const retry = (server: RunningServer, runId: string, args: object = {}, key?: string) =>
  post(server, `/api/runs/${runId}/retry`, args, {
    ...(key !== undefined && { headers: { "idempotency-key": key } }),
  });

test("a long run is shown as the fold of its log, with its questions, before and after its end", async () => {
  const server = await serve({ store: temporaryFolder() });
  const [started, ...begun] = await readUntil(
    await post(server, "/api/run", { dsl: LONG, options: { onDisconnect: "continue" } }),
    "run.paused",
  );
  const { runId } = started as AnyEvent;
  const shown = async (): Promise<Run> => invoke(server, "get_run", { runId });
  const folded = (events: readonly AnyEvent[]): Run["nodes"] => {
    const view = createView(runId);
    for (const event of events) foldEvents(view, event as ExecutionEvent);
    return Object.fromEntries(
      [...view.nodes].map(([path, { state, attempt }]) => [path, { state, attempt }]),
    );
  };
  const paused = await shown();
  expect(paused.lastSeq).toBeGreaterThan(2_000);
  expect(paused.nodes).toEqual(folded([started as AnyEvent, ...begun]));
  expect(paused.confirmations).toMatchObject([{ id: "k1", status: "requested", prompt: "Go on?" }]);
  await approve(server, runId);
  const log = await logOf(server, runId);
  for (const run of [await shown(), await shown()]) {
    expect(run).toMatchObject({ status: "succeeded", lastSeq: log.length });
    expect(run.nodes).toEqual(folded(log));
    expect(run.confirmations).toMatchObject([{ id: "k1", status: "approved" }]);
  }
});

describe("a retry", () => {
  const request = { dsl: STEPS, inputs: { n: 4 }, options: { tags: { team: "fx" } } };

  test("is a new run of the same flow that keeps what had succeeded", async () => {
    const server = await serve({ store: temporaryFolder() });
    const [first, ...log] = await finish(server, request);
    expect(log.at(-1)).toMatchObject({ kind: "summary", status: "failed" });
    const runId = first?.runId ?? "";
    const response = await retry(server, runId, { inputs: { n: 4, pass: true } });
    expect(response.status).toBe(202);
    const ref = (await response.json()) as RunRef;
    expect(ref.runId).not.toBe(runId);
    expect(response.headers.get("location")).toBe(`/api/runs/${ref.runId}`);
    const again = await logOf(server, ref.runId);
    expectLegal(again);
    expect(again[0]).toMatchObject({ kind: "run.started", resumedFrom: { runId } });
    expect(
      again.find((event) => event.kind === "node.succeeded" && event["node"] === "double"),
    ).toMatchObject({ cached: true });
    expect(again.at(-1)).toMatchObject({ status: "succeeded", outputs: { result: 9 } });
    expect(await invoke<Run>(server, "get_run", { runId: ref.runId })).toMatchObject({
      retryOf: runId,
      tags: { team: "fx" },
      trigger: "api",
      summary: { status: "succeeded" },
    });
    expect(await invoke<Run>(server, "get_run", { runId })).toMatchObject({ retryOf: null });
  });

  test("runs again from the nodes that are named", async () => {
    const server = await serve();
    const [first] = await finish(server, { ...request, inputs: { n: 4, pass: true } });
    const runId = first?.runId ?? "";
    const cachedOf = async (args: object) => {
      const response = await retry(server, runId, args);
      const log = await logOf(server, ((await response.json()) as RunRef).runId);
      return log
        .filter((event) => event.kind === "node.succeeded" && event["cached"] === true)
        .map((event) => "node" in event && event.node);
    };
    expect(await cachedOf({ from: ["done"] })).toEqual(["double", "gate"]);
    expect(await cachedOf({ from: ["double"] })).toEqual([]);
    const unknown = await retry(server, runId, { from: ["none"] });
    expect([unknown.status, (await problemOf(unknown)).code]).toEqual([422, "input_invalid"]);
    const refused = await retry(server, runId, { inputs: { n: "four" } });
    expect((await problemOf(refused)).code).toBe("input_invalid");
  });

  test("keeps the template and its version, also when there is a newer one", async () => {
    const server = await serve();
    await saveTemplate(server, "hello", HELLO);
    const [first] = await finish(server, { template: "hello" });
    await saveTemplate(server, "hello", SLEEP);
    const response = await retry(server, first?.runId ?? "");
    const { runId } = (await response.json()) as RunRef;
    await logOf(server, runId);
    expect(await invoke<Run>(server, "get_run", { runId })).toMatchObject({
      template: { slug: "hello", version: 1 },
      status: "succeeded",
    });
  });

  test("of a live run is refused, and of one that is not there", async () => {
    const server = await serve();
    const { runId } = await invoke<RunRef>(server, "start_run", { dsl: ASK_PLAINLY });
    await readUntil(await fetch(`${server.url}/api/runs/${runId}/events`), "run.paused");
    const live = await retry(server, runId);
    expect(live.status).toBe(409);
    expect(await problemOf(live)).toMatchObject({ code: "state_conflict", state: "paused" });
    expect((await retry(server, "none")).status).toBe(404);
  });

  test("is found by the run that it repeats, and both by the id of their flow", async () => {
    const server = await serve();
    const [started] = await finish(server, request);
    await finish(server, { dsl: HELLO });
    const runId = started?.runId ?? "";
    const again = (await (await retry(server, runId)).json()) as RunRef;
    await logOf(server, again.runId);
    const found = async (filter: object) => {
      const page = await invoke<Page<RunSummary>>(server, "list_runs", filter);
      return page.items.map((run) => run.runId);
    };
    const flow = (await invoke<RunSummary>(server, "get_run", { runId })).flow.id;
    expect(await found({ retryOf: runId })).toEqual([again.runId]);
    expect(await found({ flow })).toEqual([again.runId, runId]);
    expect(await found({ flow: "another" })).toEqual([]);
    const first = await invoke<Page<RunSummary>>(server, "list_runs", { flow, limit: 1 });
    expect(await found({ flow, limit: 1, cursor: first.nextCursor })).toEqual([runId]);
    const other = { command: "list_runs", args: { retryOf: runId, cursor: first.nextCursor } };
    expect((await problemOf(await post(server, "/api/invoke", other))).code).toBe("bad_cursor");
  });

  test("with a key is one run, also when it is asked for after a restart", async () => {
    const dir = temporaryFolder();
    const first = await serve({ store: dir });
    const [started] = await finish(first, request);
    const runId = started?.runId ?? "";
    const one = (await (await retry(first, runId, {}, "k")).json()) as RunRef;
    await logOf(first, one.runId);
    await first.close();
    const second = await serve({ store: dir });
    const replayed = await retry(second, runId, {}, "k");
    expect(replayed.headers.get("idempotent-replayed")).toBe("true");
    expect(await replayed.json()).toMatchObject({ runId: one.runId });
    const page = await invoke<Page<RunSummary>>(second, "list_runs", {});
    expect(page.items).toHaveLength(2);
    // The answer is kept longer than the run that was repeated.
    await invoke(second, "delete_run", { runId });
    expect(await (await retry(second, runId, {}, "k")).json()).toMatchObject({ runId: one.runId });
    expect((await retry(second, runId, {}, "other")).status).toBe(404);
  });
});

describe("deleting", () => {
  test("takes a run with all that belongs to it; a live one stays", async () => {
    const server = await serve();
    const [first] = await finish(server, { dsl: HELLO });
    const runId = first?.runId ?? "";
    const url = `${server.url}/api/runs/${runId}`;
    expect((await fetch(url, { method: "DELETE" })).status).toBe(204);
    for (const path of ["", "/events", "/graph"]) {
      expect((await fetch(url + path)).status).toBe(404);
    }
    expect((await fetch(url, { method: "DELETE" })).status).toBe(404);
    const live = await invoke<RunRef>(server, "start_run", { dsl: SLEEP });
    const refused = await fetch(`${server.url}/api/runs/${live.runId}`, { method: "DELETE" });
    expect(refused.status).toBe(409);
    expect((await problemOf(refused)).code).toBe("state_conflict");
  });

  test("of many goes by their end and by their state, and never takes a live one", async () => {
    const server = await serve();
    await finish(server, { dsl: HELLO });
    await finish(server, { dsl: STEPS, inputs: { n: 1 } });
    const { runId } = await invoke<RunRef>(server, "start_run", { dsl: SLEEP });
    const prune = (query: string) => fetch(`${server.url}/api/runs${query}`, { method: "DELETE" });
    expect((await prune("")).status).toBe(422);
    const deleted = async (query: string) => {
      const response = await prune(query);
      expect(response.status).toBe(200);
      return ((await response.json()) as { deleted: number }).deleted;
    };
    expect(await deleted("?before=2020-01-01T00:00:00Z")).toBe(0);
    expect(await deleted("?status=running&status=paused")).toBe(0);
    expect(await deleted("?status=failed")).toBe(1);
    expect(await deleted("?before=2100-01-01T00:00:00Z")).toBe(1);
    const left = await invoke<Page<RunSummary>>(server, "list_runs", {});
    expect(left.items.map((run) => run.runId)).toEqual([runId]);
  });
});

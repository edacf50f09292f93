/** What is left of an `ai` node that keeps no content when its run has ended. */
import {
  checkLog,
  createView,
  type EncodedEvent,
  type ExecutionEvent,
  type FlowGraph,
  type FlowNode,
  foldEvents,
  makeSummary,
  parseEventStrict,
  serialiseEvent,
} from "@millrace/contracts";
import type { Store } from "@millrace/store";
import { describe, expect, test } from "vitest";
import { graphWith } from "../graph.ts";
import type { StoreBench } from "./bench.ts";
import { linesOf } from "./logs.ts";

/** Tests that what is withheld of a run is gone from the store when the run has ended. */
export function sealSuite({ newStore, testRestart }: StoreBench): void {
  const SECRET = "what the model said";
  const RUN = "r1";
  const TS = 1_750_000_000_000;

  const node = (id: string, fields: FlowNode["fields"] = {}): FlowNode => ({
    id,
    type: "ai",
    fields,
  });

  const graphOf = (...nodes: readonly FlowNode[]) => graphWith({ id: "f", nodes });

  type Draft = { readonly kind: ExecutionEvent["kind"]; readonly [key: string]: unknown };

  /** One node that calls a model once and gives what it said. */
  function nodeEvents(
    path: string,
    audit: object,
    output: object = { output: { text: SECRET } },
  ): Draft[] {
    const call = `c_${path.replaceAll(/\W/g, "_")}`;
    const at = { node: path, attempt: 1 };
    return [
      { kind: "node.started", ...at, type: "ai" },
      {
        kind: "llm.started",
        ...at,
        call,
        provider: "p",
        model: "m",
        target: 0,
        step: 1,
        purpose: "generate",
        ...audit,
      },
      { kind: "llm.delta", ...at, call, channel: "text", offset: 0, text: SECRET },
      {
        kind: "llm.finished",
        ...at,
        call,
        finish: "stop",
        lengths: { text: SECRET.length },
        usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 },
        costUsd: null,
        durationMs: 0,
      },
      { kind: "node.succeeded", ...at, ports: ["out"], durationMs: 0, ...output },
    ];
  }

  function encoded(drafts: readonly Draft[]): EncodedEvent[] {
    const view = createView(RUN);
    const events: ExecutionEvent[] = [];
    const push = (draft: Draft): void => {
      const event = {
        v: 1,
        runId: RUN,
        seq: events.length + 1,
        ts: TS,
        ...draft,
      } as unknown as ExecutionEvent;
      foldEvents(view, event);
      events.push(event);
    };
    const flow = { id: "f", hash: `sha256:${"0".repeat(64)}` };
    push({
      kind: "run.started",
      flow,
      nodeCount: drafts.filter(({ kind }) => kind === "node.started").length,
      onFailure: "stop",
      trigger: "embed",
      inputs: `sha256:${"2".repeat(64)}`,
    });
    for (const draft of drafts) push(draft);
    push({ kind: "summary", ...makeSummary(view, { status: "succeeded", ts: TS, outputs: {} }) });
    return events.map((event) => ({
      seq: event.seq,
      kind: event.kind,
      line: new TextEncoder().encode(serialiseEvent(event)),
      event,
    }));
  }

  const HASHED = { audit: { messages: 1, chars: 5, hmac: `hmac:${"a".repeat(64)}` } };

  async function begin(store: Store, graph: FlowGraph, runId = RUN): Promise<number> {
    const planDigest = `sha256:${"ab".repeat(32)}`;
    const header = { runId, planDigest, flowHash: planDigest, graph, inputs: {}, trigger: "embed" };
    return (await store.journal.create(header)).epoch;
  }

  /** Stores the log in two appends and answers the events as they are kept. */
  async function kept(
    store: Store,
    log: readonly EncodedEvent[],
    graph: FlowGraph,
  ): Promise<ExecutionEvent[]> {
    const epoch = await begin(store, graph);
    await store.journal.append(RUN, 0, log.slice(0, 4), { epoch, sync: true });
    await store.journal.append(RUN, 4, log.slice(4), { epoch, sync: true });
    return eventsOf(store);
  }

  async function eventsOf(store: Store): Promise<ExecutionEvent[]> {
    const lines = await linesOf(store.journal, RUN);
    return lines.map((line) => parseEventStrict(line) as ExecutionEvent);
  }

  function expectWithheld(
    events: readonly ExecutionEvent[],
    path: string,
    isWithheld: boolean,
  ): void {
    const [delta, succeeded] = ["llm.delta", "node.succeeded"].map((kind) =>
      events.find((event) => event.kind === kind && "node" in event && event.node === path),
    );
    if (isWithheld) {
      expect(delta).toMatchObject({ text: "·".repeat(SECRET.length) });
      expect(succeeded).toMatchObject({ outputRef: { ref: "" } });
      expect(succeeded).not.toHaveProperty("output");
    } else {
      expect(delta).toMatchObject({ text: SECRET });
      expect(succeeded).toMatchObject({ output: { text: SECRET } });
    }
  }

  describe("the sealed log of a run", () => {
    test("keeps what its nodes keep, and of the others seq, kinds and lengths", async () => {
      const log = encoded([...nodeEvents("a", {}), ...nodeEvents("b", HASHED)]);
      const events = await kept(
        await newStore(),
        log,
        graphOf(node("a", { auditContent: "none" }), node("b")),
      );
      expectWithheld(events, "a", true);
      expectWithheld(events, "b", false);
      expect(events.map(({ seq, kind }) => [seq, kind])).toEqual(
        log.map(({ seq, kind }) => [seq, kind]),
      );
      expect(checkLog(events)).toEqual([]);
    });

    test("is whole while the run is open", async () => {
      const store = await newStore();
      const log = encoded(nodeEvents("a", {}));
      const epoch = await begin(store, graphOf(node("a", { auditContent: "none" })));
      await store.journal.append(RUN, 0, log.slice(0, -1), { epoch, sync: true });
      expectWithheld(await eventsOf(store), "a", false);
    });

    test("a node that the graph does not show is known by its calls", async () => {
      const log = encoded(nodeEvents("a", {}));
      expectWithheld(
        await kept(await newStore(), log, graphOf({ id: "x", type: "log", fields: {} })),
        "a",
        true,
      );
    });

    test("a reused result is known by the graph of its run, not by one with the same digest", async () => {
      const at = { node: "a", attempt: 1 };
      const log = encoded([
        { kind: "node.started", ...at, type: "ai" },
        {
          kind: "node.succeeded",
          ...at,
          ports: ["out"],
          durationMs: 0,
          cached: true,
          output: SECRET,
        },
      ]);
      const store = await newStore();
      await begin(store, graphOf({ id: "a", type: "log", fields: {} }), "other");
      const events = await kept(store, log, graphOf(node("a", { auditContent: "none" })));
      expect(events[2]).toMatchObject({ outputRef: { ref: "" } });
    });
  });

  test("a value that only withheld events name goes with them", async () => {
    const store = await newStore();
    const epoch = await begin(store, graphOf(node("a", { auditContent: "none" }), node("b")));
    const value = SECRET.repeat(10_000);
    const ref = await store.journal.putValue(RUN, "out a", value);
    const shared = await store.journal.putValue(RUN, "out b", "shared");
    const refOf = (to: string) => ({
      outputRef: { ref: to, bytes: 9, mediaType: "application/json" },
    });
    const log = encoded([
      ...nodeEvents("a", {}, refOf(ref)),
      ...nodeEvents("b", HASHED, refOf(shared)),
      ...nodeEvents("c", {}, refOf(shared)),
    ]);
    await store.journal.append(RUN, 0, log, { epoch, sync: true });
    expect(await store.journal.getValue(RUN, ref)).toBeUndefined();
    expect(await store.journal.getValue(RUN, shared)).toBe("shared");
  });

  testRestart("a run that another process began is sealed all the same", async (place) => {
    const first = await place.open();
    const log = encoded(nodeEvents("a", {}));
    const epoch = await begin(first, graphOf({ id: "x", type: "log", fields: {} }));
    await first.journal.append(RUN, 0, log.slice(0, 4), { epoch, sync: true });
    await first.close();
    const store = await place.open();
    const lease = await store.journal.lease(RUN, "b", 1_000);
    await store.journal.append(RUN, 4, log.slice(4), { epoch: lease?.epoch ?? 0, sync: true });
    expectWithheld(await eventsOf(store), "a", true);
  });

  test("where no content is kept, every node with a model is withheld", async () => {
    const store = await newStore({ keepsContent: () => false });
    expectWithheld(
      await kept(store, encoded(nodeEvents("a", HASHED)), graphOf(node("a"))),
      "a",
      true,
    );
    await store.close();
  });
}

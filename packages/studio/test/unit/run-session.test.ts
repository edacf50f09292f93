/** A run in the page against a log that comes in pieces: what it shows is the fold of the log. */
import {
  createTrace,
  createView,
  type ExecutionEvent,
  foldEvents,
  foldTrace,
  makeSnapshot,
  traceToJson,
  viewToJson,
} from "@millrace/contracts";
import { legalLog } from "@millrace/test-support/logs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openRun, type RunSession } from "../../src/page/state/run-session.ts";

/** A server with one run that has ended. `lastSeq`: what it says of the length of the log. */
function serverOf(events: readonly ExecutionEvent[], lastSeq = events.length) {
  const pages: number[] = [];
  const invoke = async (command: string, args: { after?: number; limit?: number }) => {
    if (command === "get_run_graph") return { nodes: [] };
    if (command === "get_run") return { lastSeq };
    const { after = 0, limit = 50 } = args;
    pages.push(after);
    return { items: events.slice(after, after + limit), nextCursor: null };
  };
  async function* runEvents(_: string, options: { after?: number; snapshot?: boolean }) {
    let { after = 0 } = options;
    if (options.snapshot) {
      const view = createView();
      for (const event of events.slice(0, -1)) foldEvents(view, event);
      after = view.seq;
      yield makeSnapshot(view, view.updatedAt);
    }
    yield* events.slice(after);
  }
  return { backend: { invoke, runEvents } as never, pages };
}

/** Opens a run and waits until it has been read to its end; frames come when the test says so. */
async function read(backend: never): Promise<{ session: RunSession; frames: (() => void)[] }> {
  const frames: (() => void)[] = [];
  const session = openRun("", { backend, onFrame: (callback) => frames.push(callback) });
  await expect.poll(() => session.view.summary).not.toBeNull();
  return { session, frames };
}

describe("a run in the page", () => {
  test("shows the fold of its log and its spans", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 1_000_000 }), async (seed) => {
        const { events } = legalLog(seed);
        const { session } = await read(serverOf(events).backend);
        const view = createView();
        const trace = createTrace();
        for (const event of events) {
          foldEvents(view, event);
          foldTrace(trace, event);
        }
        expect(viewToJson(session.view)).toEqual(viewToJson(view));
        expect(traceToJson(session.trace)).toEqual(traceToJson(trace));
        session.close();
      }),
      { numRuns: 30 },
    );
  });

  test("tells its readers once a frame, whatever comes between two frames", async () => {
    const { events } = legalLog(3);
    const { session, frames } = await read(serverOf(events).backend);
    expect(session.revision.value).toBe(0);
    expect(frames).toHaveLength(1);
    const [path = ""] = session.view.nodes.keys();
    const ofNode = session.ofNode(path);
    frames[0]?.();
    expect(session.revision.value).toBe(1);
    expect(ofNode.value).toBe(1);
    session.close();
  });

  test("begins a long run with its state, and reads the past by pages when it is asked for", async () => {
    const { events } = legalLog(11, { maxNodes: 12 });
    const server = serverOf(events, 30_000);
    const { session } = await read(server.backend);
    expect(session.log.since).toBe(events.length - 1);
    const middle = Math.floor(events.length / 2);
    const past = await session.viewAt(middle, new AbortController().signal);
    const view = createView();
    for (const event of events.slice(0, middle)) foldEvents(view, event);
    expect(viewToJson(past)).toEqual(viewToJson(view));
    expect(server.pages[0]).toBe(0);
    session.close();
  });
});

/**
 * What every transport does, whatever lies between window and host. The host is a Millrace server whose journal holds the logs of
 * `recordTransportLogs`; the cases share it, and the last one ends it.
 */
import assert from "node:assert/strict";
import {
  type AnyEvent,
  assertLog,
  type Channel,
  type ChannelMap,
  createView,
  type ExecutionEvent,
  foldEvents,
  type JsonObject,
  type RunRef,
  viewToJson,
} from "@millrace/contracts";
import { CommandError, type Transport, type TransportOptions } from "@millrace/desktop";
import type { ConformanceCase } from "@millrace/testkit";
import { DELTAS, RECORDED, recordedLog } from "./recordings.ts";

/** Messages a second that a window gets at most: one for each frame of a screen, and what does not wait. */
const MAX_RATE = 70;

const ASK = `flow 1 ask

node ask: confirm {
  prompt = "Go on?"
}

node yes: log {
  message = "yes"
}

ask.approved -> yes
`;

const ECHO = `flow 1 echo

input text: string

node say: transform {
  value = inputs.text
}

output text: string = say.value
`;

const HELLO = `flow 1 hello

node say: log {
  message = "hello"
}
`;

/** A transport under test, and the host behind it. */
export interface TransportSubject {
  /** A new transport to the host. */
  connect(options: TransportOptions): Promise<Transport>;
  /** Ends the host, or its process, as an accident would; resolves when it is gone. */
  die(): Promise<void>;
  /** Deltas of the long log that was recorded for it; default 100,000. */
  readonly deltas?: number;
  /** Emits on a channel of models; absent: nothing is emitted in the suite. */
  emit?<C extends Channel>(channel: C, payload: ChannelMap[C]): void;
  /** Resolves when, from now on, a handler of the host sees its signal aborted; absent: it cannot be seen from here. */
  aborted?(): Promise<void>;
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

interface Heard {
  readonly events: ExecutionEvent[];
  /** Resolves with the summary. */
  readonly ended: Promise<void>;
  readonly unlisten: () => void;
}

async function hear(
  transport: Transport,
  runId: string,
  options: { readonly after?: number; readonly told?: (event: ExecutionEvent) => void } = {},
): Promise<Heard> {
  const events: ExecutionEvent[] = [];
  const end = deferred();
  const { after, told } = options;
  const unlisten = await transport.listen(
    "flow:execution",
    (event) => {
      events.push(event);
      told?.(event);
      if (event.kind === "summary") end.resolve();
    },
    after === undefined ? { runId } : { runId, after },
  );
  return { events, ended: end.promise, unlisten };
}

/** The same log as the listener of a bare journal has it: what is merged is apart again only in its view. */
function viewOf(events: readonly AnyEvent[]): string {
  const view = createView();
  for (const event of events) foldEvents(view, event);
  return JSON.stringify(viewToJson(view));
}

async function startRun(transport: Transport, args: JsonObject): Promise<RunRef> {
  return (await transport.invoke("start_run", args)) as unknown as RunRef;
}

function assertComplete(events: readonly ExecutionEvent[], after = 0): void {
  let last = after;
  for (const event of events) {
    const stands = event.kind === "llm.delta" ? (event.merged ?? 1) : 1;
    assert.equal(event.seq, last + stands, "an event is missing, came twice or out of order");
    last = event.seq;
  }
}

async function refusal(work: Promise<unknown>): Promise<CommandError> {
  const error: unknown = await work.then(
    () => assert.fail("it was not refused"),
    (thrown: unknown) => thrown,
  );
  if (!CommandError.isInstance(error)) assert.fail(`no CommandError: ${String(error)}`);
  return error;
}

/** Every case, in the order in which they must run. */
export function transportConformance(subject: TransportSubject): readonly ConformanceCase[] {
  const { deltas = DELTAS } = subject;
  /** A transport that is closed afterwards. */
  function on(
    name: string,
    body: (transport: Transport, reported: unknown[]) => Promise<void>,
  ): ConformanceCase {
    return {
      name,
      async run() {
        const reported: unknown[] = [];
        const transport = await subject.connect({ report: (error) => void reported.push(error) });
        try {
          await body(transport, reported);
        } finally {
          await transport.close();
        }
        assert.equal(transport.state, "closed");
        const late = await refusal(transport.invoke("get_meta", {}));
        assert.equal(late.code, "transport_closed");
      },
    };
  }

  return [
    on(
      "a command answers what it answers everywhere, and opens the transport",
      async (transport) => {
        const run = await transport.invoke("get_run", { runId: RECORDED.hostile });
        assert.equal((run as unknown as RunRef).runId, RECORDED.hostile);
        assert.equal(transport.state, "open");
      },
    ),
    on(
      "events are equal after the wire, hostile text and keys too, and in order",
      async (transport) => {
        const heard = await hear(transport, RECORDED.hostile);
        await heard.ended;
        assert.deepStrictEqual(heard.events, recordedLog(RECORDED.hostile));
      },
    ),
    on("hostile text in arguments arrives as it is", async (transport) => {
      const text = 'a\u2028b\u2029c\u0085 😀 "\\\n\u0000\ufeff';
      const inputs = { text };
      const { runId } = await startRun(transport, { dsl: ECHO, inputs });
      const { events, ended } = await hear(transport, runId);
      await ended;
      const last = events.at(-1);
      assert.deepEqual(last?.kind === "summary" && last.outputs, { text });
    }),
    on("listen resolves before the first event", async (transport) => {
      let resolved = false;
      let early = 0;
      const heard = hear(transport, RECORDED.hostile, {
        told: () => {
          if (!resolved) early += 1;
        },
      });
      await (
        await heard.finally(() => {
          resolved = true;
        })
      ).ended;
      assert.equal(early, 0);
    }),
    on("nothing comes after unlisten, which may be called twice", async (transport) => {
      const first = deferred();
      let unlisten = (): void => {};
      const stopped = await hear(transport, RECORDED.deltas, {
        told: () => {
          unlisten();
          first.resolve();
        },
      });
      unlisten = stopped.unlisten;
      await first.promise;
      stopped.unlisten();
      const other = await hear(transport, RECORDED.hostile);
      await other.ended;
      assert.equal(stopped.events.length, 1);
    }),
    on(
      "a live run is heard whole, and one who comes late gets each event once",
      async (transport) => {
        const { runId } = await startRun(transport, { dsl: ASK });
        const paused = deferred();
        const heard = await hear(transport, runId, {
          told: ({ kind }) => {
            if (kind === "run.paused") paused.resolve();
          },
        });
        await paused.promise;
        const after = 3;
        const late = await hear(transport, runId, { after });
        const open = await transport.invoke("list_confirmations", { runId });
        const [{ id }] = (open as { items: [{ id: string }] }).items;
        const answer = { runId, confirmationId: id, decision: "approve" };
        await transport.invoke("resolve_confirmation", answer);
        await Promise.all([heard.ended, late.ended]);
        assertComplete(heard.events);
        assertLog(heard.events);
        assertComplete(late.events, after);
        assert.deepStrictEqual(late.events, heard.events.slice(after));
      },
    ),
    on("without a run, starts and ends of all runs are heard from now on", async (transport) => {
      const seen: ExecutionEvent[] = [];
      const end = deferred();
      const unlisten = await transport.listen("flow:execution", (event) => {
        seen.push(event);
        if (event.kind === "summary") end.resolve();
      });
      const { runId } = await startRun(transport, { dsl: HELLO });
      await end.promise;
      unlisten();
      assert.deepEqual(
        seen.map((event) => [event.kind, event.runId]),
        [
          ["run.started", runId],
          ["summary", runId],
        ],
      );
    }),
    on("a position after the log, and a run that is not there, are refused", async (transport) => {
      const ahead = await refusal(hear(transport, RECORDED.hostile, { after: 1_000 }));
      assert.deepEqual([ahead.code, ahead.status], ["ahead_of_journal", 409]);
      const missing = await refusal(hear(transport, "nobody"));
      assert.deepEqual([missing.code, missing.status], ["not_found", 404]);
    }),
    on("code, status and places of an error survive", async (transport) => {
      const missing = await refusal(transport.invoke("get_run", { runId: "nobody" }));
      assert.deepEqual([missing.code, missing.status], ["not_found", 404]);
      assert.equal(missing.problem.code === "not_found" && missing.problem["resource"], "run");
      const wrong = await refusal(transport.invoke("get_run", { run: 1 }));
      assert.deepEqual([wrong.code, wrong.status], ["invalid_args", 422]);
      assert.ok(wrong.problem.code === "invalid_args" && (wrong.problem.errors?.length ?? 0) > 0);
    }),
    on("an unknown channel and an unknown command are refused", async (transport) => {
      const channel = await refusal(transport.listen("flow:nothing" as Channel, () => {}));
      assert.equal(channel.code, "channel_unknown");
      const command = await refusal(transport.invoke("no_such_command", {}));
      assert.deepEqual([command.code, command.status], ["command_not_wired", 501]);
    }),
    on("a handler that throws is reported and stops nobody", async (transport, reported) => {
      const fault = new Error("of the window");
      const loud = await hear(transport, RECORDED.hostile, {
        told: () => {
          throw fault;
        },
      });
      const quiet = await hear(transport, RECORDED.hostile);
      await quiet.ended;
      assert.equal(quiet.events.length, recordedLog(RECORDED.hostile).length);
      assert.equal(loud.events.length, quiet.events.length);
      assert.deepEqual(new Set(reported), new Set([fault]));
    }),
    on("a cancelled call rejects with the reason, and its handler is told", async (transport) => {
      const controller = new AbortController();
      const reason = new Error("not needed any more");
      const { runId } = await startRun(transport, { dsl: ASK });
      const waiting = transport.invoke(
        "run_and_wait",
        { dsl: "flow 1 nap\n\nnode nap: delay {\n  for = 1h\n}\n", waitMs: 60_000 },
        { signal: controller.signal },
      );
      waiting.catch(() => {});
      // Answered after the call before it has reached the host.
      await transport.invoke("cancel_run", { runId });
      const told = subject.aborted?.();
      controller.abort(reason);
      await assert.rejects(waiting, (error) => error === reason);
      await told;
      const gone = AbortSignal.abort(reason);
      const never = transport.invoke("get_meta", {}, { signal: gone });
      await assert.rejects(never, (error) => error === reason);
    }),
    on(`${deltas} deltas arrive as few messages that mean the same`, async (transport) => {
      const from = performance.now();
      const heard = await hear(transport, RECORDED.deltas);
      await heard.ended;
      const seconds = Math.max(1, (performance.now() - from) / 1_000);
      assertComplete(heard.events);
      assert.equal(viewOf(heard.events), viewOf(recordedLog(RECORDED.deltas, { deltas })));
      assert.ok(heard.events.length <= MAX_RATE * seconds, `${heard.events.length} messages`);
    }),
    on(
      "events of models are heard as they are, or refused where there are none",
      async (transport) => {
        const { emit } = subject;
        if (emit === undefined) {
          // A host without models refuses; one that has some takes the listener, and nothing happens to them here.
          const answered = await transport
            .listen("models:registered", () => {})
            .then(
              (unlisten) => unlisten(),
              (error: unknown) => (CommandError.isInstance(error) ? error.status : error),
            );
          assert.ok(answered === undefined || answered === 501, String(answered));
          return;
        }
        const skipped = [{ file: "a\u2028.gguf", reason: "no model" }];
        const scan: ChannelMap["models:scan_complete"] = { count: 1, skipped, ms: 2 };
        const steps: unknown[] = [];
        const others: unknown[] = [];
        const end = deferred();
        await transport.listen("models:install_progress", (step) => {
          steps.push(step);
          if (step.stage === "done") end.resolve();
        });
        await transport.listen("models:registered", (id) => void others.push(id));
        await transport.listen("models:scan_complete", (done) => void others.push(done));
        const step = (stage: string, current: number) => ({
          stage,
          current,
          total: 2,
          message: "",
        });
        emit("models:registered", "tiny");
        emit("models:scan_complete", scan);
        emit("models:install_progress", step("download", 1));
        emit("models:install_progress", step("download", 2));
        emit("models:install_progress", step("done", 2));
        await end.promise;
        assert.deepEqual(steps, [step("download", 2), step("done", 2)]);
        assert.deepEqual(others, ["tiny", scan]);
      },
    ),
    {
      name: "when the host is gone, calls reject with transport_closed and the state is closed",
      async run() {
        const transport = await subject.connect({});
        await transport.invoke("get_meta", {});
        const closed = deferred();
        transport.onState((state) => {
          if (state === "closed") closed.resolve();
        });
        const args = { dsl: "flow 1 nap\n\nnode nap: delay {\n  for = 1h\n}\n", waitMs: 60_000 };
        const pending = refusal(transport.invoke("run_and_wait", args));
        await transport.invoke("get_meta", {});
        await subject.die();
        assert.equal((await pending).code, "transport_closed");
        await closed.promise;
        assert.equal(transport.state, "closed");
        assert.equal((await refusal(transport.invoke("get_meta", {}))).code, "transport_closed");
        await transport.close();
      },
    },
  ];
}

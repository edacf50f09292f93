/** Traces of runs of the command: where the variables want them, the receiver gets the run. */

import { notFull, testUnless } from "@millrace/test-support";
import { startReceiver } from "@millrace/test-support/otlp";
import { expect } from "vitest";
import { millrace, scratch } from "./cli.ts";

const FLOW = `flow 1 hand

node ok: confirm {
  prompt = "Go?"
}

node yes: log {
  message = "yes"
}

ok.approved -> yes
`;
const CALLER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };

testUnless(notFull)(
  "a run belongs to the trace of what has started the command, also when another command goes on with it",
  async () => {
    const receiver = await startReceiver();
    const cwd = scratch({ "hand.flow": FLOW });
    const env = {
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" },
      ...{ MILLRACE_HOME: scratch(), MILLRACE_CREDENTIALS_STORE: "memory" },
    };
    const started = { ...env, TRACEPARENT: `00-${CALLER.traceId}-${CALLER.spanId}-01` };
    const run = await millrace(["run", "hand.flow", "--yes"], { cwd, env: started });
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining("succeeded") });
    const kept = await millrace(["run", "hand.flow", "--save", "--json"], { cwd, env: started });
    expect(kept.code, kept.stderr).toBe(4);
    const [, runId = ""] = /"runId":"(\w+)"/.exec(kept.stdout) ?? [];
    const confirmed = await millrace(["confirm", runId, "ok", "--approve"], { cwd, env });
    expect(confirmed.code, confirmed.stderr).toBe(0);

    const ofTree = ["attempt 1", "attempt 1", "node ok", "node yes", "run hand"];
    expect(receiver.spans.map(({ name }) => name).sort()).toEqual([...ofTree, ...ofTree].sort());
    for (const { traceId } of receiver.spans) expect(traceId).toBe(CALLER.traceId);
    for (const span of receiver.spans.filter(({ name }) => name === "run hand")) {
      expect(span.parentSpanId).toBe(CALLER.spanId);
    }
  },
);

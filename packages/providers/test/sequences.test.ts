/** The fourteen sequences of events of an `ai` node, on each wire, with the real packages. */
import { type ScriptedAnswer, testSequences } from "@millrace/test-support/models";
import { describe, expect } from "vitest";
import { node, overTheWire, start } from "./support/flow.ts";
import { WIRE_NAMES } from "./support/providers.ts";
import type { WireAnswer } from "./support/wire-server.ts";

const RETRY_AFTER_MS = 5;

function answerOf({ status, tools = [], ...answer }: ScriptedAnswer): WireAnswer {
  if (status === 429) {
    return { status, headers: { "retry-after-ms": `${RETRY_AFTER_MS}` }, body: {} };
  }
  if (status !== undefined) return { status, body: { message: "secret-of-the-maker" } };
  const toolCalls = tools.map(({ name, input = {} }) => ({ name, args: JSON.stringify(input) }));
  return toolCalls.length > 0 ? { ...answer, toolCalls } : answer;
}

describe.each(WIRE_NAMES)("%s", (wire) => {
  testSequences({
    retryAfterMs: RETRY_AFTER_MS,
    async start({ script, spare = [], isTwice = false, ...setup }) {
      const { fields = "" } = setup;
      const before = `${node(fields, { id: "one" })}${node(fields)}one -> ask\n`;
      const asked = await start({
        ...setup,
        wire,
        script: script.map(answerOf),
        spare: spare.map(answerOf),
        ...(isTwice && { flow: before, ai: { circuit: { failures: 1 } } }),
      });
      const end = async () => {
        const summary = await asked.end();
        expect(overTheWire(asked.events)).toEqual(asked.events);
        return summary;
      };
      return { ...asked, end };
    },
    checks: {
      6: ({ main }) =>
        expect(JSON.stringify(main.requests[1]?.body)).toContain(String.raw`{\"value\":\"s\"}`),
      9: async ({ main }) => {
        await main.requests[0]?.closed;
        await main.idle();
      },
      11: (_run, { exitCode }) => expect(exitCode).toBe(5),
      12: ({ main }) => expect(main.requests).toHaveLength(1),
    },
  });
});

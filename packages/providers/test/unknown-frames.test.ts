/** Makers add kinds of frames to their streams; a package that does not know them must not end the answer. */
import { describe, expect, test } from "vitest";
import { ask } from "./support/flow.ts";
import { WIRE_NAMES } from "./support/providers.ts";

const UNKNOWN = [
  { type: "x_new_kind", index: 0, payload: { a: 1 } },
  { object: "x.heartbeat", id: "h" },
];

describe.each(WIRE_NAMES)("%s", (wire) => {
  test("frames of an unknown kind are passed over, before and after the text", async () => {
    const { summary, events, main } = await ask({
      wire,
      script: [{ text: ["Hel", "lo"], frames: UNKNOWN }],
      fields: "failoverRetries = 0",
    });
    const failures = events.filter(({ kind }) => kind === "llm.failed");
    expect([failures, summary.status]).toEqual([[], "succeeded"]);
    const [ended] = events.filter(({ kind }) => kind === "node.succeeded");
    expect(ended).toMatchObject({ output: { text: "Hello", finish: "stop" } });
    expect(main.requests).toHaveLength(1);
  });
});

test("messages: a block of an unknown kind is passed over with its deltas", async () => {
  const frames = [
    { type: "content_block_start", index: 7, content_block: { type: "x_new_block", data: "?" } },
    { type: "content_block_delta", index: 7, delta: { type: "x_new_delta", data: "?" } },
  ];
  const { summary } = await ask({
    wire: "messages",
    script: [{ text: ["ok"], frames }],
    fields: "failoverRetries = 0",
  });
  expect(summary.status).toBe("succeeded");
});

test("messages: a frame of a known kind that is broken ends the call", async () => {
  const { events } = await ask({
    wire: "messages",
    script: [{ text: ["ok"], frames: [{ type: "content_block_delta", index: 0 }] }],
    fields: "failoverRetries = 0",
  });
  expect(events.filter(({ kind }) => kind === "llm.failed")).toHaveLength(1);
});

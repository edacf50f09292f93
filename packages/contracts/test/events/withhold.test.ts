import {
  checkLog,
  createView,
  type ExecutionEvent,
  foldEvents,
  serialiseEvent,
  viewToJson,
  withholdContent,
} from "@millrace/contracts";
import { legalLog } from "@millrace/test-support/logs";
import { expect, test } from "vitest";
import { journal } from "./builder.ts";

const SECRET = "the quick brown fox";
const only = (words: Parameters<typeof journal>[0]): ExecutionEvent =>
  withholdContent(journal(words)[0] as ExecutionEvent);
const ref = {
  ref: `sha256:${"0".repeat(64)}`,
  bytes: 99_999,
  mediaType: "text/plain",
  preview: SECRET,
};

test("the text of a delta becomes dots of the same length", () => {
  const event = only({
    kind: "llm.delta",
    node: "a",
    call: "c1",
    channel: "text",
    offset: 3,
    text: "H🙂!",
  });
  expect(event).toMatchObject({ offset: 3, text: "····" });
});

test("an output becomes a reference to no value, in its place on the line", () => {
  const event = only({ kind: "node.succeeded", node: "a", ports: ["x"], output: { text: "é" } });
  expect(event).toMatchObject({ outputRef: { ref: "", bytes: 13, mediaType: "application/json" } });
  expect(Object.keys(event).slice(7)).toEqual(["durationMs", "ports", "outputRef"]);
  const large = only({ kind: "node.succeeded", node: "a", outputRef: ref });
  expect(large).toMatchObject({ outputRef: { ref: "", bytes: 99_999, mediaType: "text/plain" } });
  expect(serialiseEvent(large)).not.toContain(SECRET);
});

test("what a person was asked to approve keeps its shape", () => {
  const tool = { call: "t1", name: "mail", args: { to: ["ab", 7], ok: true } };
  const event = only({ kind: "confirm.requested", node: "a", id: "k1", prompt: "Send?", tool });
  expect(event).toMatchObject({
    prompt: "Send?",
    tool: { call: "t1", name: "mail", args: { to: ["··", 7], ok: true } },
  });
});

test("copies of messages, tool arguments and results go", () => {
  const events = [
    only({ kind: "tool.started", node: "a", call: "t1", tool: "x", args: { q: SECRET } }),
    only({ kind: "tool.started", node: "a", call: "t1", tool: "x", argsRef: ref }),
    only({
      kind: "tool.finished",
      node: "a",
      call: "t1",
      outcome: "ok",
      result: SECRET,
      durationMs: 1,
    }),
    only({
      kind: "llm.started",
      node: "a",
      call: "c1",
      provider: "p",
      model: "m",
      target: 0,
      step: 1,
      purpose: "generate",
      audit: { messages: 1, chars: 2, ref },
    }),
  ];
  for (const event of events) expect(serialiseEvent(event)).not.toContain(SECRET);
});

test("other events are answered as they are", () => {
  for (const event of legalLog(5).events) {
    if (/^(run|log|summary|node\.(started|progress|waiting))/.test(event.kind)) {
      expect(withholdContent(event)).toBe(event);
    }
  }
});

test("a withheld log is as legal as it was, and folds to the same shape", () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const { events, graph } = legalLog(seed);
    const before = JSON.stringify(events);
    const withheld = events.map(withholdContent);
    expect(checkLog(withheld, { graph })).toEqual([]);
    expect(JSON.stringify(events)).toBe(before);
    const [view, plain] = [withheld, events].map((log) => {
      const folded = createView();
      for (const event of log) foldEvents(folded, event);
      return viewToJson(folded);
    });
    expect(view?.nodes.map(({ node, state, text }) => [node, state, text?.length])).toEqual(
      plain?.nodes.map(({ node, state, text }) => [node, state, text?.length]),
    );
    expect({ ...view, nodes: [] }).toEqual({ ...plain, nodes: [] });
  }
});

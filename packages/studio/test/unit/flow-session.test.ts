/** An open flow without a browser: its text, its drafts, and what becomes of them when it is saved. */
import { ClientError } from "@millrace/client";
import type { Template } from "@millrace/contracts";
import { sleep } from "@millrace/contracts/kit";
import { formatFlow } from "@millrace/dsl";
import { applyEdits, type FlowChange, type TextEdit } from "@millrace/dsl/editor";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Draft, draftsIn } from "../../src/page/state/drafts.ts";
import { type Ask, differenceOf, FlowSession } from "../../src/page/state/flow-session.ts";
import type { Stored } from "../../src/page/state/stored-flow.ts";
import type { ProjectData } from "../../src/worker/protocol.ts";
import { TextReader } from "../../src/worker/questions.ts";
import { catalogEntry } from "./catalog-entry.ts";
import { storage } from "./storage.ts";

const FLOW = `flow 1 demo

# Comes first.
node one: transform {
  value = 1
}

node two: transform {
  value = one.value
}
`;

const transform = catalogEntry("transform", {
  fields: { type: "object", properties: { value: {} }, required: ["value"] },
  output: { type: "object", properties: { value: {} } },
});
const PROJECT: ProjectData = { entries: [transform], connections: [], flows: [] };

/** The analysis of the worker, in this thread. */
const askHere: Ask = async (text, name, ...args) => {
  const answer = new TextReader(PROJECT, text).answers[name] as unknown as (
    ...given: typeof args
  ) => never;
  return answer(...args);
};

/** A server that has one flow, as `save_template` and `get_template` show it. */
function serverOf(initial?: string, keeps = (text: string) => formatFlow(text).text) {
  let version = initial === undefined ? 0 : 1;
  let dsl = initial;
  const stored = (): Stored => ({
    template: { slug: "demo", version, dsl, name: "demo" } as unknown as Template,
    etag: `"${version}"`,
  });
  const fail = (code: "etag_mismatch" | "flow_invalid" | "not_found"): never => {
    throw new ClientError(code, code);
  };
  const call = async (command: string, args: Record<string, unknown>) => {
    if (command === "get_template") {
      if (dsl === undefined) fail("not_found");
    } else {
      const { ifMatch, ifNoneMatch } = args;
      if (ifNoneMatch !== undefined && dsl !== undefined) fail("etag_mismatch");
      if (ifMatch !== undefined && (dsl === undefined || ifMatch !== `"${version}"`)) {
        fail("etag_mismatch");
      }
      const text = args["dsl"] as string;
      expect(args["takeErrors"]).toBe(true);
      if (text.includes("lgo")) fail("flow_invalid");
      version += 1;
      dsl = keeps(text);
    }
    const { template: value, etag } = stored();
    return { value, etag, replayed: false };
  };
  return {
    stored,
    call: call as never,
    remove: () => {
      dsl = undefined;
    },
  };
}

/** A text with steps of Undo, as an editor has it. */
function editorOf(session: FlowSession) {
  const steps: string[] = [];
  let text = session.text;
  session.attach({
    get text() {
      return text;
    },
    apply(edits) {
      steps.push(text);
      text = applyEdits(text, edits);
    },
  });
  return {
    steps,
    type(changed: string) {
      steps.push(text);
      text = changed;
      session.textChanged();
    },
  };
}

function open(
  server: ReturnType<typeof serverOf>,
  kept = storage(),
  { ask = askHere as Ask, tab = "a" } = {},
) {
  const drafts = draftsIn(kept, tab);
  const stored = server.stored().template.version === 0 ? undefined : server.stored();
  const ports = { ask, drafts, backend: { call: server.call }, now: () => Date.now() };
  const session = new FlowSession(stored, ports);
  return { session, kept, drafts, editor: editorOf(session) };
}

const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1_000);

describe("an open flow", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("reads its text, and reads it again when typing pauses", async () => {
    const { session, editor } = open(serverOf(FLOW));
    await settled();
    expect(session.reading.value?.graph.nodes.map(({ id }) => id)).toEqual(["one", "two"]);
    expect(session.problems.value).toEqual([]);
    editor.type(FLOW.replace("node one: transform", "node one: transfrom"));
    await settled();
    expect(session.problems.value).toMatchObject([{ code: "FLOW3001", node: "one" }]);
    session.close();
  });

  test("asks nothing more about a text that was changed while it was read", async () => {
    const asked: string[] = [];
    let typeMeanwhile = (): void => {};
    const ask: Ask = async (text, name, ...args) => {
      asked.push(`${name} ${text === FLOW ? "old" : "new"}`);
      if (name === "read") typeMeanwhile();
      return askHere(text, name, ...args);
    };
    const { session, editor } = open(serverOf(FLOW), storage(), { ask });
    await settled();
    asked.length = 0;
    typeMeanwhile = () => {
      typeMeanwhile = () => {};
      editor.type(`${FLOW}# checked\n`);
    };
    void session.readAgain();
    await settled();
    expect(asked).toEqual(["read old", "read new", "problems new"]);
    expect(session.problems.value).toEqual([]);
    session.close();
  });

  test("has the line ends of an editor where the file of the flow has those of Windows", async () => {
    const asOnWindows = (text: string): string => text.replaceAll("\n", "\r\n");
    const { session, editor, drafts } = open(serverOf(asOnWindows(FLOW), asOnWindows));
    expect(session.text).toBe(FLOW);
    const loose = FLOW.replace("value = 1", "value   =   1");
    editor.type(loose);
    await session.save({ slug: "demo" });
    expect([session.text, session.isDirty.value]).toEqual([loose, false]);
    expect(drafts.read("demo")).toBeUndefined();
    session.close();
  });

  test("makes each change as one step of Undo, in the bytes that it touches", async () => {
    const { session, editor } = open(serverOf(FLOW));
    await session.change({ kind: "renameNode", path: "one", to: "first" });
    expect(session.text).toBe(
      FLOW.replace("node one", "node first").replace("one.value", "first.value"),
    );
    await session.change({ kind: "removeNode", path: "two" });
    expect(editor.steps).toHaveLength(2);
    expect(editor.steps[0]).toBe(FLOW);
    expect(session.text).toContain("# Comes first.\nnode first");
    await expect(
      session.change({ kind: "removeField", path: "first", field: "none" }),
    ).rejects.toThrow("has no field");
    expect(editor.steps).toHaveLength(2);
    session.close();
  });

  test("computes a change again when somebody types while it is computed", async () => {
    let interrupt = (): void => {};
    const slow: Ask = async (text, name, ...args) => {
      const answer = await askHere(text, name, ...args);
      if (name === "edit") interrupt();
      return answer;
    };
    const { session, editor } = open(serverOf(FLOW), storage(), { ask: slow });
    const above = `# Typed meanwhile.\n${FLOW}`;
    interrupt = () => {
      interrupt = () => {};
      editor.type(above);
    };
    await session.change({ kind: "setLayout", path: "one", x: 3, y: 4 });
    expect(session.text).toBe(`${above}\nlayout {\n  one = [3, 4]\n}\n`);
    session.close();
  });

  test("waits for an edit on its way before it saves, and keeps one that comes after it was closed", async () => {
    const server = serverOf(FLOW);
    const { session, kept } = open(server);
    await settled();
    const typed = (value: number): Promise<FlowChange> =>
      sleep(100).then(() => ({ kind: "setField", path: "one", field: "value", value }));
    void session.change(typed(2));
    const saved = session.save({ slug: "demo" });
    await settled();
    expect((await saved).stored.template.dsl).toContain("value = 2");
    void session.change(typed(3));
    session.close();
    await settled();
    expect([...kept.kept.values()].join()).toContain("value = 3");
  });

  test("takes what is stored for its text, and formats what was saved where nobody typed on", async () => {
    const server = serverOf(FLOW);
    const { session, editor } = open(server);
    editor.type(FLOW.replace("value = 1", "value   =  2"));
    expect(session.isDirty.value).toBe(true);
    const saved = await session.save({ slug: "demo" });
    expect(saved).toMatchObject({ kind: "saved", stored: { template: { version: 2 } } });
    expect(session.text).toBe(FLOW.replace("value = 1", "value = 2"));
    expect(session.isDirty.value).toBe(false);
    expect(session.stored.value?.etag).toBe('"2"');
    session.close();
  });

  test("does not overwrite another version, until a person says so", async () => {
    const server = serverOf(FLOW);
    const mine = open(server);
    const other = open(server);
    other.editor.type(FLOW.replace("1\n}", "7\n}"));
    await other.session.save({ slug: "demo" });
    const typed = FLOW.replace("1\n}", "8\n}");
    mine.editor.type(typed);
    const answer = await mine.session.save({ slug: "demo" });
    expect(answer).toMatchObject({ kind: "changed", stored: { template: { version: 2 } } });
    expect(mine.session.text).toBe(typed);
    mine.session.keepMine(answer.stored);
    expect((await mine.session.save({ slug: "demo" })).kind).toBe("saved");
    const late = await other.session.save({ slug: "demo" });
    other.session.takeTheirs(late.stored);
    expect(other.session.text).toBe(typed);
    expect(other.editor.steps.at(-1)).toBe(FLOW.replace("1\n}", "7\n}"));
    expect(other.session.isDirty.value).toBe(false);
    for (const { session } of [mine, other]) session.close();
  });

  test("a save that a browser repeats, as its answer was lost, finds its own text and is done", async () => {
    for (const server of [serverOf(FLOW), serverOf()]) {
      const { session, editor } = open(server);
      editor.type(FLOW.replace("value = 1", "value   =  2"));
      const call = server.call as unknown as (name: string, args: object) => Promise<unknown>;
      await call("save_template", { dsl: session.text, takeErrors: true });
      expect(await session.save({ slug: "demo", name: "demo" })).toMatchObject({ kind: "saved" });
      expect(session.text).toBe(FLOW.replace("value = 1", "value = 2"));
      expect(session.isDirty.value).toBe(false);
      editor.type(FLOW);
      expect(await session.save({ slug: "demo" })).toMatchObject({ kind: "saved" });
      session.close();
    }
  });

  test("a draft remembers the version that it began from", async () => {
    const server = serverOf(FLOW);
    const kept = storage();
    const first = open(server, kept);
    first.editor.type(FLOW.replace("1\n}", "5\n}"));
    await settled();
    first.session.close();
    const other = open(server);
    other.editor.type(FLOW.replace("1\n}", "6\n}"));
    await other.session.save({ slug: "demo" });

    const again = open(server, kept);
    expect(again.session.text).toBe(FLOW.replace("1\n}", "5\n}"));
    expect(again.session.restored.value).toBeTypeOf("number");
    expect((await again.session.save({ slug: "demo" })).kind).toBe("changed");
    again.session.discardDraft();
    expect(again.session.text).toBe(FLOW.replace("1\n}", "6\n}"));
    expect(kept.kept.size).toBe(0);
    for (const { session } of [other, again]) session.close();
  });

  test("keeps the text that the server refuses, and that of a flow that was deleted", async () => {
    const server = serverOf(FLOW);
    const { session, editor, drafts } = open(server);
    const wrong = FLOW.replace("transform", "lgo");
    editor.type(wrong);
    await expect(session.save({ slug: "demo" })).rejects.toThrow("flow_invalid");
    await settled();
    expect(session.text).toBe(wrong);
    expect(drafts.read("demo")).toMatchObject({
      text: wrong,
      etag: '"1"',
    } satisfies Partial<Draft>);
    server.remove();
    editor.type(FLOW);
    await expect(session.save({ slug: "demo" })).rejects.toThrow("deleted on the server");
    expect((await session.save({ slug: "demo" })).kind).toBe("saved");
    session.close();
  });

  test("says when a draft is not kept: for what looks like a credential, and for want of room", async () => {
    const secret = open(serverOf(FLOW));
    secret.editor.type(FLOW.replace("value = 1", `value = "sk-proj-${"x1Y2".repeat(6)}"`));
    await settled();
    expect(secret.session.kept.value).toBe("secret");
    expect(secret.kept.kept.size).toBe(0);
    const full = open(serverOf(FLOW), storage(10));
    full.editor.type(`${FLOW}\n`);
    await settled();
    expect(full.session.kept.value).toBe("full");
    full.editor.type(FLOW);
    await settled();
    expect(full.session.kept.value).toBe("kept");
    for (const { session } of [secret, full]) session.close();
  });

  test("keeps what was typed just before the page goes away, or it is closed", async () => {
    const { session, editor, drafts } = open(serverOf(FLOW));
    editor.type(`${FLOW}# first\n`);
    session.keep();
    expect(drafts.read("demo")?.text).toBe(`${FLOW}# first\n`);
    editor.type(`${FLOW}# last\n`);
    session.close();
    expect(drafts.read("demo")?.text).toBe(`${FLOW}# last\n`);
  });
});

describe("two tabs of one flow", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("keep a draft each, and one that was left is taken over", async () => {
    const kept = storage();
    const server = serverOf(FLOW);
    const a = open(server, kept);
    const b = open(server, kept, { tab: "b" });
    a.editor.type(`${FLOW}# a\n`);
    b.editor.type(`${FLOW}# b\n`);
    await settled();
    for (const { session } of [a, b]) session.close();
    for (const [tab, text] of [
      ["a", `${FLOW}# a\n`],
      ["b", `${FLOW}# b\n`],
    ] as const) {
      const again = open(server, kept, { tab });
      expect(again.session.text).toBe(text);
      again.session.close();
    }
    const third = open(server, kept, { tab: "c" });
    third.editor.type(`${third.session.text}# c\n`);
    await settled();
    expect(kept.keys().map((key) => key.split("@")[1])).toHaveLength(2);
    third.session.discardDraft();
    third.session.close();
    const left = open(server, kept, { tab: "d" });
    expect(left.session.text).toMatch(/# [ab]\n$/);
    left.session.discardDraft();
    expect(kept.keys()).toEqual([]);
    left.session.close();
  });

  test("a tab that shows the text of another one does not take it away from that tab", async () => {
    const kept = storage();
    const server = serverOf(FLOW);
    const a = open(server, kept);
    a.editor.type(`${FLOW}# a\n`);
    await settled();
    const b = open(server, kept, { tab: "b" });
    expect(b.session.text).toBe(`${FLOW}# a\n`);
    b.session.discardDraft();
    a.session.keep(); // as a reload does
    expect(open(server, kept).session.text).toBe(`${FLOW}# a\n`);
    for (const { session } of [a, b]) session.close();
  });
});

test("what differs is one edit, and makes the other text", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "\n", "𝒳"), maxLength: 12 });
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const edit: TextEdit | undefined = differenceOf(before, after);
      expect(edit === undefined).toBe(before === after);
      expect(applyEdits(before, edit === undefined ? [] : [edit])).toBe(after);
    }),
  );
});

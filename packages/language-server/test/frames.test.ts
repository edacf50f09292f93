import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { createLanguageServer } from "@millrace/language-server";
import { casesOf } from "@millrace/test-support";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { serve } from "./client.ts";

const frame = (body: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(body as string);
  return Buffer.concat([Buffer.from(`Content-Length: ${bytes.length}\r\n\r\n`), bytes]);
};
const request = (id: unknown, method: string, params: unknown = {}): Buffer =>
  frame(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
const INITIALIZE = request(0, "initialize", { processId: null, rootUri: null, capabilities: {} });
const SHUTDOWN = request(99, "shutdown", null);
const EXIT = frame('{"jsonrpc":"2.0","method":"exit"}');

/** Sends bytes in pieces, waits for the answer to `shutdown` where it is `last`, and gives the answers and the exit code. */
async function exchange(
  pieces: readonly Uint8Array[],
  last: Uint8Array = Buffer.alloc(0),
): Promise<{ answers: Record<string, unknown>[]; code: number; log: string[] }> {
  const served = serve();
  for (const piece of pieces) served.input.write(piece);
  if (last.length > 0) {
    await vi.waitFor(() => expect(String(Buffer.concat(served.written))).toContain('"id":99'), {
      interval: 1,
      timeout: 30_000,
    });
  }
  served.input.end(last);
  const code = await served.ended;
  const bytes = Buffer.concat(served.written);
  const answers: Record<string, unknown>[] = [];
  for (let at = 0; at < bytes.length; ) {
    // Whatever is written is a frame, and nothing stands between two.
    const head = /^Content-Length: (\d+)\r\n\r\n/.exec(bytes.toString("latin1", at, at + 64));
    if (head === null) throw new Error(`no frame at byte ${at}`);
    const from = at + head[0].length;
    at = from + Number(head[1]);
    answers.push(JSON.parse(bytes.toString("utf8", from, at)));
  }
  return { answers, code, log: served.log };
}

const codes = (answers: readonly Record<string, unknown>[]): [id: unknown, code: unknown][] =>
  answers.map(({ id, error }) => [id, (error as { code?: number } | undefined)?.code]);

test("a request before `initialize` is refused, a notification is dropped", async () => {
  const { answers, code } = await exchange([
    request(1, "textDocument/hover"),
    frame('{"jsonrpc":"2.0","method":"initialized","params":{}}'),
  ]);
  expect(codes(answers)).toEqual([[1, -32002]]);
  expect(code).toBe(1);
});

test("a second `initialize` is refused", async () => {
  const second = request(1, "initialize", { processId: null, rootUri: null, capabilities: {} });
  const { answers } = await exchange([INITIALIZE, second]);
  expect(codes(answers)).toContainEqual([1, -32600]);
});

test("a request after `shutdown` is refused, and `exit` then ends with 0", async () => {
  const { answers, code } = await exchange([
    INITIALIZE,
    SHUTDOWN,
    request(2, "textDocument/hover"),
    EXIT,
  ]);
  expect(codes(answers)).toContainEqual([2, -32600]);
  expect(code).toBe(0);
});

test("`exit` without `shutdown` ends with 1, and so does the end of the input", async () => {
  expect((await exchange([INITIALIZE, EXIT])).code).toBe(1);
  expect((await exchange([INITIALIZE])).code).toBe(1);
});

test("what is no message is answered, and the stream goes on", async () => {
  const { answers, code } = await exchange([
    frame("{ no json"),
    frame(Buffer.from([0x22, 0xff, 0x22])),
    frame("[]"),
    frame('{"jsonrpc":"2.0","id":7}'),
    frame('{"jsonrpc":"2.0","id":{},"method":"x"}'),
    frame('{"jsonrpc":"2.0","id":8,"method":5}'),
    INITIALIZE,
    SHUTDOWN,
    EXIT,
  ]);
  expect(codes(answers).slice(0, 6)).toEqual([
    [null, -32700],
    [null, -32700],
    [null, -32600],
    [7, -32600],
    [null, -32600],
    [8, -32600],
  ]);
  expect(code).toBe(0);
});

test.each([
  ["no Content-Length", "Content-Type: x\r\n\r\n{}", /no usable Content-Length/],
  ["a negative length", "Content-Length: -1\r\n\r\n{}", /no usable Content-Length/],
  ["a length that is no number", "Content-Length: ten\r\n\r\n{}", /no usable Content-Length/],
  ["more than 64 MiB", "Content-Length: 67108865\r\n\r\n{}", /longer than 67108864 bytes/],
  ["a header without an end", "x".repeat(8200), /longer than 8192 bytes/],
])("a frame with %s ends the stream with 1", async (_, text, reason) => {
  const { code, log } = await exchange([INITIALIZE, Buffer.from(text), SHUTDOWN, EXIT]);
  expect(code).toBe(1);
  expect(log.join()).toMatch(reason);
});

test("frames may come in pieces of one byte, several at once, and with other headers", async () => {
  const odd = Buffer.concat([
    Buffer.from("content-type: application/json\r\ncontent-length:  "),
    Buffer.from(`${SHUTDOWN.length - SHUTDOWN.indexOf("{")}\r\n\r\n`),
    SHUTDOWN.subarray(SHUTDOWN.indexOf("{")),
  ]);
  const all = Buffer.concat([INITIALIZE, request(1, "no/such"), odd]);
  const whole = await exchange([all], EXIT);
  const pieces = await exchange(
    Array.from(all, (byte) => Uint8Array.of(byte)),
    EXIT,
  );
  expect(pieces.answers).toEqual(whole.answers);
  expect(pieces.code).toBe(0);
  expect(codes(whole.answers)).toContainEqual([1, -32601]);
});

const notification = (method: string, params: unknown): Buffer =>
  frame(JSON.stringify({ jsonrpc: "2.0", method, params }));
const URI = "file:///flows/a.flow";
const textDocument = { uri: URI };
const position = { line: 0, character: 0 };
const OPEN = notification("textDocument/didOpen", {
  textDocument: { uri: URI, languageId: "millrace-flow", version: 1, text: "flow 1 a\n" },
});
const METHODS = [
  "textDocument/completion",
  "textDocument/hover",
  "textDocument/signatureHelp",
  "textDocument/definition",
  "textDocument/references",
  "textDocument/documentHighlight",
  "textDocument/prepareRename",
  "textDocument/rename",
  "textDocument/documentSymbol",
  "textDocument/foldingRange",
  "textDocument/selectionRange",
  "textDocument/formatting",
  "textDocument/documentLink",
  "textDocument/semanticTokens/full",
  "textDocument/semanticTokens/range",
  "textDocument/codeAction",
  "completionItem/resolve",
  "workspace/executeCommand",
];

test.each(METHODS)("%s with wrong parameters is refused with -32602", async (method) => {
  const wrong = [undefined, null, 5, [], {}, { textDocument: 5, command: 5 }];
  const requests = wrong.map((params, id) => request(id + 1, method, params));
  const { answers, code } = await exchange([INITIALIZE, OPEN, ...requests, SHUTDOWN], EXIT);
  const expected = wrong.map((_, id) => [id + 1, -32602]);
  expect(codes(answers)).toEqual(expect.arrayContaining(expected));
  expect(code).toBe(0);
});

test("what is wrong with parameters is said in one message", async () => {
  const { answers } = await exchange(
    [
      INITIALIZE,
      request(1, "textDocument/rename", { textDocument, position: { line: "x" } }),
      request(2, "workspace/executeCommand", { command: "millrace.explain", arguments: null }),
      request(3, "workspace/executeCommand", {
        command: "millrace.explain",
        arguments: ["toString"],
      }),
      request(4, "workspace/executeCommand", { command: "constructor" }),
      request(5, "textDocument/hover", { textDocument, position: { line: -1, character: 0 } }),
      SHUTDOWN,
    ],
    EXIT,
  );
  const errorOf = (id: number) => answers.find((answer) => answer["id"] === id)?.["error"];
  expect(errorOf(1)).toEqual({
    code: -32602,
    message:
      "in the parameters of textDocument/rename: `position` is { line, character }, whole numbers from 0; `newName` is a string",
  });
  const takesCode = "millrace.explain takes the code of a finding, such as FLOW3001";
  expect(errorOf(2)).toEqual({ code: -32602, message: takesCode });
  expect(errorOf(3)).toEqual({ code: -32602, message: takesCode });
  expect(errorOf(4)).toMatchObject({ code: -32602 });
  expect(errorOf(5)).toMatchObject({ code: -32602 });
});

test("a request that is cancelled before its work has one answer, -32800", async () => {
  const hover = request(1, "textDocument/hover", { textDocument, position });
  const cancel = notification("$/cancelRequest", { id: 1 });
  const { answers } = await exchange(
    [INITIALIZE, Buffer.concat([OPEN, hover, cancel]), SHUTDOWN],
    EXIT,
  );
  expect(codes(answers).filter(([id]) => id === 1)).toEqual([[1, -32800]]);
});

test("a notification with wrong parameters is dropped with a line in the log", async () => {
  const { answers, code, log } = await exchange(
    [
      INITIALIZE,
      notification("$/cancelRequest", {}),
      notification("$/cancelRequest", null),
      notification("$/cancelRequest", { id: {} }),
      notification("$/progress", null),
      notification("$/setTrace", null),
      notification("textDocument/didOpen", { textDocument }),
      notification("textDocument/didChange", {
        textDocument: { uri: URI, version: 2 },
        contentChanges: [{ text: 5 }],
      }),
      notification("no/such", null),
      SHUTDOWN,
    ],
    EXIT,
  );
  expect(code).toBe(0);
  expect(answers.filter(({ id }) => id !== undefined)).toHaveLength(2);
  expect(log).toHaveLength(7);
  expect(log[6]).toBe(
    "in the parameters of textDocument/didChange: `contentChanges` is a list of { text, range? }",
  );
});

test("an `initialize` with wrong parameters may be sent again", async () => {
  const wrong = request(1, "initialize", { processId: "x", capabilities: null });
  const { answers, code } = await exchange([wrong, INITIALIZE, SHUTDOWN], EXIT);
  expect(codes(answers).slice(0, 2)).toEqual([
    [1, -32602],
    [0, undefined],
  ]);
  expect(code).toBe(0);
});

test("two requests with one id have two answers", async () => {
  const hover = request(1, "textDocument/hover", { textDocument, position });
  const { answers } = await exchange(
    [INITIALIZE, Buffer.concat([OPEN, hover, hover]), SHUTDOWN],
    EXIT,
  );
  expect(codes(answers).filter(([id]) => id === 1)).toEqual([
    [1, -32600],
    [1, undefined],
  ]);
});

test("every request is answered once, whatever its parameters are", async () => {
  const place = fc.record({
    line: fc.integer({ min: -1, max: 9 }),
    character: fc.integer({ min: -1, max: 9 }),
  });
  const params = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        textDocument: fc.oneof(fc.constant(textDocument), fc.jsonValue()),
        position: fc.oneof(place, fc.jsonValue()),
        positions: fc.oneof(fc.array(place), fc.jsonValue()),
        range: fc.oneof(fc.record({ start: place, end: place }), fc.jsonValue()),
        context: fc.oneof(fc.record({ only: fc.array(fc.string()) }), fc.jsonValue()),
        newName: fc.oneof(fc.string(), fc.jsonValue()),
        command: fc.oneof(fc.constant("millrace.explain"), fc.jsonValue()),
        arguments: fc.jsonValue(),
        label: fc.jsonValue(),
        data: fc.jsonValue(),
        id: fc.jsonValue(),
        token: fc.jsonValue(),
        contentChanges: fc.oneof(fc.array(fc.record({ text: fc.string() })), fc.jsonValue()),
      },
      { requiredKeys: [] },
    ),
  );
  const notifications = [
    "$/cancelRequest",
    "$/progress",
    "$/setTrace",
    "$/logTrace",
    "initialized",
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didSave",
    "textDocument/willSave",
    "textDocument/didClose",
    "window/workDoneProgress/cancel",
    "workspace/didChangeConfiguration",
    "workspace/didChangeWatchedFiles",
    "workspace/didChangeWorkspaceFolders",
  ];
  const message = fc.oneof(
    fc.tuple(fc.constantFrom(...METHODS, "no/such"), params, fc.constant(true)),
    fc.tuple(fc.constantFrom(...notifications, ...METHODS), params, fc.constant(false)),
    fc.tuple(fc.constant(undefined), params, fc.boolean()),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 30 }), async (messages) => {
      const ids: number[] = [];
      const pieces = messages.map(([method, given, isRequest], index) => {
        if (method === undefined) {
          const answer = isRequest ? { result: given } : { error: given };
          return frame(JSON.stringify({ jsonrpc: "2.0", id: index + 100, ...answer }));
        }
        if (!isRequest) return notification(method, given);
        ids.push(index + 100);
        return request(index + 100, method, given);
      });
      const { answers, code } = await exchange([INITIALIZE, OPEN, ...pieces, SHUTDOWN], EXIT);
      const answered = codes(answers)
        .map(([id]) => id)
        .filter((id) => typeof id === "number" && id >= 100);
      expect(answered.sort()).toEqual(ids);
      expect(code).toBe(0);
    }),
    { numRuns: casesOf(1000) },
  );
});

test("the program of the README serves a client until it leaves", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const program =
    /```ts compiled\n([\s\S]*?)```/.exec(readme)?.[1]?.replace(/^import .*$/m, "") ?? "";
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const code = new Promise<number>((exit) => {
    const host = { ...streams, exit };
    new Function("createLanguageServer", "process", `return (async () => {${program}})()`)(
      createLanguageServer,
      host,
    );
  });
  streams.stdin.write(Buffer.concat([INITIALIZE, SHUTDOWN, EXIT]));
  expect(await code).toBe(0);
});

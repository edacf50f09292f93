import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { createLanguageServer } from "@millrace/language-server";
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
    await vi.waitFor(() => expect(String(Buffer.concat(served.written))).toContain('"id":99'));
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

const codes = (answers: readonly Record<string, unknown>[]): unknown[] =>
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

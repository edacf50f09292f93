/** A client of `millrace lsp` in a process of its own: messages in, answers out. */
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { BIN } from "./cli.ts";

export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly uri: string;
    readonly diagnostics: readonly {
      readonly code: string;
      readonly message: string;
      readonly range: {
        readonly start: { readonly line: number; readonly character: number };
      };
    }[];
  };
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Sends messages, and ends the server once it has answered all requests and published the diagnostics of so many files. */
export async function converse(
  cwd: string,
  messages: readonly object[],
  files = 1,
): Promise<{ answers: readonly Message[]; code: number | null; rest: string }> {
  const child = spawn(process.execPath, [BIN, "lsp"], { cwd, stdio: "pipe" });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const send = (message: object): void => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  let bytes = Buffer.alloc(0);
  let stderr = "";
  const answers: Message[] = [];
  let isEnding = false;
  child.stderr.on("data", (chunk) => {
    stderr += String(chunk);
  });
  for (const message of messages) send(message);
  for await (const chunk of child.stdout) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    for (;;) {
      const head = /^Content-Length: (\d+)\r\n\r\n/.exec(bytes.toString("latin1", 0, 64));
      const from = head?.[0].length ?? 0;
      const to = from + Number(head?.[1] ?? Number.POSITIVE_INFINITY);
      if (bytes.length < to) break;
      answers.push(JSON.parse(bytes.toString("utf8", from, to)));
      bytes = bytes.subarray(to);
    }
    const isDone = messages.every((message) => {
      const { id } = message as Message;
      return id === undefined || answers.some((answer) => answer.id === id);
    });
    if (answers.some(({ id }) => id === 99)) send({ method: "exit" });
    else if (isDone && answers.filter(({ method }) => method !== undefined).length >= files) {
      // Diagnostics may come once more before the answer.
      if (!isEnding) send({ id: 99, method: "shutdown" });
      isEnding = true;
    }
  }
  return { answers, code: await ended, rest: String(bytes) + stderr };
}

export const START: readonly object[] = [
  { id: 1, method: "initialize", params: { processId: null, rootUri: null, capabilities: {} } },
  { method: "initialized", params: {} },
];

/** The message that a file was opened. */
export const opened = (file: string, text: string): object => ({
  method: "textDocument/didOpen",
  params: {
    textDocument: { uri: pathToFileURL(file).href, languageId: "millrace-flow", version: 1, text },
  },
});

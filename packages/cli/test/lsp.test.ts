/** `millrace lsp` as an editor starts it: a real process, frames on stdin and stdout, the project of the file's folder. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { BIN, scratch } from "./cli.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly uri: string;
    readonly diagnostics: readonly {
      readonly code: string;
      readonly message: string;
      readonly range: { readonly start: { readonly line: number } };
    }[];
  };
  readonly result?: unknown;
}

/** Sends messages, and ends the server once it has answered all requests and published the diagnostics of so many files. */
async function converse(
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
      send({ id: 99, method: "shutdown" });
    }
  }
  return { answers, code: await ended, rest: String(bytes) + stderr };
}

const START = [
  { id: 1, method: "initialize", params: { processId: null, rootUri: null, capabilities: {} } },
  { method: "initialized", params: {} },
];

const opened = (file: string, text: string): object => ({
  method: "textDocument/didOpen",
  params: {
    textDocument: { uri: pathToFileURL(file).href, languageId: "millrace-flow", version: 1, text },
  },
});

test("the server finds what `validate` finds, formats as `fmt` does, and leaves with 0", async () => {
  const cwd = await scratch();
  const file = join(cwd, "a.flow");
  const text = "flow 1 a\nnode get: htp.request {\n  url = 'https://example.org'\n}\n";
  const textDocument = { uri: pathToFileURL(file).href };
  const { answers, code, rest } = await converse(cwd, [
    ...START,
    opened(file, text),
    { id: 2, method: "textDocument/formatting", params: { textDocument, options: {} } },
    {
      id: 3,
      method: "textDocument/completion",
      params: { textDocument, position: { line: 1, character: 11 } },
    },
  ]);
  expect(code).toBe(0);
  expect(rest).toBe("");
  const found = answers.find(({ params }) => params !== undefined)?.params?.diagnostics;
  expect(found?.map((each) => each.code)).toEqual(["FLOW3001", "FLOW1102"]);
  const items = answers.find(({ id }) => id === 3)?.result as readonly { label: string }[];
  expect(items.map(({ label }) => label)).toContain("http.request");
});

test.each([
  "file://server/share/a.flow",
  "file:///a%2Fb/c.flow",
  "file:///%E0%A4%A/a.flow",
  "untitled:a",
])("it answers for a text at %s", async (uri) => {
  const textDocument = { uri, languageId: "millrace-flow", version: 1, text: "flow 1 a" };
  const { answers, code, rest } = await converse(await scratch(), [
    ...START,
    { method: "textDocument/didOpen", params: { textDocument } },
    { id: 2, method: "textDocument/formatting", params: { textDocument: { uri } } },
  ]);
  expect([code, rest]).toEqual([0, ""]);
  expect(answers.find(({ id }) => id === 2)?.result).toMatchObject([{ newText: "flow 1 a\n" }]);
});

test("a header without a length ends the process with 1, and nothing but frames was written", async () => {
  const child = spawn(process.execPath, [BIN, "lsp"], { cwd: await scratch(), stdio: "pipe" });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  child.stdin.write(
    'Content-Length: 5\r\n\r\n{ "a:Content-Length: 2\r\n\r\n[]Content-Type: x\r\n\r\n{}',
  );
  const written: Buffer[] = [];
  for await (const chunk of child.stdout) written.push(chunk as Buffer);
  const frames = String(Buffer.concat(written)).split(/Content-Length: \d+\r\n\r\n/);
  expect(frames.slice(1).map((body) => JSON.parse(body).error.code)).toEqual([-32700, -32600]);
  expect(await ended).toBe(1);
});

test("it knows the flows beside a file, and runs no code of the project", async () => {
  const cwd = await scratch();
  const marker = join(cwd, "ran");
  const trap = `require("node:fs").writeFileSync(${JSON.stringify(marker)}, "");`;
  mkdirSync(join(cwd, "trap"));
  writeFileSync(join(cwd, "trap", "index.js"), trap);
  writeFileSync(
    join(cwd, "trap", "package.json"),
    JSON.stringify({
      name: "trap",
      version: "1.0.0",
      main: "index.js",
      millrace: { entry: "index.js" },
    }),
  );
  writeFileSync(join(cwd, "millrace.json"), JSON.stringify({ extensions: ["./trap"] }));
  writeFileSync(join(cwd, "child.flow"), "flow 1 child\n\ninput size: int\n");
  const file = join(cwd, "a.flow");
  const text = 'flow 1 a\n\nnode call: subflow {\n  flow = "child"\n}\n';
  const textDocument = { uri: pathToFileURL(file).href };
  const { answers, code } = await converse(cwd, [
    ...START,
    opened(file, text),
    {
      id: 2,
      method: "textDocument/definition",
      params: { textDocument, position: { line: 3, character: 12 } },
    },
  ]);
  expect(code).toBe(0);
  expect(answers.find(({ id }) => id === 2)?.result).toMatchObject({
    uri: pathToFileURL(join(cwd, "child.flow")).href,
  });
  expect(existsSync(marker)).toBe(false);
});

test.each(["child.flow", "millrace.json", "millrace.lock.json", "services/a.json"])(
  "a pipe in the place of %s is not waited for",
  async (name) => {
    const cwd = await scratch();
    mkdirSync(join(cwd, "services"));
    mkdirSync(join(cwd, "none"));
    if (name !== "millrace.json") {
      writeFileSync(join(cwd, "millrace.json"), JSON.stringify({ extensions: ["./none"] }));
    }
    execFileSync("mkfifo", [join(cwd, name)]);
    const file = join(cwd, "a.flow");
    const text = 'flow 1 a\n\nnode call: subflow {\n  flow = "child"\n}\n';
    const { answers, code } = await converse(cwd, [...START, opened(file, text)], 2);
    expect(code).toBe(0);
    const published = answers.map(({ params }) => params?.uri).filter((uri) => uri !== undefined);
    const problem = name === "child.flow" ? "millrace.json" : name;
    expect(published).toContain(pathToFileURL(join(cwd, problem)).href);
    expect(published).toContain(pathToFileURL(file).href);
  },
);

test("a file of the project that cannot be used is a finding of that file, and the rest of the project counts", async () => {
  const cwd = await scratch();
  mkdirSync(join(cwd, "services"));
  writeFileSync(join(cwd, "millrace.json"), '{\n  "files" {}\n}\n');
  writeFileSync(join(cwd, "services", "one.json"), "[");
  writeFileSync(join(cwd, "services", "two.json"), '{"serviceIntegration": 5}');
  writeFileSync(join(cwd, "child.flow"), "flow 1 child\n");
  mkdirSync(join(cwd, "chil.flow")); // a folder is no flow
  const file = join(cwd, "a.flow");
  const text =
    'flow 1 a\n\nnode call: subflow {\n  flow = "chil"\n}\n\nnode b: subflow {\n  flow = "child"\n}\n';
  const { answers, code, rest } = await converse(cwd, [...START, opened(file, text)], 4);
  expect([code, rest]).toEqual([0, ""]);
  const found = answers.flatMap(({ params }) =>
    (params?.diagnostics ?? []).map(({ message, range }) => ({
      file: relative(cwd, fileURLToPath(params?.uri ?? "")),
      line: range.start.line,
      message: message.replaceAll(cwd, ""),
    })),
  );
  expect(found.filter((each) => each.file !== "a.flow")).toEqual([
    {
      file: "millrace.json",
      line: 1,
      message: '/millrace.json is not JSON: line 2, column 11: ":" is needed here',
    },
    { file: join("services", "one.json"), line: 0, message: "/services/one.json is not JSON" },
    {
      file: join("services", "two.json"),
      line: 0,
      message: expect.stringContaining("/services/two.json is no service: "),
    },
  ]);
  expect(found.filter((each) => each.file === "a.flow")).toContainEqual({
    file: "a.flow",
    line: 3,
    message: "flow chil does not exist",
  });
});

/** `millrace lsp` as an editor starts it: a real process, frames on stdin and stdout, the project of the file's folder. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { BIN, scratch } from "./cli.ts";
import { converse, opened, START } from "./lsp-client.ts";

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

test("it answers for a text at any address", async () => {
  const uris = [
    "file://server/share/a.flow",
    "file:///a%2Fb/c.flow",
    "file:///%E0%A4%A/a.flow",
    "untitled:a",
  ];
  const text = { languageId: "millrace-flow", version: 1, text: "flow 1 a" };
  const { answers, code, rest } = await converse(await scratch(), [
    ...START,
    ...uris.flatMap((uri, at) => [
      { method: "textDocument/didOpen", params: { textDocument: { uri, ...text } } },
      { id: 10 + at, method: "textDocument/formatting", params: { textDocument: { uri } } },
    ]),
  ]);
  expect([code, rest]).toEqual([0, ""]);
  for (const [at, uri] of uris.entries()) {
    const answer = answers.find(({ id }) => id === 10 + at)?.result;
    expect(answer, uri).toMatchObject([{ newText: "flow 1 a\n" }]);
  }
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

test("it knows the flows beside a file, and no request runs code of the project", async () => {
  const cwd = await scratch();
  const marker = join(cwd, "ran");
  const trap = `require("node:fs").writeFileSync(${JSON.stringify(marker)}, "");`;
  for (const folder of ["trap", join("node_modules", "trapped")]) {
    mkdirSync(join(cwd, folder), { recursive: true });
    writeFileSync(join(cwd, folder, "index.js"), trap);
    writeFileSync(
      join(cwd, folder, "package.json"),
      JSON.stringify({
        name: basename(folder),
        version: "1.0.0",
        main: "index.js",
        scripts: { preinstall: "node index.js", postinstall: "node index.js" },
        millrace: { manifestVersion: 1, entry: "index.js", catalog: "index.js" },
      }),
    );
  }
  for (const name of ["millrace.config.js", "index.js", "child.flow.js", ".pnpmfile.cjs"]) {
    writeFileSync(join(cwd, name), trap);
  }
  writeFileSync(join(cwd, "millrace.json"), JSON.stringify({ extensions: ["./trap", "trapped"] }));
  writeFileSync(join(cwd, "child.flow"), "flow 1 child\n\ninput size: int\n");
  const file = join(cwd, "a.flow");
  const text = 'flow 1 a\n\nnode call: subflow {\n  flow = "child"\n}\n\nnode b: trap.x {}\n';
  const textDocument = { uri: pathToFileURL(file).href };
  const position = { line: 3, character: 12 };
  const range = { start: { line: 0, character: 0 }, end: position };
  const requests: readonly (readonly [method: string, params: object])[] = [
    ["textDocument/definition", { position }],
    ["textDocument/completion", { position }],
    ["textDocument/hover", { position }],
    ["textDocument/signatureHelp", { position }],
    ["textDocument/references", { position, context: {} }],
    ["textDocument/documentHighlight", { position }],
    ["textDocument/prepareRename", { position }],
    ["textDocument/rename", { position: { line: 2, character: 6 }, newName: "other" }],
    ["textDocument/documentSymbol", {}],
    ["textDocument/foldingRange", {}],
    ["textDocument/selectionRange", { positions: [position] }],
    ["textDocument/formatting", { options: {} }],
    ["textDocument/documentLink", {}],
    ["textDocument/semanticTokens/full", {}],
    ["textDocument/semanticTokens/range", { range }],
    ["textDocument/codeAction", { range, context: { diagnostics: [] } }],
    ["workspace/executeCommand", { command: "millrace.explain", arguments: ["FLOW3001"] }],
    ["completionItem/resolve", { label: "child", data: { uri: textDocument.uri, index: 0 } }],
  ];
  const { answers, code } = await converse(cwd, [
    ...START,
    opened(file, text),
    { method: "workspace/didChangeWatchedFiles", params: { changes: [] } },
    ...requests.map(([method, params], id) => ({
      id: id + 2,
      method,
      params: { textDocument, ...params },
    })),
    { method: "textDocument/didSave", params: { textDocument } },
  ]);
  expect(code).toBe(0);
  expect(answers.find(({ id }) => id === 2)?.result).toMatchObject({
    uri: pathToFileURL(join(cwd, "child.flow")).href,
  });
  expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(existsSync(marker)).toBe(false);
});

test.each([
  { names: ["millrace.json", "child.flow"] },
  { names: ["millrace.lock.json", "services/a.json"] },
])("a pipe in the place of $names is not waited for", async ({ names }) => {
  const cwd = await scratch();
  mkdirSync(join(cwd, "services"));
  mkdirSync(join(cwd, "none"));
  if (!names.includes("millrace.json")) {
    writeFileSync(join(cwd, "millrace.json"), JSON.stringify({ extensions: ["./none"] }));
  }
  for (const name of names) execFileSync("mkfifo", [join(cwd, name)]);
  const file = join(cwd, "a.flow");
  const text = 'flow 1 a\n\nnode call: subflow {\n  flow = "child"\n}\n';
  const { answers, code } = await converse(cwd, [...START, opened(file, text)], 2);
  expect(code).toBe(0);
  const published = answers.map(({ params }) => params?.uri).filter((uri) => uri !== undefined);
  for (const name of names) {
    const problem = name === "child.flow" ? "millrace.json" : name;
    expect(published).toContain(pathToFileURL(join(cwd, problem)).href);
  }
  expect(published).toContain(pathToFileURL(file).href);
});

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
    {
      file: join("services", "one.json"),
      line: 0,
      message: expect.stringContaining("/services/one.json is not JSON: line 1, column 2"),
    },
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

import { readdirSync, readFileSync } from "node:fs";
import { checkFlow, formatFlow } from "@millrace/dsl";
import type { Project } from "@millrace/dsl/editor";
import { casesOf } from "@millrace/test-support";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { ProtocolConnection } from "vscode-languageserver-protocol/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { catalog } from "../../dsl/test/fixtures/catalog.ts";
import { connect, type Served, serve } from "./client.ts";

const folder = new URL("../../dsl/test/fixtures/flows/", import.meta.url);
const texts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));
const PAGES = texts[3] ?? "";
const URI = "file:///flows/a.flow";

/** A long text takes its time on a busy machine. */
const WAIT = { timeout: 120_000 };

let served: Served;
let client: ProtocolConnection;
let published: { uri: string; version?: number; diagnostics: Record<string, unknown>[] }[];

beforeEach(async () => {
  served = serve();
  client = await connect(served);
  published = [];
  client.onNotification("textDocument/publishDiagnostics", (params) => {
    published.push(params as never);
  });
  return async () => {
    await client.sendRequest("shutdown");
    await client.sendNotification("exit");
    expect(await served.ended).toBe(0);
  };
});

const open = (text: string, uri = URI): Promise<void> =>
  client.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "millrace-flow", version: 1, text },
  });
const change = (version: number, text: string): Promise<void> =>
  client.sendNotification("textDocument/didChange", {
    textDocument: { uri: URI, version },
    contentChanges: [{ text }],
  });
/** Everything sent before was taken. */
const settle = (): Promise<unknown> =>
  client.sendRequest("textDocument/foldingRange", { textDocument: { uri: URI } });
const ask = (method: string, params: object = {}): Promise<never> =>
  client.sendRequest(method, { textDocument: { uri: URI }, ...params });
/** The position of a text, or of a part of it. */
const at = (text: string, found: string, part = found) => ({
  position: TextDocument.create(URI, "", 1, text).positionAt(
    text.indexOf(found) + found.indexOf(part) + 1,
  ),
});

describe("diagnostics", () => {
  test("are those of a check of the flow, with code, source and version", async () => {
    const text = PAGES.replace("http.request", "htp.request");
    await open(text);
    await settle();
    served.timers.advance(0);
    await settle();
    await settle();
    const [first] = published;
    expect(first?.version).toBe(1);
    expect(first?.diagnostics.map(({ code }) => code)).toEqual(
      checkFlow(text, catalog).diagnostics.map(({ code }) => code),
    );
    expect(first?.diagnostics[0]).toMatchObject({
      source: "millrace",
      code: "FLOW3001",
      message: expect.stringContaining("; did you mean"),
    });
  });

  test("a burst of changes costs one pass, 120 ms after the last and 500 ms after the first", async () => {
    await open(PAGES);
    await settle();
    served.timers.advance(0);
    await settle();
    await settle();
    published.length = 0;
    for (let version = 2; version < 102; version += 1)
      await change(version, `${PAGES}# ${version}\n`);
    await settle();
    served.timers.advance(119);
    await settle();
    expect(published).toHaveLength(0);
    served.timers.advance(1);
    await settle();
    await settle();
    expect(published.map(({ version }) => version)).toEqual([101]);
    for (let version = 102; version < 107; version += 1) {
      await change(version, `${PAGES}# ${version}\n`);
      await settle();
      served.timers.advance(100);
    }
    await settle();
    await settle();
    expect(published).toHaveLength(2);
  });

  test("give way to requests, and to a newer text", async () => {
    const long = PAGES.replace(/^flow.*\n(?:.*\n)*?\}\n/, "").replaceAll(
      /\b(pages|best|get|score|urls)\b/g,
      "$1N",
    );
    const text = `flow 1 long\n${Array.from({ length: 40 }, (_, at) => long.replaceAll("N", String(at))).join("")}`;
    const order: string[] = [];
    client.onNotification("textDocument/publishDiagnostics", ({ version }) => {
      order.push(`published ${version}`);
    });
    served.timers.step = 1; // each look at the clock takes a millisecond
    await open(text);
    await settle();
    served.timers.advance(0);
    await settle();
    order.push("answered");
    await change(2, `${text}# more\n`);
    await settle();
    served.timers.advance(120);
    await vi.waitFor(() => expect(order).toEqual(["answered", "published 2"]), WAIT);
  });

  test("of a text above 1 MiB are found when it is opened or saved, and requests are answered", async () => {
    const node = (at: number): string =>
      `node n${at}: log {\n  message = "${"x".repeat(400)}"\n}\n`;
    const count = Math.max(2_900, casesOf(10_000_000) / node(1).length);
    const text = `flow 1 long\n\n${Array.from({ length: count }, (_, at) => node(at)).join("\n")}`;
    const versions = () => published.map(({ version }) => version);
    await open(text);
    await settle();
    served.timers.advance(0);
    await vi.waitFor(() => expect(versions()).toEqual([1]), WAIT);
    await change(2, `${text}\nnode last: htp.request`);
    expect(await ask("textDocument/hover", at(text, "log"))).toMatchObject({ contents: {} });
    expect(await ask("textDocument/formatting", { options: {} })).toHaveLength(1);
    served.timers.advance(60_000);
    await settle();
    expect(versions()).toEqual([1]);
    await client.sendNotification("textDocument/didSave", { textDocument: { uri: URI } });
    await settle();
    served.timers.advance(0);
    await vi.waitFor(() => expect(versions()).toEqual([1, 2]), WAIT);
  }, 300_000);

  test("of a text that is closed are cleared", async () => {
    await open("flow 1");
    await client.sendNotification("textDocument/didClose", { textDocument: { uri: URI } });
    await settle();
    expect(published).toEqual([{ uri: URI, diagnostics: [] }]);
  });
});

describe("requests", () => {
  test("formatting gives the edits of canonical form", async () => {
    for (const text of texts) {
      const messy = text.replaceAll("  ", "   ").replace(/\n\n/, "\n\n\n\n");
      await open(messy);
      const edits = await ask("textDocument/formatting", { options: { tabSize: 8 } });
      const document = TextDocument.create(URI, "", 1, messy);
      expect(TextDocument.applyEdits(document, edits)).toBe(formatFlow(messy).text);
    }
  });

  test("completion offers what may stand at the cursor, and its documentation when it is asked for", async () => {
    await open(PAGES);
    const items = (await ask("textDocument/completion", at(PAGES, "method = "))) as {
      label: string;
      data: unknown;
    }[];
    expect(items.map(({ label }) => label)).toContain("headers");
    const resolved = await client.sendRequest("completionItem/resolve", items[0]);
    expect(resolved).toMatchObject({ label: items[0]?.label });
  });

  test("a block is a snippet for a client that takes snippets, else its word", async () => {
    const other = serve();
    const takesSnippets = {
      textDocument: { completion: { completionItem: { snippetSupport: true } } },
    };
    const editor = await connect(other, takesSnippets);
    for (const [each, expected] of [
      [client, { textEdit: { newText: "input" } }],
      [editor, { textEdit: { newText: "input ${1:name}: ${2:string}" }, insertTextFormat: 2 }],
    ] as const) {
      await each.sendNotification("textDocument/didOpen", {
        textDocument: { uri: URI, languageId: "millrace-flow", version: 1, text: "flow 1 a\n\nin" },
      });
      const items = await each.sendRequest<{ label: string }[]>("textDocument/completion", {
        textDocument: { uri: URI },
        position: { line: 2, character: 2 },
      });
      const input = items.find(({ label }) => label === "input");
      expect(input).toMatchObject(expected);
    }
    await editor.sendRequest("shutdown");
    await editor.sendNotification("exit");
    expect(await other.ended).toBe(0);
  });

  test("a typed blank asks for completions behind `->` and `:` only", async () => {
    const text =
      "flow 1 a\n\nnode b: log\nnode d: log\n\nb -> \n\nnode e: log {\n  message = \n}\n\nnode c: ";
    await open(text);
    const offered = async (found: string, context: object | null) => {
      const items = await ask("textDocument/completion", {
        position: TextDocument.create(URI, "", 1, text).positionAt(
          text.indexOf(found) + found.length,
        ),
        context,
      });
      return (items as unknown[]).length > 0;
    };
    const blank = { triggerKind: 2, triggerCharacter: " " };
    expect(await offered("b -> ", blank)).toBe(true);
    expect(await offered("node c: ", blank)).toBe(true);
    expect(await offered("message = ", blank)).toBe(false);
    expect(await offered("message = ", { triggerKind: 1 })).toBe(true);
    expect(await offered("message = ", null)).toBe(true);
  });

  test("the meaning of a code is shown, also by a client that refuses all requests", async () => {
    const shown = new Promise<{ message: string }>((resolve) => {
      client.onNotification("window/showMessage", resolve);
    });
    await client.sendRequest("workspace/executeCommand", {
      command: "millrace.explain",
      arguments: ["FLOW3001"],
    });
    expect((await shown).message).toMatch(/^FLOW3001: [\s\S]+\n\nwrong:\n[\s\S]+\n\nright:\n/);
    expect(await ask("textDocument/hover", { position: { line: 0, character: 0 } })).toBeNull();
  });

  test("hover, signature, definition, references and highlights", async () => {
    await open(PAGES);
    const there = at(PAGES, "string(get.body)", "get");
    expect(await ask("textDocument/hover", there)).toMatchObject({
      contents: { kind: "markdown", value: expect.stringContaining("node get: http.request") },
    });
    const call = at(PAGES, "sortBy(filter(pages", "pages");
    expect(await ask("textDocument/signatureHelp", call)).toMatchObject({
      signatures: [{ label: "filter(list, x, bool) list" }],
      activeParameter: 0,
    });
    expect(await ask("textDocument/definition", there)).toMatchObject({ uri: URI });
    const context = { context: { includeDeclaration: false } };
    const all = await ask("textDocument/documentHighlight", there);
    const reads = await ask("textDocument/references", { ...there, ...context });
    expect((all as unknown[]).length).toBe((reads as unknown[]).length + 1);
  });

  test("a rename changes all places, and a refused one says why", async () => {
    await open(PAGES);
    const there = at(PAGES, "string(get.body)", "get");
    expect(await ask("textDocument/prepareRename", there)).toMatchObject({ placeholder: "get" });
    const edit = (await ask("textDocument/rename", { ...there, newName: "load" })) as {
      documentChanges: { textDocument: { version: number }; edits: never[] }[];
    };
    const [only] = edit.documentChanges;
    expect(only?.textDocument.version).toBe(1);
    const document = TextDocument.create(URI, "", 1, PAGES);
    expect(TextDocument.applyEdits(document, only?.edits ?? [])).toBe(
      PAGES.replaceAll(/\bget\b/g, "load"),
    );
    await expect(ask("textDocument/rename", { ...there, newName: "score" })).rejects.toMatchObject({
      code: -32803,
      message: "score is the name of another node; choose another name",
    });
  });

  test("code actions are the fixes in the range, one for all of them, and what a code means", async () => {
    const text = PAGES.replace("http.request", "htp.request");
    await open(text);
    const { position } = at(text, "htp.request");
    const range = { start: position, end: position };
    const quick = (await ask("textDocument/codeAction", {
      range,
      context: { diagnostics: [] },
    })) as { title: string; edit?: { documentChanges: { edits: never[] }[] } }[];
    expect(quick.map(({ title }) => title)).toEqual(["write http.request", "Explain FLOW3001"]);
    const document = TextDocument.create(URI, "", 1, text);
    const edits = quick[0]?.edit?.documentChanges[0]?.edits ?? [];
    expect(TextDocument.applyEdits(document, edits)).toBe(PAGES);
    const all = await ask("textDocument/codeAction", {
      range,
      context: { diagnostics: [], only: ["source.fixAll"] },
    });
    expect(all).toMatchObject([{ kind: "source.fixAll.millrace" }]);
  });

  test("outline, folds, selections, links and tokens", async () => {
    await open(PAGES);
    expect(await ask("textDocument/documentSymbol")).toMatchObject([{ name: "map-pages" }]);
    expect(((await ask("textDocument/foldingRange")) as unknown[]).length).toBeGreaterThan(4);
    const { position } = at(PAGES, "get.body");
    const [selection] = (await ask("textDocument/selectionRange", { positions: [position] })) as [
      { parent?: object },
    ];
    expect(selection.parent).toBeDefined();
    const { data } = (await ask("textDocument/semanticTokens/full")) as { data: number[] };
    expect(data.length % 5).toBe(0);
    expect(data.length).toBeGreaterThan(100);
    const { data: part } = (await ask("textDocument/semanticTokens/range", {
      range: { start: { line: 0, character: 0 }, end: { line: 3, character: 0 } },
    })) as { data: number[] };
    expect(part.length).toBeLessThan(data.length);
    expect(await ask("textDocument/documentLink")).toEqual([]);
  });
});

test("what the server notices is told to the client, too", async () => {
  const told = new Promise<object>((resolve) => {
    client.onNotification("window/logMessage", resolve);
  });
  await client.sendNotification("textDocument/didOpen", { textDocument: 5 } as never);
  const message = expect.stringContaining("in the parameters of textDocument/didOpen");
  expect(await told).toEqual({ type: 2, message });
  expect(served.log).toEqual([message]);
});

test("a project is read anew for the first text of its folder, and its problems also without one", async () => {
  const problem = { uri: "file:///flows/millrace.json", line: 0, character: 0, message: "broken" };
  let problems = [problem];
  let count = 0;
  const other = serve(() => {
    count += 1;
    return { ...catalog, types: () => catalog.types(), problems };
  });
  const editor = await connect(other);
  const said: [uri: string, count: number][] = [];
  editor.onNotification("textDocument/publishDiagnostics", ({ uri, diagnostics }) => {
    said.push([uri, diagnostics.length]);
  });
  const textDocument = { uri: URI };
  const first = { ...textDocument, languageId: "millrace-flow", version: 1, text: PAGES };
  const folds = () => editor.sendRequest("textDocument/foldingRange", { textDocument });
  await editor.sendNotification("textDocument/didOpen", { textDocument: first });
  await folds();
  await editor.sendNotification("textDocument/didClose", { textDocument });
  expect(await folds()).toBeNull();
  expect([count, said]).toEqual([
    1,
    [
      [problem.uri, 1],
      [URI, 0],
    ],
  ]);
  problems = [];
  await editor.sendNotification("workspace/didChangeWatchedFiles", { changes: [] });
  await vi.waitFor(() => expect(said.slice(2)).toEqual([[problem.uri, 0]]), WAIT);
  await editor.sendNotification("textDocument/didOpen", { textDocument: first });
  await folds();
  expect(count).toBe(3);
  other.input.end();
  expect(await other.ended).toBe(1);
});

test("a project that cannot be had is said by each request, and asked for again", async () => {
  const answers: (() => Project)[] = [
    () => {
      throw new Error("no such folder");
    },
    () => catalog,
  ];
  const other = serve(() => answers.shift()?.() ?? catalog);
  const editor = await connect(other);
  await editor.sendNotification("textDocument/didOpen", {
    textDocument: { uri: URI, languageId: "millrace-flow", version: 1, text: PAGES },
  });
  const folds = () =>
    editor.sendRequest("textDocument/foldingRange", { textDocument: { uri: URI } });
  await expect(folds()).rejects.toMatchObject({ code: -32603, message: /no such folder/ });
  expect(await folds()).not.toEqual([]);
  other.input.end();
  expect(await other.ended).toBe(1);
});

/** Sessions of random edits, cuts and undos over one connection: every request is answered, and the server's text is the client's. */
import { readdirSync, readFileSync } from "node:fs";
import { formatFlow } from "@millrace/dsl";
import { casesOf } from "@millrace/test-support";
import { expect, test } from "vitest";
import {
  TextDocument,
  type TextDocumentContentChangeEvent,
} from "vscode-languageserver-textdocument";
import { connect, serve } from "./client.ts";

const folder = new URL("../../dsl/test/fixtures/flows/", import.meta.url);
const texts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));
/** What people type. */
const TYPED =
  '{ } ( ) [ ] " """ \' ${ # @ : . , ?. -> => = \\ \n \r\n \t é 😀 \ud800 node nodes["'.split(" ");
/** Edits of one opened text, before another is opened. */
const EDITS_A_TEXT = 500;
/** Requests that wait at the same time. */
const AT_ONCE = 25;

/** Numbers that look random; the same for each run. */
function below(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
}

const EDITS = Number(process.env["MILLRACE_EDITS"] ?? casesOf(2_000));
/** Far more than an edit takes; for the long runs by hand. */
const TIMEOUT_MS = 180_000 + 10 * EDITS;
/** A rename that is refused. */
const REFUSED = -32803;

/** Something typed, cut, or pasted from another flow. */
function randomEdit(
  text: string,
  random: (limit: number) => number,
): [from: number, cut: number, text: string] {
  const from = random(text.length + 1);
  const kind = random(7);
  if (kind < 3) return [from, 0, TYPED[random(TYPED.length)] as string];
  if (kind === 3) return [from, random(200), ""];
  const source = texts[random(texts.length)] as string;
  const start = random(source.length);
  return [from, random(9), source.slice(start, start + random(40))];
}

test(
  "no edit, cut or undo of a text leaves a request without an answer",
  async () => {
    const random = below(Number(process.env["MILLRACE_SEED"] ?? 1));
    const served = serve();
    const client = await connect(served);
    let published = 0;
    client.onNotification("textDocument/publishDiagnostics", () => {
      published += 1;
    });
    const place = (): object => ({ line: random(60), character: random(50) });
    const methods: readonly (readonly [method: string, params: () => object])[] = [
      ["textDocument/completion", () => ({ position: place() })],
      ["textDocument/hover", () => ({ position: place() })],
      ["textDocument/signatureHelp", () => ({ position: place() })],
      ["textDocument/definition", () => ({ position: place() })],
      ["textDocument/references", () => ({ position: place(), context: {} })],
      ["textDocument/documentHighlight", () => ({ position: place() })],
      ["textDocument/prepareRename", () => ({ position: place() })],
      ["textDocument/rename", () => ({ position: place(), newName: TYPED[random(TYPED.length)] })],
      ["textDocument/documentSymbol", () => ({})],
      ["textDocument/foldingRange", () => ({})],
      ["textDocument/selectionRange", () => ({ positions: [place(), place()] })],
      ["textDocument/formatting", () => ({ options: {} })],
      ["textDocument/documentLink", () => ({})],
      ["textDocument/semanticTokens/full", () => ({})],
      ["textDocument/semanticTokens/range", () => ({ range: { start: place(), end: place() } })],
      [
        "textDocument/codeAction",
        () => ({ range: { start: place(), end: place() }, context: { diagnostics: [] } }),
      ],
    ];
    for (let done = 0; done < EDITS; done += EDITS_A_TEXT) {
      const uri = `file:///flows/${done}.flow`;
      let text = texts[random(texts.length)] as string;
      const undo: string[] = [];
      await client.sendNotification("textDocument/didOpen", {
        textDocument: { uri, languageId: "millrace-flow", version: 1, text },
      });
      let waiting: Promise<unknown>[] = [];
      for (let version = 2; version < EDITS_A_TEXT + 2; version += 1) {
        const before = TextDocument.create(uri, "", version, text);
        const earlier = random(8) === 0 ? undo.pop() : undefined;
        let change: TextDocumentContentChangeEvent;
        if (earlier === undefined) {
          undo.push(text);
          const [from, cut, newText] = randomEdit(text, random);
          const range = { start: before.positionAt(from), end: before.positionAt(from + cut) };
          change = { range, text: newText };
          text = TextDocument.applyEdits(before, [{ range, newText }]);
        } else {
          change = { text: earlier };
          text = earlier;
        }
        await client.sendNotification("textDocument/didChange", {
          textDocument: { uri, version },
          contentChanges: [change],
        });
        const [method, params] = methods[random(methods.length)] as (typeof methods)[number];
        const asked = client.sendRequest(method, { textDocument: { uri }, ...params() });
        waiting.push(
          asked.catch(({ code }) => {
            if (code !== REFUSED) throw new Error(`${method} failed with ${code}: ${text}`);
          }),
        );
        if (random(5) === 0) served.timers.advance(120);
        if (waiting.length === AT_ONCE) {
          await Promise.all(waiting);
          waiting = [];
        }
      }
      await Promise.all(waiting);
      const textDocument = { uri };
      const changes = await client.sendRequest<never[]>("textDocument/formatting", {
        textDocument,
        options: {},
      });
      const formatted = TextDocument.applyEdits(TextDocument.create(uri, "", 1, text), changes);
      expect(formatted).toBe(formatFlow(text).text);
      served.written.length = 0;
      await client.sendNotification("textDocument/didClose", { textDocument });
    }
    expect(published).toBeGreaterThan(EDITS / EDITS_A_TEXT);
    expect(served.log).toEqual([]);
    await client.sendRequest("shutdown");
    await client.sendNotification("exit");
    expect(await served.ended).toBe(0);
  },
  TIMEOUT_MS,
);

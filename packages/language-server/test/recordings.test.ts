/**
 * Recordings: what is asked about a text and what is answered, a file for each text, so that a change of an answer is a visible
 * change of a file. `vitest run -u` writes them anew.
 */
import { expect, test } from "vitest";
import { TextDocument } from "vscode-languageserver-textdocument";
import { connect, serve } from "./client.ts";

/** Texts with a cursor `¦` in each place that is asked about. */
const TEXTS: { readonly [name: string]: string } = {
  "canonical flow": `flow 1 orders {
  title = "Late orders of a shop"
}

input shop: string
input days: int = 3

node get¦: http.request {
  method = "GET"
  url = "https://\${inputs.shop¦}.example.org/orders"
  @retry = { max: 2 }
}

node late: transform {
  value = filter(get.body, order¦, order.age > inputs.days)
}

get -> ¦late

output late: object[] = late¦.value
`,
  "half-typed flow": `flow 1 orders

input days: int

node get: htp.req¦uest {
  url = "https://example.org/\${inputs.¦}"
}

node put: http.request {
  url = "https://example.org"
  meth¦
}

node late: transform {
  value = size(g¦
}
`,
  "flow with a body": `flow 1 pages

node pages: map {
  items = [1, 2, 3]
  as = "page"
  body {
    node get: http.request {
      method = "GET"
      url = "https://example.org/\${page¦}"
    }

    output = get.bo¦dy
  }
}

output all: any = pages¦.items
`,
};

/** Methods that are asked about a place. */
const AT_A_PLACE = [
  "textDocument/completion",
  "textDocument/hover",
  "textDocument/signatureHelp",
  "textDocument/definition",
  "textDocument/documentHighlight",
  "textDocument/prepareRename",
  "textDocument/selectionRange",
];
/** Methods that are asked about the text. */
const OF_THE_TEXT = [
  "textDocument/documentSymbol",
  "textDocument/foldingRange",
  "textDocument/semanticTokens/full",
  "textDocument/documentLink",
];

/** An answer in short: ranges as `line:character-line:character`, an item of a list a line, without what only the server reads. */
function inShort(answer: unknown): string {
  const short = (key: string, value: unknown): unknown => {
    if (key === "data" && !Array.isArray(value)) return undefined;
    const { start, end, line, character } = (value ?? {}) as Record<string, unknown>;
    if (typeof line === "number") return `${line}:${character}`;
    return start === undefined ? value : `${short("", start)}-${short("", end)}`;
  };
  const items = Array.isArray(answer) ? answer : [answer];
  return items.map((item) => JSON.stringify(item, short)).join("\n");
}

test.each(Object.entries(TEXTS))("answers about a %s", async (name, marked) => {
  const served = serve();
  const client = await connect(served);
  const lines: string[] = [];
  const published = new Promise<unknown>((resolve) => {
    client.onNotification("textDocument/publishDiagnostics", resolve);
  });
  const text = marked.replaceAll("¦", "");
  const textDocument = { uri: `file:///flows/${name.replaceAll(" ", "-")}.flow` };
  const ask = async (method: string, params: object = {}): Promise<void> => {
    const result = await client.sendRequest(method, { textDocument, ...params });
    lines.push(`> ${method} ${inShort(params)}`, inShort(result), "");
  };
  await client.sendNotification("textDocument/didOpen", {
    textDocument: { ...textDocument, languageId: "millrace-flow", version: 1, text },
  });
  for (const method of OF_THE_TEXT) await ask(method);
  const document = TextDocument.create(textDocument.uri, "", 1, text);
  const offsets = [...marked.matchAll(/¦/g)].map(({ index }, cursor) => index - cursor);
  for (const offset of offsets) {
    const position = document.positionAt(offset);
    for (const method of AT_A_PLACE) {
      await ask(method, method.endsWith("Range") ? { positions: [position] } : { position });
    }
  }
  await ask("textDocument/rename", {
    position: document.positionAt(offsets[0] as number),
    newName: "load",
  }).catch(({ code, message }) => lines.push(`> textDocument/rename`, `${code} ${message}`, ""));
  const range = { start: { line: 0, character: 0 }, end: document.positionAt(text.length) };
  await ask("textDocument/codeAction", { range, context: { diagnostics: [] } });
  await ask("textDocument/codeAction", {
    range,
    context: { diagnostics: [], only: ["source.fixAll"] },
  });
  await ask("textDocument/formatting", { options: {} });
  served.timers.advance(0);
  lines.push("< textDocument/publishDiagnostics", inShort(await published), "");
  await expect(lines.join("\n")).toMatchFileSnapshot(`recordings/${name.replaceAll(" ", "-")}.txt`);
  await client.sendRequest("shutdown");
  await client.sendNotification("exit");
  expect(await served.ended).toBe(0);
});

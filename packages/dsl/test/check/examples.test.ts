/** The examples have the wanted findings and no others. */
import { readdirSync, readFileSync } from "node:fs";
import { parseFlow, validateFlow } from "@millrace/dsl";
import { expect, test } from "vitest";
import { catalog } from "../fixtures/catalog.ts";

const FLOWS = new URL("../fixtures/flows/", import.meta.url);

/** What the examples are known to have: file to findings. */
const WANTED: { readonly [file: string]: readonly string[] } = {
  "02-fetch-and-save.flow": ["FLOW6005 35:17 text from fetch.body decides a file path"],
  "11-weekly-report.flow": [
    "FLOW4011 14:7 input filters is never read",
    "FLOW4011 16:7 input code is never read",
  ],
  "13-expressions.flow": ['FLOW5010 74:40 comparing int with "1" is always true'],
  "15-errors-and-defaults.flow": ["FLOW5011 46:11 condition is always false"],
};

const files = readdirSync(FLOWS).filter((file) => file.endsWith(".flow"));

test("all sixteen examples are here", () => {
  expect(files).toHaveLength(16);
});

test.each(files)("%s", (file) => {
  const source = readFileSync(new URL(file, FLOWS), "utf8");
  const { graph, document, diagnostics } = parseFlow(source);
  const found = [...diagnostics, ...validateFlow(graph, catalog, { document })].map(
    ({ code, range, message }) => `${code} ${range?.start.line}:${range?.start.column} ${message}`,
  );
  expect(found).toEqual(WANTED[file] ?? []);
});

test.each(files)("%s has the same findings when only its graph is known", (file) => {
  const { graph, document } = parseFlow(readFileSync(new URL(file, FLOWS), "utf8"));
  const codes = (list: readonly { code: string }[]): string[] =>
    list.map(({ code }) => code).sort();
  expect(codes(validateFlow(graph, catalog))).toEqual(
    codes(validateFlow(graph, catalog, { document })),
  );
});

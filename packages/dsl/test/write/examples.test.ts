import { readdirSync, readFileSync } from "node:fs";
import { digest, formatFlow, normalizeGraph, parseFlow, printFlow, reconcile } from "@millrace/dsl";
import { describe, expect, test } from "vitest";

const folder = new URL("../fixtures/flows/", import.meta.url);
const examples = readdirSync(folder).map((name) => [
  name,
  readFileSync(new URL(name, folder), "utf8"),
]);

describe.each(examples as [string, string][])("%s", (_, text) => {
  const { graph, document, diagnostics } = parseFlow(text);

  test("is read without a word", () => {
    expect(diagnostics).toEqual([]);
  });

  test("is canonical: it prints as it is written, byte for byte", () => {
    expect(printFlow(document)).toBe(text);
    expect(formatFlow(text)).toEqual({ text, changed: false, diagnostics: [] });
  });

  test("survives as a graph: printed without its comments it means the same", () => {
    const again = parseFlow(printFlow(graph));
    expect(again.graph).toEqual(graph);
    expect(digest(again.graph)).toBe(digest(graph));
    expect(normalizeGraph(graph)).toEqual(graph);
  });

  test("survives a structured clone of its document", () => {
    const clone = structuredClone(document);
    expect(printFlow(clone)).toBe(text);
    expect(printFlow(reconcile(clone, graph))).toBe(text);
  });
});

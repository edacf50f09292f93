/** `checkFlow`: text to graph with everything that is wrong with it, of syntax and of meaning. */
import type { Diagnostic } from "@millrace/contracts";
import { type ParseOptions, type ParseResult, parseFlow } from "../read/parse-flow.ts";
import type { FlowCatalog } from "./catalog.ts";
import { validateFlow } from "./validate-flow.ts";

/**
 * Reads a flow and checks it against a catalog: the findings of `parseFlow` and `validateFlow`, each once, sorted by offset,
 * then code. What could be read is checked also when the rest could not. Never throws.
 */
export function checkFlow(
  source: string | Uint8Array,
  catalog: FlowCatalog,
  options: ParseOptions & { readonly lint?: boolean } = {},
): ParseResult {
  const { graph, document, diagnostics } = parseFlow(source, options);
  const { lint = false } = options;
  const all = mergeDiagnostics(diagnostics, validateFlow(graph, catalog, { document, lint }));
  const ok = all.every(({ severity }) => severity !== "error");
  return { graph, document, diagnostics: all, ok };
}

/** Diagnostics of one flow from several checks: each once, sorted by offset, then code. */
export function mergeDiagnostics(...lists: readonly (readonly Diagnostic[])[]): Diagnostic[] {
  const unique = new Map(
    lists.flat().map((each) => [`${each.code} ${offsetOf(each)} ${each.message}`, each]),
  );
  return [...unique.values()].sort(
    (a, b) => offsetOf(a) - offsetOf(b) || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0),
  );
}

function offsetOf({ range }: Diagnostic): number {
  return range?.start.offset ?? Number.MAX_SAFE_INTEGER;
}

/** Commands of flows as text and as graph. Nothing is executed and no socket is opened. */
import type {
  CatalogEntry,
  Diagnostic,
  FlowArgs,
  FlowGraph,
  FlowReport,
} from "@millrace/contracts";
import {
  checkFlow,
  type FlowCatalog,
  formatFlow,
  isOtherDocument,
  mergeDiagnostics,
} from "@millrace/dsl";
import { compileFlow } from "@millrace/engine";
import { Answer, etagOf, pageOf, wire } from "../dispatch/index.ts";
import { known } from "../errors.ts";
import type { CommandCall, HandlerList } from "../ports.ts";
import { flowInvalid, isError, print, readDsl, sizeProblem } from "./read-flow.ts";

/** Errors that would refuse a run of the flow, warnings, and proposed schedules. No code of extensions runs, so their checks are omitted. */
async function report(args: FlowArgs, { app, host }: CommandCall): Promise<FlowReport> {
  const { catalog, registry, subflows } = host;
  const limits = { nodes: app.limits.maxNodes };
  const compile = { catalog, registry, subflows, limits, withoutCode: true };
  if (args.graph !== undefined) {
    return reportOf(args.graph, (await compileFlow(args.graph, compile)).diagnostics);
  }
  const tooLong = sizeProblem(args.dsl, app.limits.maxDslBytes);
  if (tooLong !== undefined) return { valid: false, diagnostics: [tooLong] };
  const { graph, document, diagnostics, ok } = checkFlow(args.dsl, catalog);
  if (!ok) return { valid: false, diagnostics: await translated(args.dsl, diagnostics, catalog) };
  const compiled = await compileFlow(graph, { ...compile, document, checked: diagnostics });
  return reportOf(graph, mergeDiagnostics(compiled.diagnostics));
}

/** The findings of a text; one that is a flow in JSON has the fix that writes it as text. */
async function translated(
  text: string,
  diagnostics: readonly Diagnostic[],
  catalog: FlowCatalog,
): Promise<readonly Diagnostic[]> {
  if (!isOtherDocument(text)) return diagnostics;
  const { withTranslation } = await import("@millrace/dsl/translate");
  return withTranslation(text, diagnostics, catalog);
}

function reportOf(graph: FlowGraph, diagnostics: readonly Diagnostic[]): FlowReport {
  const valid = !diagnostics.some(isError);
  const { schedules: proposed = [] } = graph;
  return { valid, diagnostics, ...(valid && proposed.length > 0 && { proposed }) };
}

// Entries never change, and hashing one costs more than everything else that its request needs.
const etags = new WeakMap<CatalogEntry, string>();

function etagOfEntry(entry: CatalogEntry): string {
  let etag = etags.get(entry);
  if (etag === undefined) {
    etag = etagOf(entry);
    etags.set(entry, etag);
  }
  return etag;
}

function matches(entry: CatalogEntry, q: string): boolean {
  const text = q.toLowerCase();
  return [entry.type, entry.title, entry.summary, ...entry.tags].some((field) =>
    field.toLowerCase().includes(text),
  );
}

/** Handlers of the commands that check, format and convert flows, and that list the types of nodes. */
export const flowHandlers: HandlerList = [
  wire("validate_flow", report),
  wire("format_flow", ({ dsl }, { app }) => {
    readDsl(dsl, app.limits.maxDslBytes);
    const { text, diagnostics } = formatFlow(dsl);
    if (diagnostics.some(isError)) throw flowInvalid(diagnostics);
    return { dsl: text };
  }),
  wire("convert_flow", (args, { app }) =>
    args.graph === undefined
      ? { graph: readDsl(args.dsl, app.limits.maxDslBytes).graph }
      : { dsl: print(args.graph) },
  ),
  wire("list_nodes", ({ q, category, ...page }, { host }) => {
    const filter = { list: "nodes", q: q ?? null, category: category ?? null };
    const all = host.registry
      .entries()
      .filter(
        (entry) =>
          (q === undefined || matches(entry, q)) &&
          (category === undefined || entry.category === category),
      );
    const found = pageOf(all, ({ type }) => type, page, { store: host.store, filter });
    return new Answer(found, { headers: { ETag: etagOf(found.items.map(etagOfEntry)) } });
  }),
  wire("get_node", ({ type }, { host }) => {
    // The newest version is the last one of its type.
    const entry = known(
      host.registry.entries().findLast((candidate) => candidate.type === type),
      "node",
    );
    return new Answer(entry, { headers: { ETag: etagOfEntry(entry) } });
  }),
];

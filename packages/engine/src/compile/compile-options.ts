/** Options of `compileFlow`, and their check. */
import type { Diagnostic, FlowGraph } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { must } from "@millrace/contracts/shape";
import type { FlowDocument } from "@millrace/dsl";
import { EngineError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import { checkOptions, FLAG, has, optionsOf, RECORD, TEXT } from "../option-rules.ts";
import type { SubflowPort } from "../options.ts";
import type { Registry } from "../registry.ts";

/** What a flow is compiled against. */
export interface CompileOptions {
  readonly registry: Registry;
  /** Where flows that this one calls come from; absent: there is none. */
  readonly subflows?: SubflowPort;
  readonly limits?: Partial<Limits>;
  /** Code of extensions is not loaded: what their own checks would find is left out. Default false. */
  readonly withoutCode?: boolean;
  /** The document that the graph was read from; adds ranges and fixes to the diagnostics. */
  readonly document?: FlowDocument;
  /** Digest of the graph, where it is known: `flowHash` of a run's header. Absent: it is made. */
  readonly hash?: string;
  /** What `validateFlow` or `checkFlow` found with the catalog of this registry: the graph is not validated again. Part of the result. */
  readonly checked?: readonly Diagnostic[] | undefined;
}

const COMPILE = optionsOf<CompileOptions>({
  registry: must(has("get", "require", "entries", "catalog"), "what createRegistry makes"),
  subflows: must(has("get"), "a port with get"),
  limits: RECORD,
  withoutCode: FLAG,
  hash: TEXT,
  document: RECORD,
  checked: must(Array.isArray, "a list of diagnostics"),
});

/** Arguments of `compileFlow`. */
export function checkCompileOptions(graph: FlowGraph, options: CompileOptions): void {
  const { graph: inner, diagnostics } = Object(graph);
  if (isObject(inner) && Array.isArray(diagnostics)) {
    const text = "compileFlow takes `parsed.graph`; this is the whole result of parseFlow";
    throw new EngineError("input_invalid", text);
  }
  checkOptions(options ?? {}, COMPILE);
  if (options?.registry === undefined) {
    throw new EngineError(
      "input_invalid",
      "options.registry is missing: compileFlow(graph, { registry: createRegistry() })",
    );
  }
}

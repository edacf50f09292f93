/** Commands of flows as text and as graph. Nothing is executed and no socket is opened. */
import type { CommandName, Diagnostic, FlowGraph } from "@millrace/contracts";
import { checkFlow, DslError, formatFlow, printFlow, validateFlow } from "@millrace/dsl";
import { type CommandHandler, wire } from "../commands/index.ts";
import { ProblemError } from "../errors.ts";
import { flowInvalid, readDsl } from "../runs/index.ts";

const isError = ({ severity }: Diagnostic): boolean => severity === "error";

function print(graph: FlowGraph): string {
  try {
    return printFlow(graph);
  } catch (error) {
    if (!DslError.isInstance(error)) throw error;
    throw new ProblemError("flow_invalid", { detail: error.message, cause: error });
  }
}

/** Handlers of validate, format and convert. */
export const flowHandlers: readonly (readonly [CommandName, CommandHandler])[] = [
  wire("validate_flow", (args, { host }) => {
    const catalog = host.registry.catalog();
    if (args.graph !== undefined) {
      const diagnostics = validateFlow(args.graph, catalog);
      return { valid: !diagnostics.some(isError), diagnostics };
    }
    const { diagnostics, ok } = checkFlow(args.dsl, catalog);
    return { valid: ok, diagnostics };
  }),
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
];

/** What runs and their nodes were given. Only what anybody with the role `read` may see is looked at. */
import { withheldFields } from "@millrace/ai";
import type { CommandResult, JsonObject, ParsedArgs, RunHeader } from "@millrace/contracts";
import { hideSecretInputs } from "@millrace/contracts";
import { REDACTED, redactedPlaces } from "@millrace/contracts/kit";
import { type NodeInputs, readNodeInputs } from "@millrace/engine";
import { wire } from "../dispatch/index.ts";
import { known } from "../errors.ts";
import { createPlans, type Plans } from "../executor/index.ts";
import { flowInvalid } from "../flows/read-flow.ts";
import type { CommandCall, HandlerList, ServerHost } from "../ports.ts";

/** The plans of the runs that a host is asked about. */
const plansByHost = new WeakMap<ServerHost, Plans>();

/** Handlers of the commands that show inputs. */
export const inputHandlers: HandlerList = [
  wire("get_run_inputs", ({ runId }, { host }) => {
    const { graph, inputs } = publicHeader(host, runId);
    const shown = cleanOf(host, hideSecretInputs(graph.inputs, inputs as JsonObject));
    return {
      inputs: shown as CommandResult<"get_run_inputs">["inputs"],
      redacted: redactedPlaces(shown),
    };
  }),
  wire("get_node_inputs", nodeInputs),
];

async function nodeInputs(
  { runId, node, attempt }: ParsedArgs<"get_node_inputs">,
  { host }: CommandCall,
): Promise<CommandResult<"get_node_inputs">> {
  const header = publicHeader(host, runId);
  const compiled = await plansOf(host).ofRun(header);
  if (!compiled.ok) throw flowInvalid(compiled.diagnostics);
  const run = { journal: host.journal, header, plan: compiled.plan };
  const given = known(await readNodeInputs(run, { node, attempt }), "node");
  return withoutPrompts({ ...given, fields: cleanOf(host, given.fields) });
}

/** A credential may have come in as an input: what the log hides is hidden here. */
function cleanOf(host: ServerHost, value: JsonObject): JsonObject {
  return host.mask?.(value) ?? value;
}

/** Without the private values, which nobody but the run reads. */
function publicHeader({ store }: ServerHost, runId: string): RunHeader {
  return known(store.runs.header(runId, { private: false }), "run");
}

function plansOf(host: ServerHost): Plans {
  const made = plansByHost.get(host);
  if (made !== undefined) return made;
  const { registry, subflows } = host;
  const plans = createPlans({ registry, subflows });
  plansByHost.set(host, plans);
  return plans;
}

/** What a node says to a model is shown where the flow lets the history keep it whole, and nowhere else. */
function withoutPrompts({ fields, ...given }: NodeInputs): CommandResult<"get_node_inputs"> {
  const withheld = withheldFields(given.type, fields);
  const shown = { ...fields, ...Object.fromEntries(withheld.map((name) => [name, REDACTED])) };
  return {
    ...given,
    fields: shown as CommandResult<"get_node_inputs">["fields"],
    redacted: redactedPlaces(shown),
  };
}

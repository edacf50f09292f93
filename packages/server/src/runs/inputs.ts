/** Inputs of runs and of their nodes. Only data that the role `read` may see is used. */
import { withoutPrompts } from "@millrace/ai";
import type { CommandResult, JsonObject, ParsedArgs, RunHeader } from "@millrace/contracts";
import { REDACTED, redactedPlaces } from "@millrace/contracts/kit";
import { readNodeInputs, readRunInputs } from "@millrace/engine";
import { readSettings } from "../config/settings.ts";
import { wire } from "../dispatch/index.ts";
import { known } from "../errors.ts";
import { createPlans, type Plans } from "../executor/index.ts";
import { flowInvalid } from "../flows/read-flow.ts";
import type { CommandCall, HandlerList, ServerHost } from "../ports.ts";

/** Plans that are kept: people ask about the nodes of one run after another. */
const MAX_PLANS = 8;

type Compiled = ReturnType<Plans["ofRun"]>;

/** The plans of the runs that a host was asked about last, by their digest, and how others are made. */
const plansByHost = new WeakMap<ServerHost, { readonly kept: Map<string, Compiled> } & Plans>();

/** Handlers of the commands that show inputs. */
export const inputHandlers: HandlerList = [
  wire("get_run_inputs", async ({ runId }, { host }) => {
    const inputs = cleanOf(host, readRunInputs(await publicHeader(host, runId)));
    return { inputs, redacted: redactedPlaces(inputs) } as CommandResult<"get_run_inputs">;
  }),
  wire("get_node_inputs", nodeInputs),
];

async function nodeInputs(
  { runId, node, attempt }: ParsedArgs<"get_node_inputs">,
  { host }: CommandCall,
): Promise<CommandResult<"get_node_inputs">> {
  const header = await publicHeader(host, runId);
  const compiled = await planOf(host, header);
  if (!compiled.ok) throw flowInvalid(compiled.diagnostics);
  const run = { journal: host.journal, header, plan: compiled.plan };
  const given = known(await readNodeInputs(run, { node, attempt }), "node");
  const { keepContent } = (await readSettings(host.store.settings)).ai;
  const shown = { mark: REDACTED, keepsContent: keepContent };
  const fields = cleanOf(host, withoutPrompts(given.type, given.fields, shown));
  return {
    ...given,
    fields,
    redacted: redactedPlaces(fields),
  } as CommandResult<"get_node_inputs">;
}

/** A credential may have come in as an input: what the log hides is hidden here. */
function cleanOf(host: ServerHost, value: JsonObject): JsonObject {
  return host.mask?.(value) ?? value;
}

/** Without the private values, which only the run may read. */
async function publicHeader({ store }: ServerHost, runId: string): Promise<RunHeader> {
  return known(await store.runs.header(runId, { private: false }), "run");
}

function planOf(host: ServerHost, header: RunHeader): Compiled {
  const { registry, subflows } = host;
  const plans = plansByHost.get(host) ?? {
    kept: new Map<string, Compiled>(),
    ...createPlans({ registry, subflows }),
  };
  plansByHost.set(host, plans);
  const { kept } = plans;
  const { planDigest } = header;
  const compiled = kept.get(planDigest) ?? plans.ofRun(header);
  kept.delete(planDigest);
  kept.set(planDigest, compiled); // as the newest
  compiled.catch(() => kept.delete(planDigest)); // where flows come from was away
  const [oldest] = kept.keys();
  if (kept.size > MAX_PLANS && oldest !== undefined) kept.delete(oldest);
  return compiled;
}

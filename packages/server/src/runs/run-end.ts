/** The end of a run: the states that are one, and outputs that are beside the log because they are large. */
import type { Json, JsonObject, SummaryPayload } from "@millrace/contracts";

const ENDED: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);

/** Whether nothing follows this state. */
export function isEnded(state: string): boolean {
  return ENDED.has(state);
}

/** Reads by their references what a summary has not; one that was kept nowhere is absent. */
export async function wholeOutputs(
  { outputs, outputRefs = {} }: Pick<SummaryPayload, "outputs" | "outputRefs">,
  read: (ref: string) => Promise<Json | undefined>,
): Promise<JsonObject> {
  const all: Record<string, Json> = { ...outputs };
  for (const [name, { ref }] of Object.entries(outputRefs)) {
    const value = ref === "" ? undefined : await read(ref);
    if (value !== undefined) all[name] = value;
  }
  return all;
}

/** The last inputs with which each flow was started from this tab, without secrets. They are kept in `sessionStorage`. */
import { type FlowInput, hideSecretInputs, type Json, type JsonObject } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { keptByTab } from "./storage.ts";

const PREFIX = "millrace.inputs.";
/** Longest text that is kept for a flow, in UTF-16 units. */
const MAX_LENGTH = 100_000;

/** Keeps inputs; one that holds a secret is left out as a whole. */
export function keepInputs(
  key: string | undefined,
  declared: readonly FlowInput[],
  values: Readonly<Record<string, Json>>,
): void {
  if (key === undefined) return;
  const shown = hideSecretInputs(declared, values);
  const open = Object.entries(values).filter(([name, value]) => shown[name] === value);
  const text = JSON.stringify(Object.fromEntries(open));
  if (text.length <= MAX_LENGTH) keptByTab.set(PREFIX + key, text);
  else keptByTab.remove(PREFIX + key);
}

/** The inputs that were kept and that the flow still has. */
export function keptInputs(key: string | undefined, declared: readonly FlowInput[]): JsonObject {
  const text = key === undefined ? null : keptByTab.get(PREFIX + key);
  if (text === null) return {};
  try {
    const kept = JSON.parse(text) as Json;
    const names = new Set(declared.map(({ name }) => name));
    const known = Object.entries(isObject(kept) ? kept : {}).filter(([name]) => names.has(name));
    return Object.fromEntries(known) as JsonObject;
  } catch {
    return {};
  }
}

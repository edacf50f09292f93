/** The function whose arguments the cursor is in. */

import type { FunctionInfo } from "../expression/functions/define.ts";
import { listFunctions } from "../expression/functions/list.ts";
import { placeAt } from "./cursor-place.ts";
import type { Signature } from "./types.ts";

/** The functions by name; listed once, when an editor first asks. */
let known: ReadonlyMap<string, FunctionInfo> | undefined;

/** A function or macro of the language by name. */
export function functionNamed(name: string): FunctionInfo | undefined {
  known ??= new Map(listFunctions().map((info) => [info.name, info]));
  return known.get(name);
}

/** The call around an offset; the text need not parse. */
export function signatureAt(text: string, offset: number): Signature | undefined {
  const { levels, inside } = placeAt(text, offset);
  if (inside === "comment" || inside === "block-string") return undefined;
  const index = levels.findLastIndex(({ kind }) => kind === "group");
  // A hole or a block between the call and the cursor begins something else.
  const isApart = levels.slice(index + 1).some(({ kind }) => kind === "hole" || kind === "block");
  const level = levels[index];
  if (level === undefined || isApart) return undefined;
  const name = /([A-Za-z_]\w*)[ \t]*$/.exec(text.slice(Math.max(0, level.at - 64), level.at))?.[1];
  const info = name === undefined ? undefined : functionNamed(name);
  if (info === undefined) return undefined;
  const { signature, summary, parameters } = info;
  const isRest = signature.includes("…");
  const active = isRest ? Math.min(level.count, parameters.length - 1) : level.count;
  return { label: signature, documentation: summary, parameters, active };
}

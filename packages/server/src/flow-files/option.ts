/** The option for a folder of flows. */
import { isAbsolute } from "node:path";

/** A folder of flows. */
export interface FlowsOption {
  /** Absolute folder. Its files are read, written and deleted by the commands on templates. */
  readonly dir: string;
  /** Receives a sentence about each file that is no template, or has another name here. Default: the log. */
  readonly report?: (text: string) => void;
}

/** The problem of the option of a server, as the rest of a sentence. */
export function flowsProblem(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "must be an object";
  const { dir, report, ...rest } = value as { readonly [name: string]: unknown };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return `has no member "${unknown}"`;
  if (typeof dir !== "string" || !isAbsolute(dir)) return 'has a "dir" that is no absolute folder';
  const isRight = report === undefined || typeof report === "function";
  return isRight ? undefined : 'has a "report" that is no function';
}

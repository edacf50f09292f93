/** Keys that nothing reads: most likely misspelt. */
import { clean } from "../render/text.ts";
import type { ConfigFile } from "./files.ts";
import { CONFIG_KEYS, topNames } from "./keys.ts";
import { isRecord } from "./record.ts";

/** A warning for each unknown key, with the nearest known one. */
export async function unknownKeys(file: ConfigFile | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  const lines: string[] = [];
  const known = new Set([...CONFIG_KEYS.map(({ key }) => key), ...topNames()]);
  for (const key of keysOf(file.values)) {
    if (known.has(key)) continue;
    // Loaded when there is one.
    const { nearestName } = await import("@millrace/dsl/explain");
    const near = nearestName(key, known);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    lines.push(`${file.path}: unknown key "${clean(key)}" has no effect${hint}`);
  }
  return lines;
}

/** Keys as far down as the table names them: members of a record are its own business. */
function keysOf(values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const isGroup = CONFIG_KEYS.some(({ key }) => key.startsWith(`${name}.`));
    if (!isGroup || !isRecord(value)) return [name];
    return Object.keys(value).map((inner) => `${name}.${inner}`);
  });
}

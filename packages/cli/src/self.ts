/** The command itself as a program: what must be killable runs in a process of its own. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Path of the script that `node` starts. */
export const BIN: string = fileURLToPath(new URL("../bin/millrace.js", import.meta.url));

export function ownVersion(): string {
  const file = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

/** The command itself as a program: what must be killable runs in a process of its own. */
import { fileURLToPath } from "node:url";

/** Path of the script that `node` starts. */
export const BIN: string = fileURLToPath(new URL("../bin/millrace.js", import.meta.url));

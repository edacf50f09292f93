/** Paths as flows write them: relative, `/` between the parts, nothing that means something else on another system. */
import { denied } from "./failures.ts";

const MAX_PATH = 1_024;

const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\.|$)/i;

/** The parts of a path; none for the root itself (`.`). Throws `file_denied`. */
export function partsOf(path: string): readonly string[] {
  if (path === ".") return [];
  if (path.length === 0 || path.length > MAX_PATH) {
    throw denied(path, `is not 1 to ${MAX_PATH} characters long`);
  }
  if (path.startsWith("/")) throw denied(path, "is absolute; write it relative to the root");
  const parts = path.replace(/^\.\//, "").split("/");
  for (const part of parts) {
    const problem = partProblem(part);
    if (problem !== undefined) throw denied(path, problem);
  }
  return parts;
}

/** Whether a flow can name a file that is called so. */
export function isPart(name: string): boolean {
  return partProblem(name) === undefined;
}

function partProblem(part: string): string | undefined {
  if (part === "") return "has an empty part";
  if (part === "..") return "leaves the root";
  if (/[\\:\0/]/.test(part)) return "holds a backslash, a colon or NUL";
  if (/[. ]$/.test(part)) return "has a part that ends in a dot or a blank";
  if (DEVICE.test(part)) return "names a device of some systems";
  return undefined;
}

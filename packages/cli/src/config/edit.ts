/** Writing one key of a configuration file; the file is replaced as a whole. */
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { usage } from "../errors.ts";
import { reason } from "../file-reason.ts";
import { readConfig } from "./files.ts";
import { withValue } from "./values.ts";

/** Sets a key of the file, which is made when there is none; undefined takes it out. */
export async function editConfig(path: string, key: string, value: unknown): Promise<void> {
  const file = await readConfig(path);
  const values = withValue(file?.values ?? {}, key, value);
  const part = `${path}.${process.pid}.part`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(part, `${JSON.stringify(values, null, 2)}\n`);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw usage(`cannot write ${path}: ${reason(error)}`);
  }
}

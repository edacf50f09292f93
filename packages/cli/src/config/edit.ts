/** Writing one key of a configuration file; the file is replaced as a whole. */
import { replaceFile } from "../replace-file.ts";
import { readConfig } from "./files.ts";
import { withValue } from "./values.ts";

/** Sets a key of the file, which is made when there is none; undefined takes it out. */
export async function editConfig(path: string, key: string, value: unknown): Promise<void> {
  const file = await readConfig(path);
  const values = withValue(file?.values ?? {}, key, value);
  await replaceFile(path, `${JSON.stringify(values, null, 2)}\n`);
}

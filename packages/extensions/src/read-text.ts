/** Text of a file of a package, bounded: a package may hold anything in the place of a file. */
import { lstat, readFile } from "node:fs/promises";

/** The text of a regular file of at most `maxBytes`; throws for whatever else is there. */
export async function readText(path: string, maxBytes: number): Promise<string> {
  const info = await lstat(path);
  if (!info.isFile()) throw new TypeError(`${path} is no file`);
  if (info.size > maxBytes) throw new TypeError(`${path} has more than ${maxBytes} bytes`);
  return readFile(path, "utf8");
}

/** Of a `package.json`; what people write has a hundredth of it. */
export const MANIFEST_BYTES = 1_048_576;
/** Of a `catalog.json`, as large as an imported document may be. */
export const CATALOG_BYTES = 10_485_760;

/** The key under which an installation digests prompts: plain hashes of short texts can be guessed. */
import { randomBytes } from "node:crypto";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";

const FILE = "audit.key";
const KEY_BYTES = 32; // of HMAC-SHA-256

/** Reads the key of a data folder, for its owner only, and makes it where there is none. Rejects as the file system does. */
export async function loadAuditKey(folder: string): Promise<Uint8Array> {
  const path = join(folder, FILE);
  await mkdir(folder, { recursive: true });
  try {
    const file = await open(path, "wx", 0o600);
    try {
      const key = randomBytes(KEY_BYTES);
      await file.writeFile(key);
      await file.sync();
      return key;
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const key = await readFile(path);
  // Another process may be writing it at this moment, or died while it did; a key of its own harms only comparisons.
  return key.length === KEY_BYTES ? key : randomBytes(KEY_BYTES);
}

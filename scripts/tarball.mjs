/** Files of a packed package, without a program of the machine. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const BLOCK_BYTES = 512; // of a tar archive (POSIX.1-1988, ustar)

/**
 * The bytes of each file in a `.tgz`, by its path in the archive.
 * @param {string} file
 * @returns {Map<string, Buffer>}
 */
export function readTarball(file) {
  const bytes = gunzipSync(readFileSync(file));
  const field = (at, length) => bytes.toString("latin1", at, at + length).replace(/\0.*$/s, "");
  const files = new Map();
  for (let at = 0; bytes[at] > 0; ) {
    const size = Number.parseInt(field(at + 124, 12), 8);
    const prefix = field(at + 345, 155);
    const name = `${prefix === "" ? "" : `${prefix}/`}${field(at, 100)}`;
    const start = at + BLOCK_BYTES;
    files.set(name, bytes.subarray(start, start + size));
    at = start + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
  return files;
}

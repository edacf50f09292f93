/** Files of a packed package, read without a program of the machine, and what may not be among them. */
import { readFileSync } from "node:fs";
import { posix } from "node:path";
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

/**
 * What may not be in a packed package, one sentence each: a path of the machine that built it, and maps that lead nowhere.
 * @param {ReadonlyMap<string, Buffer>} files as `readTarball` answers
 * @param {string} root the folder of the repository on this machine
 * @returns {string[]}
 */
export function packedProblems(files, root) {
  return [...files].flatMap(([name, bytes]) => {
    const problems = [];
    if (bytes.includes(root)) problems.push(`${name}: holds the path ${root}`);
    if (name.endsWith(".d.ts.map")) problems.push(`${name}: its sources are not packed`);
    else if (name.endsWith(".map")) {
      const { sources, sourcesContent = [] } = JSON.parse(String(bytes));
      const dead = sources.filter((_, index) => typeof sourcesContent[index] !== "string");
      problems.push(...dead.map((source) => `${name}: ${source} is neither packed nor in the map`));
    } else if (/\.(?:js|ts)$/.test(name)) {
      const [, map] = /^\/\/# sourceMappingURL=(.*)$/m.exec(String(bytes)) ?? [];
      const path = map === undefined ? undefined : posix.join(posix.dirname(name), map);
      if (path !== undefined && !files.has(path)) problems.push(`${name}: its map is not packed`);
    }
    return problems;
  });
}

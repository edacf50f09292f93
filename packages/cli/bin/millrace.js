#!/usr/bin/env node
// Committed, so that an install links `millrace` before anything is built. Loads dist/bin.cjs with the bytecode that V8 made for
// the same command before: it has the functions that the command called, where the compile cache of Node has those of the first
// level alone. Whatever is wrong with a cache, the command runs without it. @see docs/decisions/0090
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

const CRC_BYTES = 4;
const OTHERS_MAY_WRITE = 0o022;

const [, , word = "help", ...words] = process.argv;
const wantsHelp = words.some((given) => given === "--help" || given === "-h");
const command = wantsHelp || !/^[a-z]+$/.test(word) ? "help" : word;
/** The path that Node gives the file: links are followed, so that a file of dist that Node loads finds what is loaded here. */
const entry = createRequire(import.meta.url).resolve("../dist/bin.cjs");
const external = createRequire(entry);
const dist = dirname(entry);
const folder = cacheFolder();
const scripts = new Map();
let isComplete = true;

/** Takes the place of `require` in the files of dist. */
function load(name) {
  if (!name.startsWith("./")) return external(name);
  const filename = join(dist, name);
  if (filename in external.cache) return external.cache[filename].exports;
  const source = readFileSync(filename);
  if (source.includes("import(")) return external(filename); // fails in a script with a cache, on Node 20
  const module = new Module(filename);
  module.loaded = true; // for the files that Node loads, which require this one
  external.cache[filename] = module;
  const crc = crc32(source);
  const file = folder && join(folder, `${command}-${name.slice(2)}`);
  const script = new Script(`(function (exports, require, module, __filename) {${source}\n})`, {
    filename,
    cachedData: file && cached(file, crc),
  });
  if (script.cachedDataRejected !== false) isComplete = false;
  if (file) scripts.set(file, { script, crc });
  script.runInThisContext()(module.exports, load, module, filename);
  return module.exports;
}

/** Bytecode of the source with this checksum. V8 checks its version and flags, not whether the data is damaged: a checksum ends it. */
function cached(file, crc) {
  try {
    const bytes = readFileSync(file);
    const data = bytes.subarray(0, -CRC_BYTES);
    return crc32(data, crc) === bytes.readUInt32LE(data.length) ? data : undefined;
  } catch {
    return undefined; // the first start of this command, as a rule
  }
}

/** Writes what each file has by now: a start that needs one file more has called other functions of the rest, too. */
function keep() {
  for (const [file, { script, crc }] of scripts) {
    const written = `${file}.${process.pid}`;
    try {
      const data = script.createCachedData();
      const end = Buffer.alloc(CRC_BYTES);
      end.writeUInt32LE(crc32(data, crc));
      writeFileSync(written, Buffer.concat([data, end]), { mode: 0o600 });
      renameSync(written, file); // others that start now read all of it, or nothing
    } catch {
      rmSync(written, { force: true }); // a full disk, say: the next start compiles again
    }
  }
}

/**
 * A folder in which only this user can write, since bytecode is a program; undefined where that cannot be had. One of this
 * install, since stack traces have the paths of the bytecode, and of this processor, which V8 does not check.
 */
function cacheFolder() {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE, LOCALAPPDATA } = process.env;
  if (NODE_DISABLE_COMPILE_CACHE !== undefined) return undefined;
  const user = process.getuid?.();
  try {
    // Windows has no owner to look at, and its services share one folder of temporary files with all users.
    const base = NODE_COMPILE_CACHE || (user === undefined ? join(LOCALAPPDATA, "Temp") : tmpdir());
    if (!isAbsolute(base)) return undefined; // may be in a project of others, with bytecode of theirs
    const { version, arch } = process;
    const install = crc32(dist).toString(16);
    const path = join(base, `millrace-${version}-${arch}-${install}-${user ?? "user"}`);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(path);
    const own = user === undefined || (uid === user && (mode & OTHERS_MAY_WRITE) === 0);
    return own ? path : undefined;
  } catch {
    return undefined;
  }
}

process.on("exit", (code) => {
  if (code !== 0 || isComplete) return; // a start that failed ends early, and a word may be no command at all
  try {
    keep();
  } catch {
    // The folder is gone, or may no longer be searched: nothing can be removed from it either.
  }
});
// The one place that may end the process at once: a second interrupt, or a handle that keeps a finished command alive.
await load("./bin.cjs").start((code) => process.exit(code));

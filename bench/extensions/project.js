// A project with extensions, as data: packages with a code, a catalog and a lock, in a temporary folder.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  catalogOf,
  contributesOf,
  importDefinition,
  inspectExtension,
  writeLock,
} from "@millrace/extensions";

/**
 * Source of an extension with `count` actions `<id>.go0`, `<id>.go1` …, each of which answers what it gets, and for -1 the
 * microseconds of the processor that its process has taken.
 */
const codeOf = (id, count) => `
const mark = (kind, value) => Object.freeze({ ...value, apiVersion: 1, [Symbol.for("millrace.extension.v1")]: kind });
const fields = { type: "object", properties: { value: { type: "number" } }, additionalProperties: false };
const output = { type: "object", properties: { value: { type: "number" } } };
const spent = () => { const { user, system } = process.cpuUsage(); return { value: user + system }; };
const actions = Array.from({ length: ${count} }, (_, at) => mark("action", { name: "go" + at, title: "Action " + at,
  summary: "Answers what it gets.", effect: "pure", fields, output, run: (given) => given.value === -1 ? spent() : given }));
export default mark("extension", { adapters: [mark("adapter", { id: "${id}", title: "Bench", actions })], providers: [], nodeTypes: [], services: [] });
`;

/** Writes a project with these extensions, `{ id, count, mode }`. Answers its folder, names, and what takes it away. */
export async function projectOf(extensions) {
  const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  const lock = new Map();
  for (const { id, count, mode } of extensions) {
    const at = join(folder, id);
    mkdirSync(at);
    const write = (name, text) => writeFileSync(join(at, name), text);
    const base = { name: id, version: "1.0.0", type: "module" };
    write("package.json", JSON.stringify(base));
    write("extension.js", codeOf(id, count));
    const catalog = catalogOf(await importDefinition(join(at, "extension.js")));
    write("catalog.json", JSON.stringify(catalog));
    const millrace = {
      apiVersion: 1,
      entry: "./extension.js",
      catalog: "./catalog.json",
      contributes: contributesOf(catalog),
      permissions: {},
    };
    write("package.json", JSON.stringify({ ...base, millrace }));
    const { manifestDigest, treeDigest } = await inspectExtension(folder, `./${id}`);
    const digests = { manifestDigest, treeDigest };
    const granted = { version: "1.0.0", integrity: "", source: "path", granted: {} };
    lock.set(`./${id}`, { ...granted, ...digests, mode });
  }
  await writeLock(folder, lock);
  const list = [...lock.keys()];
  return { folder, list, remove: () => rmSync(folder, { recursive: true }) };
}

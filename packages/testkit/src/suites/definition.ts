/** Laws of a definition and its package: manifest and catalog match the code. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { catalogEntriesOf, definitionKind, type ExtensionDefinition } from "@millrace/contracts";
import { createRegistry } from "@millrace/engine";
import {
  catalogOf,
  contributesOf,
  type ExtensionManifest,
  parseManifest,
} from "@millrace/extensions";
import type { ConformanceCase, ConformanceOptions } from "../fixtures.ts";
import { STANDARD_TYPES } from "../host/standard-types.ts";
import { typesOfExtension } from "../host/watched-types.ts";
import { samplesOf, secretsOf } from "./run-fixture.ts";

/** Longest time that an import may take; a host waits no longer. */
const IMPORT_MS = 5_000;

/** State of a process before and after an import. */
const PROBE = `
const writes = [];
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream);
  stream.write = (text, ...rest) => { if (!String(text).startsWith("{")) writes.push("console"); return write("", ...rest); };
  stream.real = write;
}
const handles = () => process.getActiveResourcesInfo().filter((name) => !/^(?:PipeWrap|TTYWrap|FSReq|CloseReq)/.test(name));
const before = new Set(Object.getOwnPropertyNames(globalThis));
const open = handles().length;
await import(process.argv[1]);
await new Promise((resolve) => setImmediate(resolve));
const globals = Object.getOwnPropertyNames(globalThis).filter((name) => !before.has(name));
const left = handles();
process.stdout.real(JSON.stringify({ globals, handles: left.length > open ? left : [], writes }));
process.exit(0);
`;

export function definitionCases(
  extension: ExtensionDefinition,
  options: ConformanceOptions,
): readonly ConformanceCase[] {
  const { package: folder } = options;
  return [
    {
      name: "definition: the default export is an extension, and its ids are legal and free",
      async run() {
        assert.equal(
          definitionKind(extension),
          "extension",
          "export defineExtension(…) by default",
        );
        createRegistry([STANDARD_TYPES, extension]);
      },
    },
    {
      name: "definition: the catalog comes out the same each time",
      async run() {
        const [one, two] = [1, 2].map(() => JSON.stringify(catalogEntriesOf(extension)));
        assert.equal(one, two);
      },
    },
    {
      name: "definition: every type has a fixture or an example",
      async run() {
        const sampled = new Set(samplesOf(extension, options).map(({ type }) => type));
        const missing = typesOfExtension(extension).filter((type) => !sampled.has(type));
        assert.deepEqual(missing, [], "nothing shows how to run these types");
      },
    },
    ...(folder === undefined ? [] : packageCases(extension, folder)),
  ];
}

function packageCases(extension: ExtensionDefinition, folder: string): readonly ConformanceCase[] {
  const manifest = async (): Promise<ExtensionManifest> =>
    parseManifest(await readFile(join(folder, "package.json"), "utf8"));
  return [
    {
      name: "definition: the manifest says what the code contributes, no more and no less",
      async run() {
        const { contributes } = await manifest();
        assert.deepEqual(contributes, contributesOf(catalogOf(extension)), "the manifest lies");
      },
    },
    {
      name: "definition: the manifest asks for every secret that the code wants",
      async run() {
        const { permissions } = await manifest();
        const asked = new Set(permissions.secrets ?? []);
        const missing = secretsOf(extension).filter((name) => !asked.has(name));
        assert.deepEqual(missing, [], "the manifest does not ask for these secrets");
      },
    },
    {
      name: "definition: catalog.json is that of the code",
      async run() {
        const { catalog } = await manifest();
        const written = JSON.parse(await readFile(join(folder, catalog), "utf8")) as unknown;
        const made = JSON.parse(JSON.stringify(catalogOf(extension))) as unknown;
        assert.deepEqual(written, made, "the catalog is stale: run millrace ext build");
      },
    },
    {
      name: "definition: importing it starts nothing, writes nothing, leaves no global",
      async run() {
        const { entry } = await manifest();
        const url = pathToFileURL(join(folder, entry)).href;
        const args = ["--input-type=module", "-e", PROBE, url];
        const { stdout } = await promisify(execFile)(process.execPath, args, {
          timeout: IMPORT_MS,
        });
        assert.deepEqual(JSON.parse(stdout), { globals: [], handles: [], writes: [] });
      },
    },
  ];
}

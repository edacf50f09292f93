/** A project with extensions in a temporary folder: packages as they are installed, catalogs as they are built, and the lock. */
import {
  cpSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Permissions } from "@millrace/contracts";
import {
  catalogOf,
  contributesOf,
  type ExtensionMode,
  importDefinition,
  inspectExtension,
  readLock,
  writeLock,
} from "@millrace/extensions";
import { temporaryFolder } from "./folder.ts";

const CONTRACTS = fileURLToPath(new URL("../../contracts", import.meta.url));

export interface Package {
  /** `@acme/<name>`, installed; with `./` in front a folder of the project. */
  readonly name: string;
  readonly code: string;
  /** Source that the catalog is made from; default `code`. */
  readonly catalogCode?: string;
  readonly permissions?: Permissions;
  readonly mode?: ExtensionMode;
  /** What is granted; default all that it asks for. */
  readonly granted?: Permissions;
  readonly manifest?: { readonly [member: string]: unknown };
  readonly peer?: string;
  /** Whether it is in the lock; default true. */
  readonly locked?: boolean;
}

export async function extensionProject(
  packages: readonly Package[],
  folder: string = temporaryFolder(),
): Promise<string> {
  installContracts(join(folder, "node_modules", "@millrace", "contracts"));
  symlinkSync(
    realpathSync(join(CONTRACTS, "node_modules", "zod")),
    join(folder, "node_modules", "zod"),
  );
  const lock = new Map(await readLock(folder));
  for (const one of packages) {
    await writePackage(folder, one);
    if (one.locked === false) continue;
    const { manifest, manifestDigest, treeDigest } = await inspectExtension(folder, one.name);
    lock.set(one.name, {
      version: manifest.version,
      integrity: "",
      manifestDigest,
      treeDigest,
      source: one.name.startsWith("./") ? "path" : "npm",
      mode: one.mode ?? "child",
      granted: one.granted ?? manifest.permissions,
    });
  }
  await writeLock(folder, lock);
  return folder;
}

/** A copy of the built package, as a package manager puts it there; the one of the workspace leads to sources in tests. */
function installContracts(at: string): void {
  cpSync(join(CONTRACTS, "dist"), join(at, "dist"), { recursive: true });
  const { version } = JSON.parse(readFileSync(join(CONTRACTS, "package.json"), "utf8"));
  const file = { name: "@millrace/contracts", version, type: "module", exports: "./dist/index.js" };
  writeFileSync(join(at, "package.json"), JSON.stringify(file));
}

export function packageFolder(project: string, name: string): string {
  return name.startsWith("./") ? join(project, name) : join(project, "node_modules", name);
}

async function writePackage(project: string, one: Package): Promise<void> {
  const { name, code, catalogCode = code, permissions = {}, manifest = {}, peer = "*" } = one;
  const at = packageFolder(project, name);
  const entry = join(at, "dist", "extension.js");
  const draft = join(at, "dist", "draft.js");
  mkdirSync(dirname(entry), { recursive: true });
  // One file per catalog: a module that was imported once stays what it was.
  writeFileSync(draft, catalogCode);
  const packageName = name.replace(/^\.\/(?:.*\/)?/, "");
  writeFileSync(join(at, "package.json"), '{ "type": "module" }');
  const catalog = catalogOf(await importDefinition(draft));
  rmSync(draft);
  writeFileSync(entry, code);
  writeFileSync(join(at, "dist", "catalog.json"), JSON.stringify(catalog));
  const file = {
    name: packageName,
    version: "1.4.0",
    type: "module",
    exports: { ".": "./dist/extension.js" },
    peerDependencies: { "@millrace/contracts": peer, zod: "*" },
    millrace: {
      apiVersion: 1,
      entry: "./dist/extension.js",
      catalog: "./dist/catalog.json",
      contributes: contributesOf(catalog),
      permissions,
      ...manifest,
    },
  };
  writeFileSync(join(at, "package.json"), JSON.stringify(file, null, 2));
}

export function changeFile(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

/** Source of an extension with one adapter; `actions` is the source of its list. */
export function adapterCode(id: string, actions: string, head = ""): string {
  return `${head}
import { defineAction, defineActionAdapter, defineExtension, exit, jsonSchema, NodeError } from "@millrace/contracts";
const any = jsonSchema({ type: "object" });
const text = { title: "T", summary: "S" };
export default defineExtension({ adapters: [defineActionAdapter({ id: "${id}", title: "X", actions: [${actions}] })] });
`;
}

/** Source of one action that takes anything and answers an object. */
export function actionCode(name: string, run: string, more = 'effect: "read"'): string {
  return `defineAction({ ...text, name: "${name}", fields: any, output: any, ${more}, run: ${run} })`;
}

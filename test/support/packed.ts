/**
 * Our packages as a reader gets them: packed as they are published, and installed from the tarballs into a project outside of
 * this repository. No network is used: packages of others are linked to where this repository has them.
 */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageFolders } from "../../scripts/package-folders.mjs";

/** Folder of this repository. */
export const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));

const BIN = join(ROOT, "node_modules/.bin");

/** Folders of what is published: `packages/dsl`. */
export const PUBLISHED: readonly string[] = packageFolders(ROOT).filter(
  (folder) => manifestOf(folder).private !== true,
);

/** What a project may install. */
export interface Packed {
  /** Names of our packages. */
  readonly names: readonly string[];
  /** Folder of their tarballs. */
  readonly tarballs: string;
  /** Installs what the `package.json` of `project` asks for. */
  install(project: string): void;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function manifestOf(folder: string): Manifest {
  const path = join(ROOT, folder, "package.json");
  return JSON.parse(readFileSync(path, "utf8")) as Manifest;
}

let packed: Packed | undefined;

/** Packs every package, once for all tests of this process. They must be built. */
export function packAll(): Packed {
  packed ??= pack();
  return packed;
}

function pack(): Packed {
  const folder = mkdtempSync(join(tmpdir(), "millrace-tarballs-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const tarballs = join(folder, "tarballs");
  const filters = ["packages", "extensions"].flatMap((kind) => ["--filter", `./${kind}/*`]);
  pnpm(["-r", ...filters, "pack", "--pack-destination", tarballs], ROOT);
  const overrides: Record<string, string> = {};
  const names: string[] = [];
  for (const each of PUBLISHED) {
    const at = join(ROOT, each);
    const { name, version, dependencies, optionalDependencies } = manifestOf(each);
    names.push(name);
    overrides[name] = `file:${join(tarballs, `${name.slice(1).replace("/", "-")}-${version}.tgz`)}`;
    for (const other of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (!other.startsWith("@millrace/")) link(overrides, other, join(at, "node_modules", other));
    }
  }
  for (const tool of ["typescript", "@types/node"]) {
    link(overrides, tool, join(ROOT, "node_modules", tool));
  }
  return {
    names,
    tarballs,
    install(project) {
      // YAML holds JSON. Without a lock file, so that what is run there later takes npm for its package manager.
      // Commands are links, as npm makes them: scripts of pnpm need sed.
      const settings = { overrides, autoInstallPeers: false, preferSymlinkedExecutables: true };
      writeFileSync(join(project, "pnpm-workspace.yaml"), JSON.stringify(settings));
      const store = join(folder, "store");
      pnpm(["install", "--offline", "--no-lockfile", "--store-dir", store], project);
    },
  };
}

/** An optional package may be missing on this machine. */
function link(overrides: Record<string, string>, name: string, at: string): void {
  if (existsSync(at)) overrides[name] = `link:${realpathSync(at)}`;
}

function pnpm(args: readonly string[], cwd: string): void {
  const { PATH = "" } = process.env;
  try {
    execFileSync(join(BIN, "pnpm"), args, {
      cwd,
      encoding: "utf8",
      env: { ...process.env, PATH: `${BIN}${delimiter}${PATH}`, CI: "1" },
      stdio: "pipe",
    });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`pnpm ${args[0]} in ${cwd} failed:\n${stdout}${stderr}`);
  }
}

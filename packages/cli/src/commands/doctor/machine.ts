/** Checks of this machine: Node, the data folder, SQLite and the store in it; the configuration, its trust, its extensions. */
import { existsSync } from "node:fs";
import { access, constants, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { misfit } from "../../config/keys.ts";
import { ALL_KEYS } from "../../config/limit-keys.ts";
import { unknownKeys } from "../../config/load.ts";
import { readExtensionList } from "../../config/sections.ts";
import { describedIds, readSources } from "../../config/sources.ts";
import { reason } from "../../errors.ts";
import { formatBytes } from "../../output/table.ts";
import { type Check, type Finding, fail, ok, warn } from "./check.ts";

/** The oldest Node that this program is tested with. */
const OLDEST_NODE = { major: 20, minor: 19 } as const;
const STORE_FILE = "millrace.db";
/** Room on the disk of the data folder: below the first a store is soon full, below the second it may be within days. */
const ROOM_BYTES = { needed: 16_777_216, wanted: 268_435_456 } as const;

export const nodeVersion: Check = {
  name: "node",
  async look() {
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    const { major: least, minor: leastMinor } = OLDEST_NODE;
    const isOld = major < least || (major === least && minor < leastMinor);
    return isOld
      ? fail(
          `Node ${process.version} is older than ${least}.${leastMinor}`,
          `install Node ${least}.${leastMinor} or newer`,
        )
      : ok(`Node ${process.version}`);
  },
};

/** A folder that is not there yet is made when it is needed; then its nearest ancestor must take it. */
export const dataFolderWritable: Check = {
  name: "data folder",
  async look({ data }) {
    const there = await nearest(data);
    try {
      if (!(await stat(there)).isDirectory()) {
        return fail(
          `${there} is a file, and the data folder is to be ${data}`,
          "move the file away, or name another folder with MILLRACE_HOME",
        );
      }
      await access(there, constants.W_OK | constants.X_OK);
      if (there === data) await probe(data);
    } catch (error) {
      return fail(
        `${data} cannot be written: ${reason(error)}`,
        "give yourself the right to write there, or name another folder with MILLRACE_HOME",
      );
    }
    const disk = await statfs(there).catch(() => undefined);
    // One without blocks, such as a file system in memory that has no limit, does not know its room.
    const room = disk?.blocks ? disk.bavail * disk.bsize : ROOM_BYTES.wanted;
    if (room < ROOM_BYTES.wanted) {
      return [
        {
          status: room < ROOM_BYTES.needed ? "fail" : "warn",
          says: `the disk of ${data} has ${formatBytes(room)} left`,
          fix: "make room: on a full disk new runs are refused, and live ones wait",
        },
      ];
    }
    return ok(there === data ? data : `${data} (made when it is needed)`);
  },
};

export const sqliteDriver: Check = {
  name: "sqlite",
  async look() {
    const { openMemoryStore, StoreError } = await import("@millrace/store");
    try {
      await openMemoryStore().close();
      return ok("there is a driver");
    } catch (error) {
      if (!StoreError.isInstance(error)) throw error;
      return fail(
        error.message,
        "install Node 22.5 or newer, or the package libsql; unset MILLRACE_SQLITE",
      );
    }
  },
};

export const storeReadable: Check = {
  name: "store",
  async look({ data }) {
    if (!existsSync(join(data, STORE_FILE))) return ok("none yet");
    const { openStore, StoreError } = await import("@millrace/store");
    try {
      const store = await openStore({ dir: data, readonly: true });
      await store.runs.list({ limit: 1 });
      await store.close();
      return ok(join(data, STORE_FILE));
    } catch (error) {
      if (!StoreError.isInstance(error)) throw error;
      if (error.code === "store_too_new")
        return fail(error.message, "install the newer version of millrace again");
      if (error.code === "store_corrupt") {
        return fail(
          error.message,
          `move ${join(data, STORE_FILE)}* away and put a backup in its place`,
        );
      }
      return warn(error.message, "look at the folder, and start again");
    }
  },
};

/** The folder itself, or the nearest thing above it that is there. */
async function nearest(folder: string): Promise<string> {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

async function probe(folder: string): Promise<void> {
  const file = join(folder, `.doctor.${process.pid}`);
  await writeFile(file, "");
  await rm(file);
}

export const configuration: Check = {
  name: "config",
  async look({ sources }) {
    if (sources instanceof Error)
      return fail(
        sources.message,
        "mend the file at that place; millrace config schema says what it may hold",
      );
    const found: Finding[] = [];
    for (const file of [sources.user, sources.project?.file]) {
      for (const says of await unknownKeys(file)) {
        found.push({ status: "warn", says, fix: "millrace config unset takes it out" });
      }
    }
    for (const each of ALL_KEYS) {
      const [origin] = sources.origins(each.key);
      const why = origin === undefined ? undefined : misfit(each, origin.value);
      if (why !== undefined) {
        found.push({
          status: "fail",
          says: `${each.key} ${why} (${origin?.where ?? "default"})`,
          fix: `millrace config explain ${each.key}`,
        });
      }
    }
    if (found.length > 0) return found;
    const files = [sources.user?.path, sources.project?.file.path].filter(
      (path) => path !== undefined,
    );
    return ok(files.length === 0 ? "no files, the defaults" : files.join(", "));
  },
};

export const projectTrust: Check = {
  name: "trust",
  async look({ sources }) {
    if (sources instanceof Error || sources.trust === undefined) return [];
    const { state, powers } = sources.trust;
    const path = sources.project?.file.path ?? "";
    switch (state) {
      case "powerless":
        return ok("the project grants nothing");
      case "trusted":
        return ok(`${path} may set ${powers.join(", ")}`);
      case "changed":
        return fail(
          `${path} has changed since it was trusted, and it sets ${powers.join(", ")}`,
          "read it, then millrace config trust",
        );
      case "untrusted":
        return fail(
          `${path} is not trusted, and it sets ${powers.join(", ")}`,
          "read it, then millrace config trust",
        );
    }
  },
};

export const extensionLock: Check = {
  name: "extensions",
  async look({ sources, options, io }) {
    if (sources instanceof Error || sources.project === undefined) return [];
    const { file } = sources.project;
    const { extensions }: { readonly extensions?: unknown } = file.values;
    const { readExtensions } = await import("@millrace/extensions");
    try {
      const { list } = readExtensionList(extensions);
      if (list.length === 0) return [];
      const { takenIds } = await import("../../run/extensions.ts");
      const taken = takenIds(await describedIds(await readSources(options, io)));
      const all = await readExtensions({ project: dirname(file.path), list, taken });
      return all.map(({ name, problem, warnings }): Finding => {
        const fix = `look at it, then millrace ext add ${name}`;
        if (problem !== undefined) {
          return { status: "fail", says: `${name}: ${problem.message} (${problem.code})`, fix };
        }
        const [warning] = warnings;
        return warning === undefined
          ? { status: "ok", says: `${name} is as it was reviewed` }
          : { status: "warn", says: `${name}: ${warning}`, fix };
      });
    } catch (error) {
      // A list or a lock that cannot be read says so itself.
      return fail((error as Error).message, "millrace ext list");
    }
  },
};

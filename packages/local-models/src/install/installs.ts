/**
 * The installs of a manager: those of open jobs, and parts that an earlier one, perhaps of an earlier process, has left. The next
 * install of the same goes on with them.
 */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Job, Model, ModelInstallArgs } from "@millrace/contracts";
import type { Jobs } from "../jobs.ts";
import { defaultsOf } from "../library/entry.ts";
import { existsAlready, type InstallPorts, install } from "./install.ts";
import { type PartState, readPartState } from "./part-file.ts";
import { type InstallRequest, readRequest } from "./request.ts";

const KEPT_MS = 7 * 86_400_000;

export interface InstallsOptions extends InstallPorts {
  readonly jobs: Jobs;
  /** Whether this manager holds the lock of its folder. */
  readonly mayClean: boolean;
  readonly scanned: () => Promise<void>;
}

export function createInstalls(options: InstallsOptions) {
  const { jobs, library, downloads, clock, mayClean, scanned } = options;
  const requests = new Map<string, InstallRequest>(); // of open jobs, by the id of their model
  let leftovers: readonly (PartState & { readonly key: string })[] = [];

  const installs = {
    /** The job that installs a model; the open one of the same id when there is one. Throws `already_exists`. */
    start(args: ModelInstallArgs): Job {
      const request = readRequest(args);
      const { id, sha256 } = request;
      const open = jobs.open(({ modelId }) => modelId === id);
      if (open !== undefined) return open;
      const about = { kind: "install", name: id, modelId: id } as const;
      const there = library.get(id);
      const isWhole = library.fault(id) === null;
      if (isWhole && sha256 !== null && there?.sha256 === sha256) return jobs.done(about);
      if (there !== undefined) throw existsAlready(id);
      requests.set(id, request);
      return jobs.start(
        about,
        async (job) => {
          await scanned();
          if (library.get(id) !== undefined) throw existsAlready(id);
          await install(request, options, job);
        },
        async () => {
          // A job that was cancelled before its turn may have had a successor since.
          if (requests.get(id) === request) requests.delete(id);
          await installs.look();
        },
      );
    },
    unfinished(): readonly Model[] {
      const models = new Map<string, Model>();
      for (const { id, bytes, sha256, url } of leftovers) {
        models.set(id, unfinishedModel({ id, bytes, sha256, source: { kind: "url", url } }));
      }
      for (const { id, sha256, source } of requests.values()) {
        const job = jobs.open(({ modelId }) => modelId === id);
        if (job === undefined) continue; // it was cancelled before its turn
        const { stage, current, total } = job;
        const fetched = stage === "download" ? current : stage === "verify" ? total : 0;
        const bytes = Math.max(fetched, models.get(id)?.bytes ?? 0);
        models.set(id, unfinishedModel({ id, bytes, sha256, source }));
      }
      return [...models.values()].filter(({ id }) => library.get(id) === undefined);
    },
    /** Reads the parts again. While no job is open, those that are older than a week or cannot be continued are removed. */
    async look(): Promise<void> {
      const found = [];
      const names = await readdir(downloads).catch(() => []);
      const keys = new Set(names.map((name) => name.replace(/\.(?:part|json|json\.tmp)$/, "")));
      const now = clock.now();
      for (const key of [...keys].sort()) {
        const state = await readPartState(join(downloads, `${key}.json`));
        const part = await stat(join(downloads, `${key}.part`)).catch(() => null);
        const isOld = part !== null && now - part.mtimeMs > KEPT_MS;
        if (state !== null && part !== null && !isOld) found.push({ ...state, key });
        else if (mayClean && requests.size === 0) {
          await removePart(downloads, key).catch(() => undefined); // the next look tries again
        }
      }
      leftovers = found;
    },
    async discard(id: string): Promise<void> {
      for (const part of leftovers) if (part.id === id) await removePart(downloads, part.key);
      await installs.look();
    },
  };
  return installs;
}

async function removePart(folder: string, key: string): Promise<void> {
  for (const name of [`${key}.part`, `${key}.json`, `${key}.json.tmp`]) {
    await rm(join(folder, name), { force: true });
  }
}

function unfinishedModel(part: Pick<Model, "id" | "bytes" | "sha256" | "source">): Model {
  return {
    ...part,
    state: "installing",
    verified: false,
    files: [],
    origin: "managed",
    gguf: null,
    defaults: defaultsOf({ contextLength: 0 }),
    runtime: null,
    error: null,
    lastUsedAt: null,
  };
}

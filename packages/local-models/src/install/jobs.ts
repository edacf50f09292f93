/** The jobs that fetch something: the install of a model, and the fetch of the engine. */
import type { Job, ModelInstallArgs } from "@millrace/contracts";
import { ENGINE_ID, type Engines } from "../engine/engines.ts";
import { ModelError } from "../errors.ts";
import type { Jobs } from "../jobs.ts";
import type { Library } from "../library/library.ts";
import { type InstallPorts, install, moveIn } from "./install.ts";
import type { Progress } from "./progress.ts";
import { type InstallRequest, readRequest } from "./request.ts";

/** Parts of the manager that installs use. */
export interface InstallContext {
  readonly jobs: Jobs;
  readonly library: Library;
  /** Requests of open jobs, by the id of their model. */
  readonly requests: Map<string, InstallRequest>;
  readonly ports: InstallPorts;
  /** Resolves when the first scan has ended. */
  readonly scanned: Promise<void>;
  /** Reads the unfinished downloads again. */
  readonly look: () => Promise<void>;
}

/** The job that installs a model; the open one of the same id when there is one. Throws `already_exists`. */
export function startInstall(args: ModelInstallArgs, context: InstallContext): Job {
  const { jobs, library, requests, ports, scanned, look } = context;
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
    async (work) => {
      await scanned;
      if (library.get(id) !== undefined) throw existsAlready(id);
      await install(request, ports, work);
    },
    async () => {
      // A job that was cancelled before its turn may have had a successor since.
      if (requests.get(id) === request) requests.delete(id);
      await look();
    },
  );
}

/** The steps of an install that change engine and library. `added` is called after a model was added. */
export function installSteps(
  engines: Engines,
  library: Library,
  added: (id: string) => Promise<void>,
): Pick<InstallPorts, "engine" | "register"> {
  return {
    async engine(signal, progress) {
      if (engines.has()) return false;
      await engines.fetch({
        signal,
        told: (stage, current, total) => {
          if (stage === "download") step(progress, "engine", current, total);
        },
      });
      return true;
    },
    async register(entry, part, target) {
      await library.exclusively(async () => {
        if (library.get(entry.id) !== undefined || library.owns(target)) {
          throw existsAlready(entry.id);
        }
        library.add({ ...entry, files: await moveIn(part, target) });
      });
      await added(entry.id);
    },
  };
}

/** The job that fetches the engine; the open one when there is one. Throws `not_found` for another id. */
export function startEngineFetch(id: string, jobs: Jobs, engines: Engines): Job {
  if (id !== ENGINE_ID) throw new ModelError("not_found", "the engine is called llama-cpp");
  const open = jobs.open(({ kind }) => kind === "engine");
  if (open !== undefined) return open;
  return jobs.start({ kind: "engine", name: ENGINE_ID }, async ({ signal, progress }) => {
    progress.stage("resolve", 0, 0);
    const told = (stage: string, current: number, total: number): void =>
      step(progress, stage, current, total);
    await engines.fetch({ signal, told });
  });
}

function existsAlready(id: string): ModelError {
  return new ModelError(
    "already_exists",
    `there is a model "${id}"; remove it, or give another id`,
  );
}

/** Enters a stage, or goes on in it. */
function step(progress: Progress, stage: string, current: number, total: number): void {
  if (progress.position.stage === stage) progress.advance(current, total);
  else progress.stage(stage, current, total);
}

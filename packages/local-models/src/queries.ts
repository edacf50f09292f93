/** The models as the manager shows them: installed ones, and those that are being installed or were left unfinished. */
import type { Model } from "@millrace/contracts";
import { ModelError } from "./errors.ts";
import { type Leftover, unfinishedModel } from "./install/leftovers.ts";
import type { InstallRequest } from "./install/request.ts";
import type { Jobs } from "./jobs.ts";
import { type Entry, toModel } from "./library/entry.ts";
import { checkModelId } from "./library/ids.ts";
import type { Library } from "./library/library.ts";
import type { Runners } from "./runners.ts";

/** Where the state of models is kept. */
export interface ModelSources {
  readonly library: Library;
  readonly jobs: Jobs;
  readonly runners: Runners;
  /** Requests of open jobs, by the id of their model. */
  readonly requests: ReadonlyMap<string, InstallRequest>;
  /** Unfinished downloads that no job is at. */
  leftovers(): readonly Leftover[];
}

export interface ModelQueries {
  /** Throws `not_found`, and what `checkModelId` throws. */
  get(id: string): Model;
  /** Managed models first, then by id. */
  list(): readonly Model[];
}

export function createQueries(sources: ModelSources): ModelQueries {
  const { library, runners, jobs, requests, leftovers } = sources;
  const shown = (entry: Entry): Model => {
    const fault = library.fault(entry.id);
    return toModel(entry, {
      state: runners.state(entry.id) ?? (fault === null ? "ready" : "invalid"),
      runtime: runners.runtime(entry.id),
      error: runners.error(entry.id) ?? fault,
    });
  };
  const unfinished = (): readonly Model[] => {
    const models = new Map<string, Model>();
    for (const { id, bytes, sha256, url } of leftovers()) {
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
  };
  return {
    get(id) {
      const entry = library.get(checkModelId(id));
      const model = entry ? shown(entry) : unfinished().find((each) => each.id === id);
      if (model !== undefined) return model;
      throw new ModelError("not_found", `there is no model "${id}"`);
    },
    list: () => [...library.all().map(shown), ...unfinished()].sort(inOrder),
  };
}

function inOrder(one: Model, other: Model): number {
  if (one.origin !== other.origin) return one.origin === "managed" ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

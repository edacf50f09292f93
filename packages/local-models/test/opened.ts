/** A manager over temporary folders, with a real egress client that may reach this machine. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ChannelMap, EventSink, Job, ModelManager } from "@millrace/contracts";
import { createNodeHost } from "@millrace/engine/node";
import { temporaryFolder } from "@millrace/test-support/folder";
import { onTestFinished } from "vitest";
import { composeManager, type ManagerParts } from "../src/manager.ts";
import type { ModelClock, ModelManagerOptions } from "../src/settings.ts";

export type Sent = {
  [C in keyof ChannelMap]: { readonly channel: C; readonly payload: ChannelMap[C] };
}[keyof ChannelMap];

export type Step = ChannelMap["models:install_progress"];

/** Time that passes as soon as somebody waits a second of it or more; what is due sooner is never due. */
export interface EagerClock extends ModelClock {
  /** What was waited for, in milliseconds. */
  readonly waits: number[];
}

export function eagerClock(): EagerClock {
  let now = 1_767_225_600_000;
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    setTimer(fn, ms) {
      if (ms < 1_000) return () => undefined;
      waits.push(ms);
      now += ms;
      const due = setImmediate(fn);
      return () => clearImmediate(due);
    },
  };
}

export interface Opened {
  readonly manager: ModelManager;
  readonly dir: string;
  readonly enginesDir: string;
  readonly sent: Sent[];
  readonly logged: string[];
  /** Payloads of the progress of a model or an engine. */
  steps(name: string): readonly Step[];
  /** Resolves with a job that has ended. */
  ended(job: Job): Promise<Job>;
  seen(fits: (sent: Sent) => boolean): Promise<void>;
  /** Files below the folder of models, relative, without lock and registry. */
  files(): readonly string[];
}

export const ENDS: ReadonlySet<string> = new Set(["done", "error", "cancelled"]);

export function openManager(
  options: Partial<ModelManagerOptions> & { readonly parts?: Partial<ManagerParts> } = {},
): Opened {
  const { parts, ...given } = options;
  const root = given.dir === undefined ? temporaryFolder() : dirname(given.dir);
  const dir = given.dir ?? join(root, "models");
  const enginesDir = given.enginesDir ?? join(root, "engines");
  const sent: Sent[] = [];
  const logged: string[] = [];
  const waiting = new Set<() => void>();
  const sink: EventSink = {
    emit(channel, payload) {
      sent.push({ channel, payload } as Sent);
      for (const look of [...waiting]) look();
    },
  };
  const manager = composeManager(
    {
      dir,
      enginesDir,
      sink,
      fetch: loopbackFetch(),
      freeBytes: async () => 1e12,
      log: (level, text) => void logged.push(`${level}: ${text}`),
      ...given,
    },
    { peer: () => null, ...parts },
  );
  onTestFinished(() => manager.close());
  const until = (isSo: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!isSo()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return {
    manager,
    dir,
    enginesDir,
    sent,
    logged,
    steps: (name) =>
      sent.flatMap((one) =>
        one.channel === "models:install_progress" && one.payload.message.split(": ")[0] === name
          ? [one.payload]
          : [],
      ),
    async ended({ id }) {
      const find = (): Job | undefined => manager.jobs().find((job) => job.id === id);
      await until(() => ENDS.has(find()?.stage ?? ""));
      return find() as Job;
    },
    seen: (fits) => until(() => sent.some(fits)),
    files: () => filesBelow(dir).filter((name) => !/^(?:manager\.lock|registry\.json)$/.test(name)),
  };
}

/** An egress client that reaches this machine, and is in no hurry to give up. */
export function loopbackFetch(idleMs = 30_000): ModelManagerOptions["fetch"] {
  return createNodeHost().openFetch({
    allow: [{ cidr: "127.0.0.0/8" }],
    maxResponseBytes: 1e12,
    idleMs,
  });
}

/** Writes files, relative to a folder. */
export function put(folder: string, files: { readonly [name: string]: Uint8Array }): void {
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
}

export function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The `code` of what is thrown or rejected. */
export async function codeOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return "none";
  } catch (error) {
    return (error as { code?: unknown }).code ?? error;
  }
}

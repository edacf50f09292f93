/**
 * The same package in a process of its own and in that of its host.
 *   I1  A fixture writes one log in both: outputs, events and errors are the same.
 *   I2  A body that is cancelled ends in both, with one log.
 * Left out is what the clock of a process says: in one of its own it goes on while that of a test stands still.
 */

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ExecutionEvent, type ExtensionDefinition, NodeError } from "@millrace/contracts";
import { createRegistry } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import {
  type Extensions,
  type InspectedExtension,
  inspectExtension,
  openExtensions,
} from "@millrace/extensions";
import type { ConformanceCase, ConformanceOptions, Fixture } from "../fixtures.ts";
import { STANDARD_TYPES } from "../host/standard-types.ts";
import { createHost, LOOPBACK, type StartedNode, type TestHost } from "../host/test-host.ts";
import { assertAsSaid } from "./bodies.ts";
import { finish, hostOptions, type Sample, samplesOf } from "./run-fixture.ts";

/** Both modes of running code; the first is the default of third-party extensions. */
const MODES = ["child", "inProcess"] as const;
type Mode = (typeof MODES)[number];

/** A body that goes on for so long after its signal is ended with its process, in milliseconds. */
const KILL_MS = 1_000;
/** A process that is busy elsewhere may take long to start, in milliseconds. */
const LOAD_MS = 10_000;
/** Pauses in which a body comes as far as it does without an answer from outside, of 5 ms. */
const MAX_PAUSES = 2_000;

/**
 * The cases of a built package, over the fixtures of its types. What cannot live in a process of its own, by its manifest, has
 * nothing to compare.
 */
export function isolationConformance(
  extension: ExtensionDefinition,
  options: ConformanceOptions & { readonly package: string },
): readonly ConformanceCase[] {
  const samples = samplesOf(extension, options);
  if (samples.length === 0) return [];
  const compare = (act: Act, hangs: boolean) => () =>
    compareModes(extension, samples, options.package, { act, hangs });
  return [
    {
      name: "isolation: every fixture has one log in a process of its own and in that of the host",
      run: compare(runs, false),
    },
    {
      name: "isolation: a body that is cancelled ends in both, with one log",
      run: compare(isCancelled, true),
    },
  ];
}

/** Does something with a fixture in a host, to the end of its run. */
type Act = (host: TestHost, sample: Sample) => Promise<StartedNode>;

async function runs(host: TestHost, sample: Sample): Promise<StartedNode> {
  const started = await host.start(sample.type, sample.fixture.fields);
  await finish(host, started);
  assertAsSaid(sample, await started.summary, started);
  return started;
}

async function isCancelled(host: TestHost, sample: Sample): Promise<StartedNode> {
  const started = await host.start(sample.type, sample.fixture.fields);
  await until(() => started.busy() === 0);
  started.run.cancel();
  await until(() => started.calls.every(({ state }) => state !== "running"));
  await finish(host, started);
  return started;
}

async function compareModes(
  extension: ExtensionDefinition,
  samples: readonly Sample[],
  folder: string,
  { act, hangs }: { readonly act: Act; readonly hangs: boolean },
): Promise<void> {
  const inspected = await inspectExtension(folder, folder);
  if (inspected.manifest.mode === "inProcess") return;
  const logs = new Map<Mode, readonly string[]>();
  for (const mode of MODES) {
    const written: string[] = [];
    for (const group of groupsOf(samples)) {
      const opened = await open(inspected, mode, group);
      try {
        for (const sample of group.samples) {
          const where = `${sample.name} in mode ${mode}`;
          const options = hostOptions(extension, sample, { hangs });
          const host = createHost(options, opened.extensions, true);
          const from = host.clock.now();
          const { events } = await act(host, sample).catch((error: unknown) => {
            throw new Error(`${where}: ${textOf(error)}`, { cause: error });
          });
          assert.deepEqual(opened.told, [], where);
          const lines = events.map((event) => comparable(event, from, host.clock.now()));
          written.push(`${sample.name}\n${lines.join("\n")}`);
        }
      } finally {
        await opened.close();
      }
    }
    logs.set(mode, written);
  }
  assert.deepEqual(logs.get("child"), logs.get("inProcess"), "it does not do the same in both");
}

/** Fixtures that one process can take: its configuration is given once. */
interface Group {
  readonly config: NonNullable<Fixture["config"]>;
  readonly filesRoot: string | undefined;
  readonly samples: readonly Sample[];
}

function groupsOf(samples: readonly Sample[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const sample of samples) {
    const { config = {}, filesRoot } = sample.fixture;
    const key = JSON.stringify([config, filesRoot]);
    const before = groups.get(key)?.samples ?? [];
    groups.set(key, { config, filesRoot, samples: [...before, sample] });
  }
  return [...groups.values()];
}

interface Opened {
  readonly extensions: Extensions;
  /** Messages for an operator. */
  readonly told: readonly string[];
  close(): Promise<void>;
}

/** Opens the package with all that it asks for; `$project` is the folder of the fixtures. */
async function open(
  { folder, manifest, manifestDigest, treeDigest }: InspectedExtension,
  mode: Mode,
  { config, filesRoot }: Group,
): Promise<Opened> {
  const told: string[] = [];
  const data = await mkdtemp(join(tmpdir(), "millrace-isolation-"));
  const { version, permissions: granted } = manifest;
  const digests = { manifestDigest, treeDigest };
  const locked = { version, integrity: "", source: "path", mode, granted, ...digests } as const;
  const extensions = await openExtensions({
    project: filesRoot ?? folder,
    list: [folder],
    lock: new Map([[folder, locked]]),
    taken: {
      types: createRegistry([STANDARD_TYPES])
        .entries()
        .map(({ type }) => type),
    },
    data,
    config,
    openFetch: () => async (url) => {
      throw new NodeError("http_not_expected", `no exchange answers ${url} outside of a body`);
    },
    openResolver: () => createNodeHost().openResolver(LOOPBACK),
    warn: ({ code, message }) => void told.push(`${code}: ${message}`),
    times: { killMs: KILL_MS, loadMs: LOAD_MS },
  });
  return {
    extensions,
    told,
    async close() {
      await extensions.close();
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** Waits in real time: what happens in another process is on no clock of a test. Gives up after 10 s. */
async function until(holds: () => boolean): Promise<void> {
  for (let pauses = 0; !holds() && pauses < MAX_PAUSES; pauses += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Beyond what a clock of a test has moved: real time that a process may have run for. */
const DRIFT_MS = 60_000;

/** An event as a text, without times between the begin and the end of its run. */
function comparable(event: ExecutionEvent, from: number, to: number): string {
  const isTime = (at: number): boolean => at >= from && at <= to + DRIFT_MS;
  return JSON.stringify(event, (_, value: unknown) => {
    if (typeof value === "number" && isTime(value)) return "time";
    if (typeof value === "string" && ISO.test(value) && isTime(Date.parse(value))) return "time";
    return value;
  });
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One fixture of a type, run in a host of its own. */
import type { ExtensionDefinition, Journal, Summary } from "@millrace/contracts";
import type { ConformanceOptions, Fixture } from "../fixtures.ts";
import type { HttpExchange } from "../host/recording-fetch.ts";
import {
  createTestHost,
  type StartedNode,
  type TestHost,
  type TestHostOptions,
} from "../host/test-host.ts";
import { specsOf, typesOfExtension } from "../host/watched-types.ts";

/** Timers that a fixture may wait for, one after the other. */
const MAX_TURNS = 2_000;

/** A type under test with one of its fixtures. */
export interface Sample {
  readonly type: string;
  readonly fixture: Fixture;
  /** `weather.forecast`, with a number where there are several. */
  readonly name: string;
}

/** Longest time that a body may still take after its signal: at once, on a machine that does much else. */
const SETTLE_MS = 2_000;

/** Names of secrets that types of an extension declare. */
export function secretsOf(extension: ExtensionDefinition): readonly string[] {
  const names = specsOf(extension).flatMap(({ spec }) => spec.needs?.secrets ?? []);
  return [...new Set(names)].sort();
}

/** Every fixture of every type; a type has its examples where it has no fixture. */
export function samplesOf(
  extension: ExtensionDefinition,
  { fixtures = {} }: ConformanceOptions,
): readonly Sample[] {
  return typesOfExtension(extension).flatMap((type) => {
    const given =
      fixtures[type] ?? fixtures[type.split("@")[0] ?? ""] ?? examplesOf(extension, type);
    return given.map((fixture, index) => ({
      type,
      fixture,
      name: given.length === 1 ? type : `${type} (${index + 1})`,
    }));
  });
}

function examplesOf(extension: ExtensionDefinition, type: string): readonly Fixture[] {
  const found = specsOf(extension).find((each) => each.type === type);
  return (found?.spec.examples ?? []).map(({ fields, output }) => ({ fields, output }));
}

interface More {
  readonly journal?: Journal;
  /** Nothing that is asked is ever answered. */
  readonly hangs?: boolean;
}

export function hostFor(extension: ExtensionDefinition, sample: Sample, more: More = {}): TestHost {
  return createTestHost(hostOptions(extension, sample, more));
}

/** Options of a host for a fixture; its secrets are canaries. */
export function hostOptions(
  extension: ExtensionDefinition,
  { fixture }: Sample,
  more: More = {},
): TestHostOptions {
  const { http, config, confirm, filesRoot } = fixture;
  const exchanges = more.hangs === true ? HANGS : http;
  return {
    extension,
    secrets: Object.fromEntries(secretsOf(extension).map((name) => [name, canaryOf(name)])),
    ...(exchanges !== undefined && { http: exchanges }),
    ...(config !== undefined && { config }),
    ...(confirm !== undefined && { confirm }),
    ...(filesRoot !== undefined && { files: { root: filesRoot } }),
    ...(more.journal !== undefined && { journal: more.journal }),
  };
}

const HANGS: readonly HttpExchange[] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].map(
  (method) => ({ method, url: /^/, fault: "hang" }),
);

/** A text that is in nothing by accident. */
export function canaryOf(name: string): string {
  return `canary-${name.toLowerCase()}-7f3a9c51e2`;
}

/** Runs a fixture to its end. */
export async function runSample(
  extension: ExtensionDefinition,
  sample: Sample,
  more: { readonly journal?: Journal } = {},
): Promise<{ readonly started: StartedNode; readonly summary: Summary; readonly host: TestHost }> {
  const host = hostFor(extension, sample, more);
  const started = await host.start(sample.type, sample.fixture.fields);
  await finish(host, started);
  return { started, summary: await started.summary, host };
}

/** Lets time pass until the run ends; not while something real, such as a file, is under way. */
export async function finish(host: TestHost, started: StartedNode): Promise<void> {
  let ended = false;
  void started.summary.then(() => {
    ended = true;
  });
  for (let turns = 0; !ended && turns < MAX_TURNS; turns += 1) {
    await host.clock.settle();
    await new Promise((resolve) => setTimeout(resolve, turns < 10 || started.busy() === 0 ? 0 : 5));
    if (started.busy() === 0) await host.clock.advance(host.clock.nextIn ?? 0);
  }
  if (!ended) throw new Error("the fixture does not end by itself");
}

/** Resolves true when all calls end at once. */
export async function settles(started: StartedNode): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), SETTLE_MS);
  });
  const all = Promise.all(started.calls.map(({ ended }) => ended)).then(() => true);
  try {
    return await Promise.race([all, late]);
  } finally {
    clearTimeout(timer);
  }
}

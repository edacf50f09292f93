/** Laws of every body. Each case runs the fixtures of one type in hosts of its own. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import {
  type ActionDefinition,
  assertLog,
  type ExtensionDefinition,
  type FieldFinding,
  type Summary,
  secretForms,
  toJsonValue,
} from "@millrace/contracts";
import { createMemoryJournal, EngineError } from "@millrace/engine";
import type { ConformanceCase, ConformanceOptions } from "../fixtures.ts";
import { causeOf, outputOf, type StartedNode } from "../host/test-host.ts";
import { type Call, specsOf } from "../host/watched-types.ts";
import { recordingJournal } from "./cut-journals.ts";
import {
  canaryOf,
  finish,
  hostFor,
  runSample,
  type Sample,
  samplesOf,
  secretsOf,
  settles,
} from "./run-fixture.ts";

/** Longest time a body may block the event loop, which delays every other run. */
const MAX_BLOCKED_MS = 1_000;
/** Methods that make something new each time; the others are idempotent (RFC 9110, 9.2.2). */
const CREATES: ReadonlySet<string> = new Set(["POST", "PATCH"]);
/** Turns that a body has to do something after its end, if it is going to. */
const LATE_TURNS = 20;

type Body = (extension: ExtensionDefinition, sample: Sample) => Promise<void>;

const SUITES: readonly (readonly [name: string, body: Body])[] = [
  ["schemas: its fixture runs as it says", runsAsSaid],
  ["abort: ends at once when it is cancelled before it begins", abortedBefore],
  ["abort: ends at once when it is cancelled while it waits", abortedWaiting],
  ["secrets: none is in what it answers, throws, logs or asks", keepsSecrets],
  ["events: its log is legal, and nothing comes after its end", logsLegally],
  ["events: it does not hold the event loop", holdsNoLoop],
  ["determinism: two runs on one clock have one log", isDeterministic],
];

/** The cases of every type. */
export function bodyCases(
  extension: ExtensionDefinition,
  options: ConformanceOptions,
): readonly ConformanceCase[] {
  const nodeTypes = new Set(extension.nodeTypes.map(({ type }) => type));
  const specs = new Map<string, Pick<ActionDefinition, "effect" | "idempotent" | "check">>(
    specsOf(extension).map(({ type, spec }) => [type, spec]),
  );
  return samplesOf(extension, options).flatMap((sample) => {
    const spec = specs.get(sample.type);
    const suites: readonly (typeof SUITES)[number][] = [
      ...SUITES,
      ...when(spec?.effect === "pure", "effect: what is pure asks nobody", asksNobody),
      ...when(
        spec?.idempotent === true,
        "idempotency: the same key sends the same requests",
        sendsTheSame,
      ),
      ...when(
        nodeTypes.has(sample.type),
        "determinism: taken up after any write it comes out the same",
        survivesCuts,
      ),
      ...when(
        spec?.check !== undefined,
        "check: it says what it finds, and nothing of what it cannot know",
        async () => checksWhatItKnows(async (fields) => spec?.check?.(fields), sample),
      ),
    ];
    return suites.map(([name, body]) => ({
      name: `${sample.name}: ${name}`,
      run: () => body(extension, sample),
    }));
  });
}

function when(holds: boolean, name: string, body: Body): readonly (readonly [string, Body])[] {
  return holds ? [[name, body]] : [];
}

async function runsAsSaid(extension: ExtensionDefinition, sample: Sample): Promise<void> {
  const { summary, started } = await runSample(extension, sample);
  assertAsSaid(sample, summary, started);
}

/** A run of a fixture came out as the fixture says. */
export function assertAsSaid(
  { fixture: { fails, output } }: Sample,
  summary: Summary,
  started: Pick<StartedNode, "events" | "calls">,
): void {
  const { status, error } = summary;
  const holds = fails === undefined ? status === "succeeded" : error?.code === fails;
  if (!holds) {
    const expected = fails === undefined ? "it is to succeed" : `it is to fail with ${fails}`;
    const found = error === undefined ? status : `${error.code} ${error.message}`;
    throw new Error(`${found}; ${expected}`, causeOf(started));
  }
  if (fails === undefined && output !== undefined) {
    assert.deepEqual(outputOf(started.events), output);
  }
}

async function abortedBefore(extension: ExtensionDefinition, sample: Sample): Promise<void> {
  const host = hostFor(extension, sample, { hangs: true });
  const started = await host.start(sample.type, sample.fixture.fields);
  started.run.cancel({ graceMs: 0 });
  assert.ok(await settles(started), "it ignores abort: its signal is aborted and it goes on");
}

/** While it waits for an answer, and, where all is answered, for time or a person. */
async function abortedWaiting(extension: ExtensionDefinition, sample: Sample): Promise<void> {
  for (const hangs of [true, false]) {
    const host = hostFor(extension, sample, { hangs });
    const started = await host.start(sample.type, sample.fixture.fields);
    // As far as it comes without time.
    for (let turns = 0; turns < LATE_TURNS; turns += 1) await host.clock.settle();
    // A real file that is under way may still be answered; only what waits for the world outside must be given up.
    const waiting = started.calls.filter(({ state }) => state === "running");
    const isSteady = started.busy() === 0;
    started.run.cancel();
    assert.ok(await settles(started), "it ignores abort: its signal is aborted and it goes on");
    if (hangs) assert.equal(started.open(), 0, "a request is still open after the abort");
    await finish(host, started);
    if (!isSteady || sample.fixture.fails !== undefined) continue;
    for (const { state } of waiting) {
      assert.equal(state, "threw", "a cancelled body rejects; it does not answer");
    }
  }
}

async function keepsSecrets(extension: ExtensionDefinition, sample: Sample): Promise<void> {
  const { started, host } = await runSample(extension, sample);
  for (const name of secretsOf(extension)) {
    const forms = secretForms(canaryOf(name));
    const isIn = (text: string): boolean => forms.some((form) => text.includes(form));
    for (const { outcome, logs, state } of started.calls) {
      const where = state === "answered" ? "its output" : "what it throws";
      assert.ok(!isIn(textOf(outcome)), `the secret ${name} is in ${where}`);
      assert.ok(!isIn(textOf(logs)), `the secret ${name} is in what it logs or asks`);
    }
    for (const { url } of host.requests) {
      assert.ok(
        !isIn(url),
        `the secret ${name} is in a URL, which servers log: send it in a header`,
      );
    }
  }
}

/** All that a value holds, of an error its causes and stack too; circles end, and what is no JSON is shown as well. */
function textOf(value: unknown): string {
  return inspect(value, {
    depth: null,
    maxArrayLength: null,
    maxStringLength: null,
    showHidden: true,
  });
}

async function logsLegally(extension: ExtensionDefinition, sample: Sample): Promise<void> {
  const { started, host } = await runSample(extension, sample);
  for (let turns = 0; turns < LATE_TURNS; turns += 1) {
    await host.clock.run();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assertLog(started.events);
  for (const call of started.calls) {
    assert.deepEqual(call.late, [], "it used its context after its end");
    if (call.state === "answered") assertJson(call);
  }
}

function assertJson({ outcome }: Call): void {
  const { warnings } = toJsonValue(outcome);
  assert.deepEqual(warnings, [], "its output is no plain JSON");
}

async function holdsNoLoop(extension: ExtensionDefinition, sample: Sample): Promise<void> {
  const { started } = await runSample(extension, sample);
  const longest = Math.max(0, ...started.calls.map(({ blockedMs }) => blockedMs));
  assert.ok(longest <= MAX_BLOCKED_MS, `it blocks the event loop for ${Math.round(longest)} ms`);
}

async function isDeterministic(extension: ExtensionDefinition, sample: Sample): Promise<void> {
  const one = await runSample(extension, sample);
  const two = await runSample(extension, sample);
  assert.deepEqual(two.started.events, one.started.events, "take time and chance from ctx");
}

async function asksNobody(extension: ExtensionDefinition, sample: Sample): Promise<void> {
  const { host } = await runSample(extension, sample);
  const asked = host.requests.map(({ method, url }) => `${method} ${url}`);
  assert.deepEqual(asked, [], "its effect is pure, but its result depends on more than its fields");
}

/** Fields that a flow computes are undefined to a check: any of them, and all. */
async function checksWhatItKnows(
  check: (fields: { readonly [name: string]: unknown }) => Promise<unknown>,
  { fixture: { fields } }: Sample,
): Promise<void> {
  const unknown = Object.keys(fields).map((name) => ({ ...fields, [name]: undefined }));
  for (const known of [fields, ...unknown, {}]) {
    const found = await check(known);
    assert.ok(Array.isArray(found), "its check answers no list");
    for (const finding of found) {
      const { pointer, code, message, severity } = Object(finding) as Partial<FieldFinding>;
      const isWhole = [pointer, code, message].every((text) => typeof text === "string");
      const isKnown = severity === "warning" || severity === "error";
      assert.ok(isWhole && isKnown, "a finding has pointer, code, message and severity");
      const told = `its check refuses a field that a flow computes: ${pointer} ${message}`;
      assert.ok(severity === "warning" || known === fields, told);
    }
  }
}

async function sendsTheSame(extension: ExtensionDefinition, sample: Sample): Promise<void> {
  const one = await runSample(extension, sample);
  const two = await runSample(extension, sample);
  assert.deepEqual(two.host.requests, one.host.requests);
  const keys = one.started.calls.map(({ key }) => key);
  for (const request of one.host.requests.filter(({ method }) => CREATES.has(method))) {
    const sent = JSON.stringify(request);
    const isTold = keys.some((key) => sent.includes(key));
    assert.ok(isTold, `${request.method} ${request.url} does not send ctx.idempotencyKey`);
  }
}

async function survivesCuts(extension: ExtensionDefinition, sample: Sample): Promise<void> {
  const { journal, cuts } = recordingJournal(createMemoryJournal);
  const { summary, started } = await runSample(extension, sample, { journal });
  const { type, fixture } = sample;
  for (const cut of cuts(started.run.id)) {
    const host = hostFor(extension, sample, { journal: await cut.open() });
    const again = await host
      .resume(started.run.id, type, fixture.fields)
      .catch((error: unknown) => {
        // The last write may have been the end of the run.
        if (EngineError.isInstance(error) && error.code === "run_not_resumable") return undefined;
        throw error;
      });
    if (again === undefined) continue;
    await finish(host, again);
    const { status } = await again.summary;
    assert.equal(status, summary.status, `taken up after write ${cut.at}`);
    const output = outputOf(again.events) ?? outputOf(started.events);
    assert.deepEqual(output, outputOf(started.events), `taken up after write ${cut.at}`);
  }
}

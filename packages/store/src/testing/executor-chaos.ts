/**
 * An executor whose process is killed, again and again, and what is left of its promises. The child is the caller's: it opens
 * the store in `dir`, takes over what is there, starts what is missing of the work, and ends when all of it has ended. What it
 * did outside is lines of files that it only appends to, so that a kill takes nothing back.
 */
import assert from "node:assert/strict";
import type { ChildProcessByStdio } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { type AnyEvent, checkLog, parseEvent } from "@millrace/contracts";
import { openStore, type Store } from "../open-store.ts";

/** What the child is to do. Runs are `c<n>`, or `q<n>` with a question in the middle, each with nodes `s<n>` one after another. */
export interface ChaosWork {
  readonly dir: string;
  readonly runs: number;
  /** Of them, runs that ask: two callers answer each question. */
  readonly questions: number;
  readonly steps: number;
  readonly minStepMs: number;
  readonly maxStepMs: number;
  /** Fire times of the schedule `chaos`: 1, 2, 3 … Each starts one run of one step. */
  readonly fires: number;
  /** A line `<run> <step>` for each time that a step has its effect, written before the step is done. */
  readonly effects: string;
  /** A line `<run> <seq> <SHA-256 of the line>` for each event that a connected reader got. */
  readonly seen: string;
  /** A line `<run> <id>` for each answer that was taken. */
  readonly answers: string;
}

/** The child, with a pipe for its standard output: a line once it has taken over what was there, then one for each effect. */
export type ChaosChild = ChildProcessByStdio<null, Readable, Readable | null>;

/** What came of it. All of `lost`, `duplicateFires`, `answeredTwice` and `unseen` must be 0. */
export interface ChaosReport {
  readonly kills: number;
  readonly runs: number;
  readonly steps: number;
  /** Steps that ended without their effect. */
  readonly lost: number;
  /** Steps whose effect came again. */
  readonly repeated: number;
  /** Steps that the logs show as interrupted: the most that may be repeated. */
  readonly interrupted: number;
  readonly duplicateFires: number;
  readonly answeredTwice: number;
  /** Events that a reader got and the journal does not have, or has otherwise. */
  readonly unseen: number;
  /** Of the slowest start, from its spawn to being at work, in milliseconds. */
  readonly slowestStartMs: number;
}

/** How the child is treated. `random`: from 0 to 1, default `Math.random`. */
export interface ChaosOptions {
  readonly work: ChaosWork;
  readonly kills: number;
  /** Effects that a child may have before it is killed, at most; some are killed before their first. */
  readonly maxEffects: number;
  readonly random?: () => number;
}

/** Kills the child so often, lets it finish, and counts. Rejects when a log is broken or the child fails by itself. */
export async function executorChaos(
  spawnExecutor: (work: ChaosWork) => ChaosChild,
  { work, kills, maxEffects, random = Math.random }: ChaosOptions,
): Promise<ChaosReport> {
  let slowestStartMs = 0;
  let done = 0;
  for (let isOver = false; !isOver; ) {
    const begun = performance.now();
    const child = spawnExecutor(work);
    const exited = exitOf(child);
    const lines =
      done < kills ? 1 + Math.floor(random() * (maxEffects + 1)) : Number.POSITIVE_INFINITY;
    let count = 0;
    child.stdout.on("data", (data: Buffer) => {
      if (count === 0) slowestStartMs = Math.max(slowestStartMs, performance.now() - begun);
      count += data.filter((byte) => byte === LINE_END).length;
      if (count >= lines) setTimeout(() => child.kill("SIGKILL"), random() * work.maxStepMs);
    });
    const { code, signal } = await exited;
    if (signal === "SIGKILL") done += 1;
    else assert.equal(code, 0, `the child failed with ${code ?? signal}`);
    isOver = code === 0;
  }
  const store = await openStore({ dir: work.dir });
  try {
    return {
      kills: done,
      slowestStartMs: Math.round(slowestStartMs),
      ...(await counted(store, work)),
    };
  } finally {
    await store.close();
  }
}

const LINE_END = 0x0a;

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

function exitOf(child: ChaosChild): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

type Counts = Omit<ChaosReport, "kills" | "slowestStartMs">;

async function counted(store: Store, work: ChaosWork): Promise<Counts> {
  const { questions, fires } = work;
  const effects = countsOf(work.effects);
  let runs = 0;
  let steps = 0;
  let lost = 0;
  let repeated = 0;
  let interrupted = 0;
  let unseen = 0;
  const seen = groupsOf(work.seen);
  for (const runId of idsOf(store)) {
    const lines = await linesOf(store, runId);
    const events = lines.map((line) => parseEvent(line, { strict: true }));
    const graph = store.runs.header(runId)?.graph;
    assert.deepEqual(checkLog(events, graph === undefined ? {} : { graph }), [], `of ${runId}`);
    assert.equal(events.filter(({ kind }) => kind === "summary").length, 1);
    assert.equal(store.runs.get(runId)?.status, "succeeded", `of ${runId}`);
    runs += 1;
    for (const step of stepsOf(events)) {
      const times = effects.get(`${runId} ${step}`) ?? 0;
      steps += 1;
      if (times === 0) lost += 1;
      repeated += Math.max(0, times - 1);
    }
    interrupted += events.filter(isInterrupted).length;
    const hashes = new Set(lines.map((line, index) => `${index + 1} ${hashOf(line)}`));
    unseen += (seen.get(runId) ?? []).filter((entry) => !hashes.has(entry)).length;
  }
  assert.equal(runs, work.runs + fires, "every run was started once");
  assert.ok(repeated <= interrupted, `${repeated} repeated, ${interrupted} were in flight`);
  const fired = store.schedules.fires("chaos", fires + 1);
  const byRun = new Set(fired.map(({ runId }) => runId));
  const answers = countsOf(work.answers);
  const answeredTwice = [...answers.values()].filter((times) => times > 1).length;
  assert.ok(answers.size <= questions);
  return {
    runs,
    steps,
    lost,
    repeated,
    interrupted,
    duplicateFires: Math.abs(fired.length - fires) + (fired.length - byRun.size),
    answeredTwice,
    unseen,
  };
}

function idsOf(store: Store): string[] {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = store.runs.list({ limit: 200, ...(cursor && { cursor }) });
    ids.push(...page.items.map(({ runId }) => runId));
    cursor = page.nextCursor;
  }
  return ids;
}

async function linesOf(store: Store, runId: string): Promise<string[]> {
  const lines: string[] = [];
  const decoder = new TextDecoder();
  for await (const page of store.journal.read(runId, 0)) {
    lines.push(...page.map(({ line }) => decoder.decode(line)));
  }
  return lines;
}

/** The nodes with an effect that the log says have succeeded. */
function stepsOf(events: readonly AnyEvent[]): string[] {
  return events.flatMap((event) => {
    const { node } = event as { readonly node?: string };
    return event.kind === "node.succeeded" && node?.startsWith("s") ? [node] : [];
  });
}

function isInterrupted(event: AnyEvent): boolean {
  const { error } = event as { readonly error?: { readonly code?: string } };
  return event.kind === "node.retrying" && error?.code === "interrupted";
}

/** What an event is known by in the file of what readers saw. */
function hashOf(line: string): string {
  return createHash("sha256").update(line).digest("hex");
}

/** Whole lines: the last one may have been cut by a kill. */
function wholeLines(path: string): string[] {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
}

function countsOf(path: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of wholeLines(path)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** By the first word of the lines, the rest of them. */
function groupsOf(path: string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const line of wholeLines(path)) {
    const at = line.indexOf(" ");
    const group = groups.get(line.slice(0, at)) ?? [];
    group.push(line.slice(at + 1));
    groups.set(line.slice(0, at), group);
  }
  return groups;
}

/** The reckoning after the kills: what clients and the world saw, beside what the store has. */
import { type AnyEvent, checkLog, parseEventStrict } from "@millrace/contracts";
import type { Store } from "@millrace/store";
import type { ChaosRuns, SeenRun } from "./chaos-runs.ts";

/** What came of it. `faults` is empty when every promise was kept. */
export interface ChaosReport {
  readonly kills: number;
  /** Of them, of nodes beside the servers. */
  readonly nodeKills: number;
  /** Of them, of a server before it served. */
  readonly earlyKills: number;
  /** Runs whose start was acknowledged to a client. */
  readonly accepted: number;
  /** Of these and of the fired ones, those that the store does not have as succeeded. */
  readonly lostRuns: number;
  readonly steps: number;
  /** Steps without their end, or with an end and without their effect. */
  readonly lostSteps: number;
  /** Effects that came again. */
  readonly repeated: number;
  /** Of these, effects of a step whose end a reader had seen before. */
  readonly repeatedEnded: number;
  /** Steps that were in flight at a kill, as the logs have it: the most that may be repeated. */
  readonly inFlight: number;
  readonly questions: number;
  /** Questions that were open across a kill and answered afterwards. */
  readonly heldQuestions: number;
  /** Questions that recovery withdrew and asked anew, as it repeats any step in flight. */
  readonly withdrawnQuestions: number;
  readonly answeredTwice: number;
  readonly fireTimes: number;
  /** Fire times with more than one run. */
  readonly firedTwice: number;
  readonly missedFires: number;
  /** Streams that were read over more than one life of a server. */
  readonly brokenStreams: number;
  readonly events: number;
  /** Events that a reader got twice, not at all, or otherwise than the store has them. */
  readonly gaps: number;
  readonly violations: number;
  /** Each thing that is wrong, as a sentence. */
  readonly faults: readonly string[];
  /** From the begin of the slowest life to its address. */
  readonly slowestStartMs: number;
  /** The longest time in which nothing came of a run that was at work. */
  readonly longestSilenceMs: number;
  readonly ms: number;
}

type Counts = Omit<ChaosReport, "kills" | "nodeKills" | "earlyKills" | "slowestStartMs" | "ms">;

/** Opens the store, in which nobody works any more, and counts. */
export async function countChaos(
  openStore: () => Promise<Store>,
  runs: ChaosRuns,
  effects: ReadonlyMap<string, number>,
): Promise<Counts> {
  const store = await openStore();
  try {
    const faults: string[] = [];
    const sums = { lostRuns: 0, steps: 0, lostSteps: 0, repeated: 0, inFlight: 0, violations: 0 };
    let gaps = 0;
    for (const run of runs.all.values()) {
      const lines = await linesOf(store, run.runId);
      gaps += run.gaps + differences(run.lines, lines);
      const one = await countRun(store, { run, lines, effects });
      for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += one[name];
      faults.push(...one.faults);
    }
    const fires = await countFires(store, runs, faults);
    const asked = await countQuestions(store, runs, faults);
    const seen = [...runs.all.values()];
    const accepted = seen.filter(({ runId }) => !fires.runIds.has(runId)).length;
    const stored = (await idsOf(store)).length;
    if (stored !== runs.all.size) faults.push(`${stored} runs are stored, ${runs.all.size} known`);
    if (runs.afterSuccess > 0)
      faults.push(`${runs.afterSuccess} effects after a reader had seen their success`);
    if (gaps > 0) faults.push(`${gaps} events came to readers twice, never, or changed`);
    return {
      accepted,
      ...sums,
      ...asked,
      repeatedEnded: runs.afterSuccess,
      longestSilenceMs: Math.round(runs.longestSilenceMs),
      fireTimes: fires.fireTimes,
      firedTwice: fires.firedTwice,
      missedFires: fires.missedFires,
      brokenStreams: seen.filter(({ lives }) => lives.size > 1).length,
      events: seen.reduce((sum, { lines }) => sum + lines.length, 0),
      gaps,
      faults,
    };
  } finally {
    await store.close();
  }
}

/** One run: its state, its steps and their effects, and the laws of its log. */
async function countRun(
  store: Store,
  {
    run,
    lines,
    effects,
  }: {
    readonly run: SeenRun;
    readonly lines: readonly string[];
    readonly effects: ReadonlyMap<string, number>;
  },
) {
  const { runId, steps } = run;
  const events = lines.map((line) => parseEventStrict(line));
  const faults: string[] = [];
  const status = (await store.runs.summary(runId))?.status ?? "nowhere";
  if (status !== "succeeded") {
    faults.push(`${runId} is ${status}: ${lines.at(-1)}`);
  }
  const graph = (await store.runs.header(runId))?.graph;
  const laws = checkLog(events, graph === undefined ? {} : { graph });
  const summaries = events.filter(({ kind }) => kind === "summary").length;
  faults.push(...laws.map((law) => `${runId}: ${JSON.stringify(law)}`));
  if (summaries !== 1) faults.push(`${runId} has ${summaries} summaries`);
  let lostSteps = 0;
  let repeated = 0;
  let inFlight = 0;
  for (let at = 0; at < steps; at += 1) {
    const step = `s${at}`;
    const times = effects.get(`${runId} ${step}`) ?? 0;
    const ends = events.filter((event) => isOf(event, step, "node.succeeded")).length;
    const cuts = events.filter((event) => isOf(event, step, "node.retrying")).length;
    if (times === 0 || ends !== 1) {
      lostSteps += 1;
      faults.push(`${runId} ${step}: ${ends} ends, ${times} effects`);
    }
    const again = Math.max(0, times - 1);
    if (again > cuts) faults.push(`${runId} ${step}: ${again} repeats, ${cuts} times in flight`);
    repeated += again;
    inFlight += cuts;
  }
  const lostRuns = status === "succeeded" ? 0 : 1;
  const violations = laws.length + (summaries === 1 ? 0 : 1);
  return { lostRuns, steps: steps - lostSteps, lostSteps, repeated, inFlight, violations, faults };
}

/** Every second has one run, from the first to the last. */
async function countFires(store: Store, { all }: ChaosRuns, faults: string[]) {
  const runIds = new Set<string>();
  const runsOf = new Map<number, number>();
  let missedFires = 0;
  let fireTimes = 0;
  for (const { id, body } of await store.schedules.list()) {
    const { everyMs } = body as { readonly everyMs: number };
    const fires = await store.schedules.fires(id, Number.MAX_SAFE_INTEGER);
    fireTimes += fires.length;
    fires.forEach(({ fireTime, runId, outcome }, at) => {
      const before = fires[at + 1]?.fireTime;
      if (before !== undefined) missedFires += (fireTime - before) / everyMs - 1;
      if (runId === null || outcome !== "started" || !all.has(runId)) {
        missedFires += 1;
        faults.push(`the fire of ${fireTime} has no run: ${outcome}`);
      }
    });
  }
  for (const runId of await idsOf(store)) {
    const source = (await store.runs.summary(runId))?.source;
    if (source === undefined || !("fireTime" in source)) continue;
    runIds.add(runId);
    const time = Date.parse(source.fireTime);
    runsOf.set(time, (runsOf.get(time) ?? 0) + 1);
  }
  const firedTwice = [...runsOf.values()].filter((count) => count > 1).length;
  if (firedTwice > 0) faults.push(`${firedTwice} fire times have more than one run`);
  if (missedFires > 0) faults.push(`${missedFires} fire times were missed`);
  if (runsOf.size !== fireTimes)
    faults.push(`${fireTimes} fire times are recorded, ${runsOf.size} have runs`);
  return { runIds, fireTimes, firedTwice, missedFires };
}

/**
 * Each run that asks has one answer, and it is the one whose sender was told so. A question whose node was still at work at the
 * kill, not yet waiting, is withdrawn by the recovery and asked anew.
 */
async function countQuestions(store: Store, runs: ChaosRuns, faults: string[]) {
  const answersOf = new Map<string, number>();
  const keys = new Set<string>();
  let answeredTwice = 0;
  let withdrawnQuestions = 0;
  for (const { runId, id, taken } of runs.questions) {
    keys.add(`${runId} ${id}`);
    const stored = await store.confirmations.get(runId, id);
    const said = runs.all.get(runId)?.lines.filter((line) => isAnswer(line, id)).length;
    if (taken.length > 1 || said !== 1) answeredTwice += 1;
    if (stored?.status === "cancelled" && taken.length === 0) withdrawnQuestions += 1;
    else if (stored?.status !== "approved" || taken.some((text) => text !== stored.comment)) {
      faults.push(`${runId} ${id} is ${JSON.stringify(stored)}, told ${taken}`);
    }
    const answers = stored?.status === "approved" ? 1 : 0;
    answersOf.set(runId, (answersOf.get(runId) ?? 0) + answers);
  }
  for (const [runId, answers] of answersOf) {
    if (answers !== 1) faults.push(`${runId} has ${answers} answers`);
  }
  if (keys.size !== runs.questions.length) faults.push("a question came twice");
  if (answeredTwice > 0) faults.push(`${answeredTwice} questions were answered more than once`);
  const held = runs.questions.filter(({ askedAfter, answeredAfter, taken }) => {
    return taken.length > 0 && answeredAfter > askedAfter;
  });
  const questions = runs.questions.length;
  return { questions, heldQuestions: held.length, withdrawnQuestions, answeredTwice };
}

function isAnswer(line: string, id: string): boolean {
  const event = JSON.parse(line) as { kind: string; id?: string };
  return event.kind === "confirm.resolved" && event.id === id;
}

function isOf(event: AnyEvent, step: string, kind: string): boolean {
  return event.kind === kind && (event as { readonly node?: string }).node === step;
}

/** Places at which two logs differ. */
function differences(a: readonly string[], b: readonly string[]): number {
  const length = Math.max(a.length, b.length);
  return Array.from({ length }).filter((_, at) => a[at] !== b[at]).length;
}

async function idsOf(store: Store): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.runs.list({ limit: 200, ...(cursor && { cursor }) });
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

/** The clients of servers that are killed: they start runs, read them to their end, answer what is asked, and keep what they saw. */
import assert from "node:assert/strict";
import { type ChaosFlow, flowText } from "./chaos-flow.ts";
import type { EffectCounter } from "./effect-counter.ts";
import type { KilledCluster } from "./killed-cluster.ts";

export interface SeenRun {
  readonly runId: string;
  readonly steps: number;
  /** The lines of its events, in the order of their arrival. */
  readonly lines: string[];
  /** The lives of servers that its events came from. */
  readonly lives: Set<number>;
  /** Events that came again, or without the one before. */
  gaps: number;
  /** Kills since it last got on; a run that waits for an answer stands as it is. */
  fruitless: number;
  at: number;
  state: "live" | "asking" | "ended";
}

export interface SeenQuestion {
  readonly runId: string;
  readonly id: string;
  /** How many kills there had been when it was read, and when it was answered. */
  readonly askedAfter: number;
  answeredAfter: number;
  /** The comments of the answers that were taken. */
  readonly taken: string[];
}

export interface ChaosClients {
  readonly cluster: KilledCluster;
  readonly effects: EffectCounter;
  readonly flow: ChaosFlow;
  readonly random: () => number;
  /** Told of every event that was read. */
  readonly told: () => void;
  /** How many kills of servers there have been. */
  readonly kills: () => number;
  /** Resolves after one more kill than this many, or at once when there will be none. */
  readonly later: (kills: number) => Promise<void>;
}

/** Of the questions, those whose answer waits for the next kill; the others are answered at once. */
const HELD = 0.7;
const ENDS: ReadonlySet<unknown> = new Set(["node.succeeded", "node.failed", "node.cancelled"]);

export class ChaosRuns {
  readonly all: Map<string, SeenRun> = new Map();
  readonly questions: SeenQuestion[] = [];
  /** Effects of steps whose success a reader had seen before. */
  afterSuccess = 0;
  /** The longest time in which nothing came of a run that was at work. */
  longestSilenceMs = 0;
  readonly #clients: ChaosClients;
  readonly #succeeded = new Set<string>();

  constructor(clients: ChaosClients) {
    this.#clients = clients;
  }

  /** Starts a run and stays with it to its end. */
  async start(n: number, asks: boolean): Promise<void> {
    const { cluster, flow, effects } = this.#clients;
    const runId = `${asks ? "q" : "c"}${n}`;
    const dsl = flowText(flow, effects.url, { n, asks });
    const { status, body } = await cluster.call("POST", "/api/runs", {
      body: { dsl, options: { runId } },
      headers: { "idempotency-key": runId },
    });
    assert.equal(status, 202, `${runId} is accepted: ${JSON.stringify(body)}`);
    await this.follow(runId, flow.steps);
  }

  /** Reads a run to its end, however often it must come back. */
  async follow(runId: string, steps: number): Promise<void> {
    const run: SeenRun = {
      runId,
      steps,
      lines: [],
      lives: new Set(),
      gaps: 0,
      fruitless: 0,
      at: performance.now(),
      state: "live",
    };
    this.all.set(runId, run);
    const answers: Promise<void>[] = [];
    for await (const { id, data } of this.#clients.cluster.frames(
      `/api/runs/${runId}/events`,
      run.lives,
    )) {
      if (id !== run.lines.length + 1) run.gaps += 1;
      run.lines.push(data);
      const event = JSON.parse(data) as { kind: string; id: string; node: string };
      this.#observe(run, event);
      if (event.kind === "confirm.requested") answers.push(this.#answer(runId, event.id));
      this.#clients.told();
      if (event.kind === "summary") break;
    }
    await Promise.all(answers);
  }

  observeEffect(effect: string): void {
    if (this.#succeeded.has(effect)) this.afterSuccess += 1;
  }

  /** A kill is done: who did not wait for an answer has been interrupted. */
  countKill(): void {
    for (const run of this.all.values()) if (run.state === "live") run.fruitless += 1;
  }

  /** The kills that the unluckiest run has seen since it last got on. */
  get fruitless(): number {
    let most = 0;
    for (const run of this.all.values())
      if (run.state === "live") most = Math.max(most, run.fruitless);
    return most;
  }

  #observe(run: SeenRun, { kind, node }: { readonly kind: string; readonly node: string }): void {
    const now = performance.now();
    if (run.state === "live") {
      this.longestSilenceMs = Math.max(this.longestSilenceMs, now - run.at);
    }
    run.at = now;
    if (kind === "node.succeeded") this.#succeeded.add(`${run.runId} ${node}`);
    if (ENDS.has(kind)) run.fruitless = 0;
    if (kind === "confirm.requested") run.state = "asking";
    if (kind === "confirm.resolved") run.state = "live";
    if (kind === "summary") run.state = "ended";
  }

  /** Two callers say yes at the same time, now or after the next kill. */
  async #answer(runId: string, id: string): Promise<void> {
    const { cluster, random, kills, later } = this.#clients;
    const askedAfter = kills();
    const question: SeenQuestion = { runId, id, askedAfter, answeredAfter: 0, taken: [] };
    this.questions.push(question);
    if (random() < HELD) await later(askedAfter);
    await cluster.up();
    question.answeredAfter = kills();
    const say = async (comment: string): Promise<void> => {
      const path = `/api/runs/${runId}/confirmations/${id}`;
      const body = { decision: "approve", comment };
      const reply = await cluster.call("POST", path, { body });
      if (reply.status === 200) question.taken.push(comment);
      else assert.equal(reply.status, 409, `${runId} is answered: ${JSON.stringify(reply.body)}`);
    };
    await Promise.all([say("anna"), say("bert")]);
  }
}

/**
 * Servers whose processes are killed, again and again, and what is left of their promises: one server, or a cluster of them with
 * what they stand on. All that counts is outside of them and outlives them: who starts runs, reads them, answers their questions,
 * and the world in which steps have their effects.
 *   L1  Exactly so many kills, each SIGKILL, at a random time or event; the next life of a server begins at once.
 *   L2  No run sees more kills in a row without getting on than recovery allows: a run that does is meant to fail (`crash_loop`).
 *   L3  No kill comes while fires are late by much: a fire that is late by a minute is meant to be missed.
 *   L4  Of many servers one serves at any time, and of the nodes beside them at most one is gone.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { openStore, type Store } from "@millrace/store";
import { type ChaosReport, countChaos } from "./chaos-count.ts";
import { type ChaosFlow, flowText } from "./chaos-flow.ts";
import { ChaosNodes, type KilledNodes } from "./chaos-nodes.ts";
import { ChaosRuns } from "./chaos-runs.ts";
import { countEffects } from "./effect-counter.ts";
import { type Ask, KilledCluster } from "./killed-cluster.ts";
import type { ChaosChild } from "./killed-server.ts";

export interface ChaosOptions {
  /** Data directory of the servers; nothing is in it yet. */
  readonly dir: string;
  /** How many servers there are; default 1. */
  readonly servers?: number;
  /** What else is killed. Default: nothing. */
  readonly nodes?: KilledNodes;
  /** Opens what the servers have stored. Default: the store on SQLite in `dir`. */
  readonly openStore?: () => Promise<Store>;
  readonly kills: number;
  /** Runs that are started, at least: there are more when they have all ended before the last kill. */
  readonly runs: number;
  /** Runs that are live at the same time. */
  readonly width: number;
  readonly flow: ChaosFlow;
  /** `fetch` of the platform. */
  readonly fetch: Ask;
  /** From 0 to 1, default `Math.random`. */
  readonly random?: () => number;
  /** Told after each kill. */
  readonly onKill?: (count: number) => void;
}

/** One of so many runs asks a person. */
const ASKS_EVERY = 3;
/** Kills while a server starts, never two in a row, and kills that wait for an event instead of a time. */
const EARLY = 0.2;
const AT_EVENT = 0.5;
/** How long it may be, and how many events and effects there may be before the next kill. */
const MAX_LIFE_MS = 900;
const MAX_EVENTS = 160;
/** Recovery gives a run up after five (`crash_loop`); one may go unseen before its client reads again, and one is spare. */
const MAX_FRUITLESS = 3;
const MAX_LATE_MS = 15_000;
const FIRE_EVERY_MS = 1_000; // the shortest that schedules allow
/** How late a fire may be stored that one server had begun when the schedule was switched off at another one. */
const LATE_FIRE_MS = 1_500;
const POLL_MS = 100;

/**
 * Kills the servers that `spawnExecutor` starts, lets them finish, and counts. A child must serve the whole API over the store
 * in `dir`, or over the one that all of them share; let flows reach loopback; write its address and a line end; and end well on
 * SIGTERM. `at` is the number of the server, from 0. Rejects when one ends by itself.
 */
export async function executorChaos(
  spawnExecutor: (dir: string, at: number) => ChaosChild,
  options: ChaosOptions,
): Promise<ChaosReport> {
  const chaos = await Chaos.over(spawnExecutor, options);
  return await chaos.run();
}

/** A run of a schedule as a list has it. */
interface FiredRun {
  readonly runId: string;
  readonly source: { readonly fireTime: string };
}

class Chaos {
  readonly #options: ChaosOptions;
  readonly #random: () => number;
  readonly #cluster: KilledCluster;
  readonly #nodes: ChaosNodes;
  readonly #effects: Awaited<ReturnType<typeof countEffects>>;
  readonly #runs: ChaosRuns;
  #wake: (() => void)[] = [];
  #serverKills = 0;
  #earlyKills = 0;
  /** The newest fire time whose run was seen, epoch milliseconds. */
  #lastFire = Date.now();
  #isOver = false;

  static async over(
    spawn: (dir: string, at: number) => ChaosChild,
    options: ChaosOptions,
  ): Promise<Chaos> {
    let told = (_: string): void => {};
    const effects = await countEffects((effect) => told(effect));
    const chaos = new Chaos(spawn, options, effects);
    told = (effect) => {
      chaos.#runs.observeEffect(effect);
      chaos.#pulse();
    };
    return chaos;
  }

  private constructor(
    spawn: (dir: string, at: number) => ChaosChild,
    options: ChaosOptions,
    effects: Awaited<ReturnType<typeof countEffects>>,
  ) {
    const { dir, random = Math.random, flow, servers = 1, fetch } = options;
    this.#options = options;
    this.#random = random;
    this.#effects = effects;
    this.#cluster = new KilledCluster({
      spawn: (at) => spawn(dir, at),
      ...{ servers, ask: fetch, random },
    });
    this.#nodes = new ChaosNodes(options.nodes, random);
    this.#runs = new ChaosRuns({
      cluster: this.#cluster,
      effects,
      flow,
      random,
      told: () => this.#pulse(),
      kills: () => this.#serverKills,
      later: (kills) => this.#later(kills),
    });
  }

  async run(): Promise<ChaosReport> {
    const startedAt = performance.now();
    const cluster = this.#cluster;
    const { dir, openStore: open = () => openStore({ dir }) } = this.#options;
    try {
      await Promise.race([this.#work(), cluster.failed, this.#nodes.failed]);
      await cluster.stop();
    } catch (error) {
      this.#isOver = true;
      await cluster.kill();
      throw error;
    } finally {
      await this.#nodes.settled();
      await this.#effects.close();
    }
    return {
      kills: this.#kills,
      nodeKills: this.#nodes.kills,
      earlyKills: this.#earlyKills,
      slowestStartMs: Math.round(cluster.slowestStartMs),
      ...(await countChaos(open, this.#runs, this.#effects.times)),
      ms: Math.round(performance.now() - startedAt),
    };
  }

  async #work(): Promise<void> {
    const { runs, width, flow } = this.#options;
    for (const server of this.#cluster.servers) server.begin();
    const schedule = await this.#schedule();
    let n = 0;
    const client = async (): Promise<void> => {
      while (n < runs || !this.#isLastLife) {
        n += 1;
        await this.#runs.start(n, n % ASKS_EVERY === 0 && flow.steps > 1);
      }
    };
    const watching = this.#watchFires();
    await Promise.all([this.#killAll(), ...Array.from({ length: width }, client)]);
    const { dsl: _, ...args } = schedule.args;
    const off = await this.#cluster.call("PUT", `/api/schedules/${schedule.id}`, {
      body: { ...args, enabled: false },
      headers: { "if-match": "*" },
    });
    assert.equal(off.status, 200, `the schedule is switched off: ${JSON.stringify(off.body)}`);
    this.#isOver = true;
    await watching;
  }

  get #isLastLife(): boolean {
    return this.#kills >= this.#options.kills;
  }

  get #kills(): number {
    return this.#serverKills + this.#nodes.kills;
  }

  /** A flow of one step, every second. */
  async #schedule(): Promise<{ id: string; args: { dsl?: string; template: string } }> {
    const dsl = flowText({ ...this.#options.flow, steps: 1 }, this.#effects.url, {
      n: 0,
      asks: false,
    });
    const saved = await this.#cluster.call("PUT", "/api/templates/tick", {
      body: { dsl },
      headers: { "if-none-match": "*" },
    });
    assert.equal(saved.status, 201, JSON.stringify(saved.body));
    const args = { template: "tick", everyMs: FIRE_EVERY_MS, overlap: "allow" };
    const made = await this.#cluster.call("POST", "/api/schedules", { body: args });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return { id: (made.body as { id: string }).id, args };
  }

  /** Reads what the schedule starts, until nothing of it is live after the end. */
  async #watchFires(): Promise<void> {
    const readers: Promise<void>[] = [];
    const lateMs = this.#cluster.servers.length > 1 ? LATE_FIRE_MS : 0;
    let end = Number.POSITIVE_INFINITY;
    for (let isLast = false; !isLast; ) {
      if (this.#isOver) end = Math.min(end, performance.now() + lateMs);
      isLast = performance.now() >= end;
      const page = await this.#cluster.call("GET", "/api/runs?trigger=schedule&limit=50");
      const { items } = page.body as { items: readonly FiredRun[] };
      for (const { runId, source } of items) {
        this.#lastFire = Math.max(this.#lastFire, Date.parse(source.fireTime));
        if (!this.#runs.all.has(runId)) readers.push(this.#runs.follow(runId, 1));
      }
      await sleep(POLL_MS);
    }
    await Promise.all(readers);
  }

  async #killAll(): Promise<void> {
    let wasEarly = true; // the first life sets everything up
    while (!this.#isLastLife) {
      const isEarly: boolean = !wasEarly && this.#random() < EARLY;
      if (isEarly) await sleep(this.#random() * this.#cluster.slowestStartMs);
      else await this.#moment();
      wasEarly = isEarly;
      if (!(await this.#nodes.kill())) await this.#killServer(isEarly);
      if (this.#isOver) return;
      this.#pulse();
      this.#options.onKill?.(this.#kills);
    }
  }

  /** One that starts, or one that serves while another one does. */
  async #killServer(isEarly: boolean): Promise<void> {
    const { servers } = this.#cluster;
    const starting = servers.filter(({ serving }) => serving === undefined);
    const { serving } = this.#cluster;
    const among = isEarly && starting.length > 0 ? starting : serving;
    const server = among[Math.floor(this.#random() * among.length)];
    const leaves = serving.length - (server?.serving === undefined ? 0 : 1);
    if (this.#isOver || server === undefined || (leaves === 0 && servers.length > 1)) return;
    if (server.serving === undefined) this.#earlyKills += 1;
    await server.kill();
    this.#runs.countKill();
    this.#serverKills += 1;
    server.begin();
  }

  /** A random moment at which enough servers serve and every run has got on often enough. */
  async #moment(): Promise<void> {
    await this.#cluster.enough();
    const time = sleep(this.#random() * MAX_LIFE_MS);
    if (this.#random() < AT_EVENT) {
      const events = 1 + Math.floor(this.#random() * MAX_EVENTS);
      const happened = async (): Promise<void> => {
        for (let left = events; left > 0; left -= 1) await this.#next();
      };
      await Promise.race([happened(), sleep(MAX_LIFE_MS)]);
    } else await time;
    while (this.#runs.fruitless >= MAX_FRUITLESS || Date.now() - this.#lastFire > MAX_LATE_MS) {
      await this.#next();
    }
  }

  /** Resolves after one more kill of a server, or after the last one. */
  async #later(kills: number): Promise<void> {
    while (this.#serverKills === kills && !this.#isLastLife) await this.#next();
  }

  #next(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #pulse(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const resolve of waiting) resolve();
  }
}

/**
 * A server whose process is killed, again and again, and what is left of its promises. All that counts is outside of it and
 * outlives it: who starts runs, reads them, answers their questions, and the world in which steps have their effects.
 *   L1  Exactly so many kills, each SIGKILL, at a random time or event of a life; the next life begins at once.
 *   L2  No run sees more kills in a row without getting on than recovery allows: a run that does is meant to fail (`crash_loop`).
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type ChaosReport, countChaos } from "./chaos-count.ts";
import { type ChaosFlow, flowText } from "./chaos-flow.ts";
import { ChaosRuns } from "./chaos-runs.ts";
import { countEffects } from "./effect-counter.ts";
import { type Ask, type ChaosChild, KilledServer } from "./killed-server.ts";

/** What is done to the server, and by whom. */
export interface ChaosOptions {
  /** Data directory of the server; nothing is in it yet. */
  readonly dir: string;
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
/** Kills while the server starts, never two in a row, and kills that wait for an event instead of a time. */
const EARLY = 0.2;
const AT_EVENT = 0.5;
/** How long a life may serve, and how many events and effects it may have before its kill. */
const MAX_LIFE_MS = 900;
const MAX_EVENTS = 160;
/** Recovery gives a run up after five (`crash_loop`); one may go unseen before its client reads again, and one is spare. */
const MAX_FRUITLESS = 3;
const FIRE_EVERY_MS = 1_000; // the shortest that schedules allow
const POLL_MS = 100;

/**
 * Kills the server that `spawnExecutor` starts, lets it finish, and counts. The child must serve the whole API over the store
 * in `dir`, let flows reach loopback, write its address and a line end, and end well on SIGTERM. Rejects when it ends by itself.
 */
export async function executorChaos(
  spawnExecutor: (dir: string) => ChaosChild,
  options: ChaosOptions,
): Promise<ChaosReport> {
  const chaos = await Chaos.over(spawnExecutor, options);
  return await chaos.run();
}

class Chaos {
  readonly #options: ChaosOptions;
  readonly #random: () => number;
  readonly #server: KilledServer;
  readonly #effects: Awaited<ReturnType<typeof countEffects>>;
  readonly #runs: ChaosRuns;
  #wake: (() => void)[] = [];
  #kills = 0;
  #earlyKills = 0;
  #slowestStartMs = 0;
  #isOver = false;

  static async over(spawn: (dir: string) => ChaosChild, options: ChaosOptions): Promise<Chaos> {
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
    spawn: (dir: string) => ChaosChild,
    options: ChaosOptions,
    effects: Awaited<ReturnType<typeof countEffects>>,
  ) {
    const { dir, random = Math.random, flow } = options;
    this.#options = options;
    this.#random = random;
    this.#effects = effects;
    this.#server = new KilledServer(() => spawn(dir), options.fetch);
    this.#runs = new ChaosRuns({
      server: this.#server,
      effects,
      flow,
      random,
      told: () => this.#pulse(),
      later: (life) => this.#later(life),
    });
  }

  async run(): Promise<ChaosReport> {
    const startedAt = performance.now();
    const server = this.#server;
    try {
      await Promise.race([this.#work(), server.failed]);
      await server.stop();
    } catch (error) {
      this.#isOver = true;
      await server.kill();
      throw error;
    } finally {
      await this.#effects.close();
    }
    return {
      kills: this.#kills,
      earlyKills: this.#earlyKills,
      slowestStartMs: Math.round(this.#slowestStartMs),
      ...(await countChaos(this.#options.dir, this.#runs, this.#effects.times)),
      ms: Math.round(performance.now() - startedAt),
    };
  }

  async #work(): Promise<void> {
    const { runs, width, flow } = this.#options;
    this.#begin();
    const schedule = await this.#schedule();
    let n = 0;
    const client = async (): Promise<void> => {
      while (n < runs || !this.#isLastLife()) {
        n += 1;
        await this.#runs.start(n, n % ASKS_EVERY === 0 && flow.steps > 1);
      }
    };
    const watching = this.#watchFires();
    await Promise.all([this.#killAll(), ...Array.from({ length: width }, client)]);
    const { dsl: _, ...args } = schedule.args;
    const off = await this.#server.call("PUT", `/api/schedules/${schedule.id}`, {
      body: { ...args, enabled: false },
      headers: { "if-match": "*" },
    });
    assert.equal(off.status, 200, `the schedule is switched off: ${JSON.stringify(off.body)}`);
    this.#isOver = true;
    await watching;
  }

  #isLastLife(): boolean {
    return this.#kills >= this.#options.kills;
  }

  /** A flow of one step, every second. */
  async #schedule(): Promise<{ id: string; args: { dsl?: string; template: string } }> {
    const dsl = flowText({ ...this.#options.flow, steps: 1 }, this.#effects.url, {
      n: 0,
      asks: false,
    });
    const saved = await this.#server.call("PUT", "/api/templates/tick", {
      body: { dsl },
      headers: { "if-none-match": "*" },
    });
    assert.equal(saved.status, 201, JSON.stringify(saved.body));
    const args = { template: "tick", everyMs: FIRE_EVERY_MS, overlap: "allow" };
    const made = await this.#server.call("POST", "/api/schedules", { body: args });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return { id: (made.body as { id: string }).id, args };
  }

  /** Reads what the schedule starts, until nothing of it is live after the end. */
  async #watchFires(): Promise<void> {
    const readers: Promise<void>[] = [];
    for (let isLast = false; !isLast; ) {
      isLast = this.#isOver;
      const page = await this.#server.call("GET", "/api/runs?trigger=schedule&limit=50");
      const { items } = page.body as { items: readonly { runId: string }[] };
      for (const { runId } of items) {
        if (!this.#runs.all.has(runId)) readers.push(this.#runs.follow(runId, 1));
      }
      await sleep(POLL_MS);
    }
    await Promise.all(readers);
  }

  async #killAll(): Promise<void> {
    let wasEarly = true; // the first life sets everything up
    while (!this.#isLastLife()) {
      const isEarly: boolean = !wasEarly && this.#random() < EARLY;
      if (isEarly) await sleep(this.#random() * this.#slowestStartMs);
      else {
        await this.#server.up;
        await this.#moment();
      }
      wasEarly = isEarly;
      if (this.#isOver) return;
      if (!this.#server.serves) this.#earlyKills += 1;
      await this.#server.kill();
      this.#runs.countKill();
      this.#kills += 1;
      this.#begin();
      this.#pulse();
      this.#options.onKill?.(this.#kills);
    }
  }

  /** A random moment of a life that serves, at which every run has got on often enough. */
  async #moment(): Promise<void> {
    const time = sleep(this.#random() * MAX_LIFE_MS);
    if (this.#random() < AT_EVENT) {
      const events = 1 + Math.floor(this.#random() * MAX_EVENTS);
      const happened = async (): Promise<void> => {
        for (let left = events; left > 0; left -= 1) await this.#next();
      };
      await Promise.race([happened(), sleep(MAX_LIFE_MS)]);
    } else await time;
    while (this.#runs.fruitless >= MAX_FRUITLESS) await this.#next();
  }

  #begin(): void {
    const begun = performance.now();
    this.#server.begin();
    const { life } = this.#server;
    void this.#server.up.then(({ number }) => {
      if (number !== life) return;
      this.#slowestStartMs = Math.max(this.#slowestStartMs, performance.now() - begun);
    });
  }

  /** Resolves in a later life, or in the last one. */
  async #later(life: number): Promise<void> {
    while (this.#server.life === life && !this.#isLastLife()) await this.#next();
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

/** Processes beside the servers, such as the nodes of a dispatcher: at most one of them is gone at a time. */
import { setTimeout as sleep } from "node:timers/promises";

/** Nodes, numbered from 0. */
export interface KilledNodes {
  readonly count: number;
  /** SIGKILL. Resolves when it is gone. */
  kill(node: number): Promise<void>;
  /** Resolves when it serves again. */
  start(node: number): Promise<void>;
}

/** Of the kills, those that meet a node, while all of them are there. */
const SHARE = 0.3;
/** How long a node may be gone before it is started again. */
const MAX_GONE_MS = 2_000;

export class ChaosNodes {
  kills = 0;
  /** Rejects when a node does not start again. */
  readonly failed: Promise<never>;
  readonly #nodes: KilledNodes | undefined;
  readonly #random: () => number;
  #fail: (error: unknown) => void = () => {};
  #restart: Promise<void> | undefined;

  constructor(nodes: KilledNodes | undefined, random: () => number) {
    this.#nodes = nodes;
    this.#random = random;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {});
  }

  /** Kills a node, by chance; answers whether it did. It is started again by itself. */
  async kill(): Promise<boolean> {
    const nodes = this.#nodes;
    if (nodes === undefined || this.#restart !== undefined || this.#random() >= SHARE) return false;
    const node = Math.floor(this.#random() * nodes.count);
    await nodes.kill(node);
    this.kills += 1;
    this.#restart = this.#startAgain(nodes, node);
    return true;
  }

  /** Resolves when no node is gone. */
  async settled(): Promise<void> {
    await this.#restart;
  }

  /** Never rejects. */
  async #startAgain(nodes: KilledNodes, node: number): Promise<void> {
    try {
      await sleep(this.#random() * MAX_GONE_MS);
      await nodes.start(node);
      this.#restart = undefined;
    } catch (error) {
      this.#fail(error);
    }
  }
}

/** Sending rings: one-way calls of the virtual object of a run, with its id as the key and nothing else. */
import { DispatcherError } from "@millrace/contracts";
import { sleep } from "@millrace/contracts/kit";
import type { Settings } from "./options.ts";
import { HANDLER, SERVICE } from "./service.ts";

/** How long one ingress may take; the ring then goes to the next one. A ring that is stored twice does no harm. */
const ANSWER_MS = 3_000;
/** How often each is asked: a partition that has just lost its leader answers a moment later. */
const ROUNDS = 2;
/** An ingress learns of a registration a moment after the admin that took it. */
const LEARN_MS = [50, 100, 200, 400, 800, 1_600];

/** How often a node is asked for its health while no ring tells how it is. */
const LOOK_MS = 1_000;

/** The nodes that take rings, the one that answered last first. */
export class Ingress {
  readonly #settings: Settings;
  #first = 0;
  /** Whether the last ring was taken, or there was no answer to it. */
  #takes = true;
  /** Whether any node has answered the last time. */
  #answers = true;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Whether rings are taken, as far as is known. */
  get takes(): boolean {
    return this.#takes && this.#answers;
  }

  /** Looks from now on whether a node answers, until the answer is called. */
  watch(): () => void {
    this.#timer = setInterval(() => {
      if (performance.now() - this.#answeredAt >= LOOK_MS) void this.#look();
    }, LOOK_MS).unref();
    return () => clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { ingress } = this.#settings;
    const inTurn = ingress.map((_, at) => ingress[(this.#first + at) % ingress.length]);
    for (const url of inTurn) {
      if (await this.#ask(`${url}/restate/health`, "GET").catch(() => undefined)) return;
    }
    this.#answers = false;
  }

  /**
   * Resolves when a node has stored the ring. `register` makes the service known to a cluster that does not know it, because it
   * is new or has lost everything. Rejects with `dispatcher_unavailable`.
   */
  async send(
    runId: string,
    options: { readonly delayMs: number; readonly register: () => Promise<void> },
  ): Promise<void> {
    try {
      if ((await this.#offer(runId, options.delayMs)) === "unknown") {
        await options.register();
        await this.#offerAgain(runId, options.delayMs);
      }
      this.#takes = true;
    } catch (error) {
      this.#takes = !this.#answers; // what no node has answered may be taken when one answers again
      throw error;
    }
  }

  async #offerAgain(runId: string, delayMs: number): Promise<void> {
    for (const ms of LEARN_MS) {
      if ((await this.#offer(runId, delayMs)) === "taken") return;
      await sleep(ms);
    }
    throw new DispatcherError("dispatcher_unavailable", "Restate does not know of any server");
  }

  /** Offers the ring to one node after the other. */
  async #offer(runId: string, delayMs: number): Promise<"taken" | "unknown"> {
    const { ingress } = this.#settings;
    const answeredAt = this.#answeredAt;
    let cause: unknown;
    for (let tried = 0; tried < ROUNDS * ingress.length; tried += 1) {
      const at = this.#first;
      try {
        const status = await this.#ask(sendUrl(ingress[at] ?? "", runId, delayMs), "POST");
        if (status === 404) return "unknown";
        if (status >= 200 && status < 300) return "taken";
        cause = new Error(`an ingress answered ${status}`);
      } catch (error) {
        cause = error;
      }
      // Rings that fail side by side move on by one node, not by one each.
      if (this.#first === at) this.#first = (at + 1) % ingress.length;
    }
    if (this.#answeredAt === answeredAt) this.#answers = false;
    throw new DispatcherError("dispatcher_unavailable", "no ingress of Restate took the ring", {
      cause,
    });
  }

  async #ask(url: string, method: "GET" | "POST"): Promise<number> {
    const { fetch } = this.#settings;
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await fetch(url, { method, redirect: "error", signal });
    await response.arrayBuffer();
    this.#answers = true;
    this.#answeredAt = performance.now();
    return response.status;
  }
}

function sendUrl(ingress: string, runId: string, delayMs: number): string {
  const delay = delayMs > 0 ? `?delay=${Math.ceil(delayMs)}ms` : "";
  return `${ingress}/${SERVICE}/${encodeURIComponent(runId)}/${HANDLER}/send${delay}`;
}

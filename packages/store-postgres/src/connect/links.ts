/** The connections of one kind of work, made when they are needed. */
import type { Link } from "./link.ts";

/** After a connection could not be made, those that are there do the work for so long. */
const PAUSE_MS = 1_000;

export class Links {
  readonly #connect: () => Promise<Link>;
  readonly #max: number;
  readonly #failed: (error: unknown) => void;
  readonly #open = new Set<Link>();
  readonly #opening = new Set<Promise<Link>>();
  #isClosed = false;
  #nextAt = 0;

  /** `failed` is told why no connection could be made while there was none. */
  constructor(options: {
    readonly connect: () => Promise<Link>;
    readonly max: number;
    readonly failed: (error: unknown) => void;
  }) {
    this.#connect = options.connect;
    this.#max = options.max;
    this.#failed = options.failed;
  }

  /** The link with the least to do. Rejects with the error of the driver when there is none and none can be made. */
  async pick(): Promise<Link> {
    if (this.#isClosed) throw new Error("closed");
    let best: Link | undefined;
    for (const link of this.#open) {
      if (!link.isOpen) this.#open.delete(link);
      else if (best === undefined || link.load < best.load) best = link;
    }
    if (best !== undefined && best.load === 0) return best;
    const mayAdd = best === undefined || performance.now() >= this.#nextAt;
    if (mayAdd && this.#open.size + this.#opening.size < this.#max) this.#add();
    return best ?? (await Promise.race(this.#opening));
  }

  /** Drops all at once: their calls are cut. */
  cut(): void {
    for (const link of this.#open) link.cut();
  }

  /** Ends all after what was sent on them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#opening);
    await Promise.all([...this.#open].map((link) => link.close()));
    this.#open.clear();
  }

  #add(): void {
    const opening = this.#connect().then(
      (link) => {
        this.#opening.delete(opening);
        if (this.#isClosed) void link.close();
        else {
          this.#open.add(link);
          void link.gone.then(() => this.#open.delete(link));
        }
        return link;
      },
      (error) => {
        this.#opening.delete(opening);
        this.#nextAt = performance.now() + PAUSE_MS;
        if (this.#open.size === 0) this.#failed(error);
        throw error;
      },
    );
    opening.catch(() => {});
    this.#opening.add(opening);
  }
}

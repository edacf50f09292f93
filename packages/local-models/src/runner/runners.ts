/**
 * The processes that run models.
 *   C1  At most `maxLoaded` processes at a time; an idle model makes room, the one that was used longest ago first.
 *   C2  A load that does not fit into the memory that is left, with every idle model gone, is refused before it starts. What
 *       another load is about to take is not left.
 *   C3  The longest waiting caller is served first.
 *   C4  One load for an id: callers at the same time share it.
 *   C5  An acquired model stays loaded until its last lease is released, unless it is unloaded with `force` or its process dies.
 */
import type {
  AbortSignalLike,
  Model,
  ModelLease,
  ModelLoadOptions,
  ModelRuntime,
} from "@millrace/contracts";
import { ModelError } from "../errors.ts";
import { type Machine, thisMachine } from "./machine.ts";
import { endOrphans } from "./orphans.ts";
import { type ForkRunner, forkRunner } from "./process.ts";
import { type RunnableModel, type Sizing, sizingOf } from "./sizing.ts";
import { type RunnerState, type RunnersContext, Slot } from "./slot.ts";

const MAX_LOADED = 1; // two models on one machine take each other's processors
const MEMORY_SHARE = 0.8; // the rest is for other processes

/** The runners of a manager. Nothing is started; processes that a dead manager has left are ended. What fails rejects with `ModelError`. */
export class Runners {
  readonly #context: RunnersContext;
  readonly #fork: ForkRunner;
  readonly #machine: Machine;
  readonly #maxLoaded: number;
  readonly #slots = new Map<string, Slot>();
  #isClosed = false;
  #isPumping = false;
  #isDirty = false;

  /** `parts`: what tests replace. */
  constructor(
    context: RunnersContext,
    parts: { readonly fork?: ForkRunner; readonly machine?: Machine } = {},
  ) {
    this.#context = context;
    this.#fork = parts.fork ?? forkRunner;
    this.#machine = parts.machine ?? thisMachine;
    this.#maxLoaded = context.settings.maxLoaded ?? MAX_LOADED;
    const ended = context.writable ? endOrphans(context.dir) : 0;
    if (ended > 0) context.log("warn", `${ended} processes of an earlier manager were ended`);
  }

  /** Null: at rest. */
  state(id: string): RunnerState | null {
    return this.#slots.get(id)?.state ?? null;
  }

  runtime(id: string): ModelRuntime | null {
    return this.#slots.get(id)?.runtime ?? null;
  }

  /** Why a crashed model is crashed; null otherwise. */
  error(id: string): Model["error"] {
    return this.#slots.get(id)?.error ?? null;
  }

  /** Resolves when the model is loaded; a crashed one is loaded at once, without its back-off. */
  async load(model: RunnableModel, options: ModelLoadOptions = {}): Promise<void> {
    const slot = this.#slotOf(model);
    slot.options = options;
    if (slot.state === "loaded" || slot.state === "busy") return;
    slot.forgive();
    const loaded = slot.loads.join();
    this.#pump();
    await loaded;
  }

  /** Resolves when its process has ended; at rest it does nothing. Rejects with `in_use` when busy, unless `force`. */
  async unload(id: string, { force = false }: { readonly force?: boolean } = {}): Promise<void> {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    slot.forgive();
    const isUsed = slot.state === "busy" || slot.leases.size > 0 || slot.state === "loading";
    if (isUsed && !force) throw new ModelError("in_use", `the model ${id} is in use`);
    slot.refuse(new ModelError("model_busy", `the model ${id} was unloaded`));
    await slot.stop();
  }

  async acquire(model: RunnableModel, signal?: AbortSignalLike): Promise<ModelLease> {
    return this.#slotOf(model).acquire(signal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const slots = [...this.#slots.values()];
    for (const slot of slots) slot.refuse(closedError(slot.id));
    await Promise.all(slots.map((slot) => slot.stop()));
  }

  /** The slot of a model, which is as it was last seen. */
  #slotOf(model: RunnableModel): Slot {
    if (this.#isClosed) throw closedError(model.id);
    let slot = this.#slots.get(model.id);
    if (slot === undefined) {
      const context = { ...this.#context, fork: this.#fork, changed: () => this.#pump() };
      slot = new Slot(model, context);
      this.#slots.set(model.id, slot);
    }
    slot.model = model;
    return slot;
  }

  /** Lets all callers continue that can. Changes meanwhile are handled in a second round. */
  #pump(): void {
    this.#isDirty = true;
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      while (this.#isDirty) {
        this.#isDirty = false;
        const slots = [...this.#slots.values()];
        for (const slot of slots) slot.serve();
        const waiting = slots.filter((slot) => !slot.isLive && Number.isFinite(slot.first));
        for (const slot of waiting.sort((a, b) => a.first - b.first)) this.#tryStart(slot);
      }
    } finally {
      this.#isPumping = false;
    }
  }

  #tryStart(slot: Slot): void {
    const [cores, maxLoaded] = [this.#machine.cores(), this.#maxLoaded];
    const sizing = sizingOf(slot.model, slot.options, { cores, maxLoaded });
    const live = [...this.#slots.values()].filter(({ isLive }) => isLive);
    const isLeaving = live.some(({ state }) => state === "unloading");
    const isFull = live.length >= maxLoaded;
    const room = this.#machine.availableBytes() * MEMORY_SHARE;
    const loading = live.filter(({ state }) => state === "loading");
    const taken = loading.reduce((sum, { sizing: own }) => sum + (own?.bytes ?? 0), 0);
    const isTight = sizing.bytes + taken > room;
    const mayWait = isLeaving || (sizing.bytes <= room && taken > 0);
    if (!isFull && !isTight) slot.start(sizing);
    else if (!mayWait) {
      const [idle] = live
        .filter(({ state, leases }) => state === "loaded" && leases.size === 0)
        .sort((a, b) => a.usedOrder - b.usedOrder);
      if (idle !== undefined) void idle.stop();
      else if (!isFull) slot.refuse(outOfMemory(slot.id, sizing));
    }
  }
}

function outOfMemory(id: string, { bytes }: Sizing): ModelError {
  const mib = Math.ceil(bytes / 1_048_576);
  const text = `the model ${id} needs ${mib} MiB of memory, more than is left on this machine`;
  return new ModelError("model_out_of_memory", text);
}

function closedError(id: string): ModelError {
  return new ModelError(
    "model_busy",
    `the model ${id} is not run any more: the manager is closing`,
  );
}

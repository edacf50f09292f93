/**
 * The processes that run models.
 *   C1  At most `maxLoaded` processes at a time; an idle model makes room, the one that was used longest ago first.
 *   C2  A load that does not fit into the memory that is left, with every idle model gone, is refused before it starts. What
 *       another load is about to take is not left.
 *   C3  The longest waiting caller is served first.
 */
import type { ModelRuntime } from "@millrace/contracts";
import { ModelError } from "../errors.ts";
import type { RunnableModel, Runners, RunnersContext } from "../runners.ts";
import { type ForkRunner, forkRunner } from "./fork-runner.ts";
import { type Machine, thisMachine } from "./machine.ts";
import { endOrphans } from "./orphans.ts";
import { type Sizing, sizingOf } from "./sizing.ts";
import { createSlot, type Slot } from "./slot.ts";

const MAX_LOADED = 1; // two models on one machine take each other's processors
const MEMORY_SHARE = 0.8; // the rest is for other processes

/** What tests replace. */
export interface RunnersParts {
  readonly fork?: ForkRunner;
  readonly machine?: Machine;
}

/** Makes the runners of a manager. Nothing is started; processes that a dead manager has left are ended. */
export function createRunners(context: RunnersContext, parts: RunnersParts = {}): Runners {
  const { fork = forkRunner, machine = thisMachine } = parts;
  const { dir, log, settings } = context;
  const maxLoaded = settings.maxLoaded ?? MAX_LOADED;
  const slots = new Map<string, Slot>();
  let isClosed = false;
  let isPumping = false;
  let isDirty = false;

  if (context.writable) {
    const ended = endOrphans(dir);
    if (ended > 0) log("warn", `${ended} processes of an earlier manager were ended`);
  }

  const slotOf = (model: RunnableModel): Slot => {
    let slot = slots.get(model.id);
    if (slot === undefined) {
      slot = createSlot(model.id, { ...context, fork, changed: pump }, model);
      slots.set(model.id, slot);
    }
    return slot;
  };

  /** Lets all callers continue that can. Changes meanwhile are handled in a second round. */
  function pump(): void {
    isDirty = true;
    if (isPumping) return;
    isPumping = true;
    try {
      while (isDirty) {
        isDirty = false;
        for (const slot of slots.values()) slot.serve();
        for (const slot of waitingFirst(slots.values())) tryStart(slot);
      }
    } finally {
      isPumping = false;
    }
  }

  function tryStart(slot: Slot): void {
    const { model, options } = slot.wanted;
    const sizing = sizingOf(model, options, { cores: machine.cores(), maxLoaded });
    const live = [...slots.values()].filter(({ pid }) => pid !== null);
    const isLeaving = live.some(({ state }) => state === "unloading");
    const isFull = live.length >= maxLoaded;
    const room = machine.availableBytes() * MEMORY_SHARE;
    const taken = live.reduce(
      (sum, { state, sizing: own }) => sum + (state === "loading" ? (own?.bytes ?? 0) : 0),
      0,
    );
    const isTight = sizing.bytes + taken > room;
    const mayWait = isLeaving || (sizing.bytes <= room && taken > 0);
    if (!isFull && !isTight) slot.start(sizing);
    else if (!mayWait) {
      const idle = longestIdle(live);
      if (idle !== undefined) void idle.stop();
      else if (!isFull) refuse(slot, outOfMemory(slot.id, sizing));
    }
  }

  function refuse(slot: Slot, error: ModelError): void {
    slot.leases.refuse(error);
    slot.loads.refuse(error);
  }

  return {
    state: (id) => slots.get(id)?.state ?? null,
    error: (id) => slots.get(id)?.error ?? null,
    runtime(id) {
      const slot = slots.get(id);
      return slot === undefined ? null : runtimeOf(slot);
    },
    async load(model, options = {}) {
      if (isClosed) throw closedError(model.id);
      const slot = slotOf(model);
      slot.want(model, options);
      if (slot.state === "loaded" || slot.state === "busy") return;
      slot.forgive();
      const loaded = slot.loads.join();
      pump();
      await loaded;
    },
    async unload(id, { force = false } = {}) {
      const slot = slots.get(id);
      if (slot === undefined) return;
      slot.forgive();
      const isUsed = slot.state === "busy" || slot.leases.size > 0 || slot.state === "loading";
      if (isUsed && !force) throw new ModelError("in_use", `the model ${id} is in use`);
      refuse(slot, new ModelError("model_busy", `the model ${id} was unloaded`));
      await slot.stop();
    },
    async acquire(model, signal) {
      if (isClosed) throw closedError(model.id);
      const slot = slotOf(model);
      slot.want(model);
      return slot.acquire(signal);
    },
    async close() {
      isClosed = true;
      for (const slot of slots.values()) refuse(slot, closedError(slot.id));
      await Promise.all([...slots.values()].map((slot) => slot.stop()));
    },
  };
}

/** Models with waiting callers and without a process, the longest wait first. */
function waitingFirst(slots: Iterable<Slot>): readonly Slot[] {
  const placeOf = ({ leases, loads }: Slot): number =>
    Math.min(leases.first ?? Number.POSITIVE_INFINITY, loads.first ?? Number.POSITIVE_INFINITY);
  return [...slots]
    .filter((slot) => slot.pid === null && Number.isFinite(placeOf(slot)))
    .sort((a, b) => placeOf(a) - placeOf(b));
}

function longestIdle(live: readonly Slot[]): Slot | undefined {
  return live
    .filter(({ state, leases }) => state === "loaded" && leases.size === 0)
    .sort((a, b) => a.usedOrder - b.usedOrder)[0];
}

function runtimeOf({ pid, sizing, loadedAt, expiresAt, state, leases }: Slot): ModelRuntime | null {
  if (pid === null || sizing === null || loadedAt === null) return null;
  return {
    pid,
    loadedAt: new Date(loadedAt).toISOString(),
    threads: sizing.threads,
    contextSize: sizing.contextSize,
    active: state === "busy" ? 1 : 0,
    queued: leases.size,
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
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

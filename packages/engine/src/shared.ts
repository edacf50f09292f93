/** Values that the nodes of one engine share, such as circuits and settings; the engine does not know what they are. */
import type { Host } from "./host.ts";
import type { EngineOptions } from "./options.ts";

/** The engine that a shared value is made for. */
export interface SharingEngine {
  readonly options: EngineOptions;
  readonly host: Host;
}

/** A value of one engine. */
export interface Shared {
  /** Drops what belongs to a run that has ended. */
  endRun?(runId: string): void;
}

/** Names a shared value and makes it: once for each engine, at the first use. */
export class SharedKey<T extends Shared> {
  readonly #make: (engine: SharingEngine) => T;
  readonly #made: WeakMap<SharingEngine, T> = new WeakMap();

  constructor(make: (engine: SharingEngine) => T) {
    this.#make = make;
  }

  /** The value of an engine. */
  of(engine: SharingEngine): T {
    const made = this.#made.get(engine) ?? this.#make(engine);
    this.#made.set(engine, made);
    return made;
  }
}

/** Values that the nodes of one engine share, such as circuits and keys; the engine does not know what they are. */
import type { EgressPolicy, Host } from "./host.ts";

/** A value of one engine. */
export interface Shared {
  /** Drops what belongs to a run that has ended. */
  endRun?(runId: string): void;
}

/** Parts from which a shared value is made: the machine and network policy of its engine, and its settings. */
export interface SharedParts<S> {
  readonly host: Host;
  readonly egress: EgressPolicy;
  /** Undefined: the engine was given none. */
  readonly settings: S | undefined;
}

/** Names a shared value and makes it: once for each engine, at the first use (`ctx.shared(KEY)`). */
export class SharedKey<T extends Shared, S = never> {
  readonly make: (parts: SharedParts<S>) => T;

  constructor(make: (parts: SharedParts<S>) => T) {
    this.make = make;
  }

  /** Settings of the value in one engine, for `createEngine({ settings: [KEY.with(…)] })`. */
  with(settings: S): Setting {
    return new Setting(this, settings);
  }
}

/** Settings of one shared value; made by `SharedKey.with`. */
export class Setting {
  readonly key: object;
  readonly value: unknown;

  constructor(key: object, value: unknown) {
    this.key = key;
    this.value = value;
  }
}

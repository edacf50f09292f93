/**
 * The models that a node may ask, in order.
 *   T1  targets are walked forwards, never back; a target that was left is not asked again by this attempt.
 *   T2  a model whose circuit is open is passed over without a request, unless all that are left are open.
 */
import { NodeError } from "@millrace/contracts";
import type { CoreContext } from "@millrace/engine";
import type { Probe } from "./circuit.ts";
import { type AiFailure, mayFailOver, PASSING } from "./failure.ts";
import { type AiFields, SAMPLING, type Sampling } from "./fields.ts";
import { AI } from "./runtime.ts";

/** A model with everything that a call of it needs to know from the flow. */
export interface Target {
  /** 0: the node's own; n: the n-th to fall back to. */
  readonly index: number;
  readonly provider: string;
  readonly modelId: string;
  /** Reference of its credential; default that of the provider's settings. */
  readonly credential: string | undefined;
  readonly sampling: Sampling;
  /** Reasons for which it stands in. */
  readonly on: readonly string[];
}

/** The name of a target in messages. */
export function nameOf({ provider, modelId }: Pick<Target, "provider" | "modelId">): string {
  return `${provider}/${modelId}`;
}

export class Targets {
  readonly #all: readonly Target[];
  readonly #ctx: CoreContext;
  readonly #obeysCircuit: boolean;
  #at = 0;
  #probe: { readonly key: string; readonly probe: Probe } | null = null;

  constructor(fields: AiFields, ctx: CoreContext) {
    this.#all = listTargets(fields, ctx);
    this.#ctx = ctx;
    this.#obeysCircuit = fields.circuit;
  }

  /** The target that the next call asks. */
  get current(): Target {
    return this.#all[this.#at] as Target;
  }

  /** Continues at the target of an earlier part of this try. */
  moveTo(index: number): void {
    this.#at = Math.max(this.#at, Math.min(index, this.#all.length - 1));
  }

  /** Whether another target stands in after this failure. */
  hasNext(failure: AiFailure): boolean {
    return this.#next(failure) !== undefined;
  }

  /** Goes to the next target that stands in. */
  advance(failure: AiFailure): void {
    this.#at = this.#next(failure) ?? this.#at;
  }

  /** Goes to the next target whatever it stands in for; false: there is none. */
  advanceAnyway(): boolean {
    if (this.#at + 1 >= this.#all.length) return false;
    this.#at += 1;
    return true;
  }

  #next(failure: AiFailure): number | undefined {
    if (!mayFailOver(failure)) return undefined;
    return this.#eligible((on) => on.includes(failure.reason))[0];
  }

  /** Places behind the present one of targets that stand in for something. */
  #eligible(stands: (on: readonly string[]) => boolean): number[] {
    return this.#all.flatMap(({ on }, at) => (at > this.#at && stands(on) ? [at] : []));
  }

  /** Skips models whose circuit is open. Of a model that failed, only one node may try a call at a time, until `release`. */
  skipOpen(): void {
    if (!this.#obeysCircuit) return;
    this.#passOver();
    const key = circuitKey(this.current);
    const probe = this.#ctx.shared(AI).circuits.claim(key);
    if (probe !== null) this.#probe = { key, probe };
  }

  /** Releases a trial of which no call came, so that another node may try. */
  release(): void {
    if (this.#probe !== null)
      this.#ctx.shared(AI).circuits.release(this.#probe.key, this.#probe.probe);
    this.#probe = null;
  }

  #passOver(): void {
    const { circuits } = this.#ctx.shared(AI);
    const now = this.#ctx.now();
    const isOpen = (at: number): boolean =>
      circuits.isOpen(circuitKey(this.#all[at] as Target), now);
    if (!isOpen(this.#at)) return;
    const stands = (on: readonly string[]) => on.some((reason) => PASSING.has(reason));
    const places = [this.#at, ...this.#eligible(stands)];
    const closed = places.find((at) => !isOpen(at));
    for (const at of places) {
      if (at === closed) break;
      const text = `${nameOf(this.#all[at] as Target)} keeps failing and is left alone for a while`;
      this.#ctx.warn("ai_circuit_open", text);
    }
    const openedAt = (at: number): number =>
      circuits.openedAt(circuitKey(this.#all[at] as Target)) ?? 0;
    this.#at = closed ?? places.reduce((a, b) => (openedAt(b) < openedAt(a) ? b : a));
  }
}

export function circuitKey({ provider, modelId, credential }: Target): string {
  return JSON.stringify([provider, modelId, credential ?? null]);
}

function listTargets(fields: AiFields, ctx: CoreContext): readonly Target[] {
  const { defaultProvider, defaultModels = {} } = ctx.shared(AI).options;
  const provider = fields.provider ?? defaultProvider;
  if (provider === undefined) throw missing("provider", "and the operator has no default");
  const byDefault = Object.hasOwn(defaultModels, provider) ? defaultModels[provider] : undefined;
  const modelId = fields.modelId ?? byDefault;
  if (modelId === undefined) throw missing("modelId", `and ${provider} has no default model`);
  const sampling = samplingOf(fields);
  const own: Target = {
    index: 0,
    provider,
    modelId,
    credential: fields.credential,
    sampling,
    on: NOTHING,
  };
  const others = fields.failover.map(
    (target, at): Target => ({
      index: at + 1,
      provider: target.provider,
      modelId: target.modelId,
      credential:
        target.credential ?? (target.provider === provider ? fields.credential : undefined),
      sampling: { ...sampling, ...samplingOf(target.params ?? {}) },
      on: target.on ?? fields.failoverOn,
    }),
  );
  return [own, ...others];
}

const NO_SAMPLING: Sampling = {};
const NOTHING: readonly string[] = [];

function samplingOf(from: Sampling): Sampling {
  const known = SAMPLING.filter((name) => from[name] !== undefined && from[name] !== null);
  if (known.length === 0) return NO_SAMPLING;
  return Object.fromEntries(known.map((name) => [name, from[name]]));
}

function missing(field: string, why: string): NodeError {
  return new NodeError("field_invalid", `${field}: the node names none, ${why}`, {
    reason: "input",
  });
}

/** How a model is loaded: context, threads, and the memory that this takes. */
import type { Model, ModelLoadOptions } from "@millrace/contracts";
import type { GgufFacts } from "../gguf/inspect.ts";
import { DEFAULT_CONTEXT, DEFAULT_TTL_MS } from "../library/entry.ts";

const FILE_FACTOR = 1.05; // weights as the engine lays them out
const ENGINE_BYTES = 256 * 1024 * 1024; // the engine itself and its buffers
const BYTES_OF_VALUE = 2; // of keys and values, in half precision

/** A model whose files have just been looked at and are whole. */
export interface RunnableModel {
  readonly id: string;
  /** Absolute; of a split model the first part, whose folder has the others. */
  readonly path: string;
  /** Bytes of all files. */
  readonly bytes: number;
  readonly gguf: GgufFacts;
  readonly defaults: Model["defaults"];
}

export interface Sizing {
  readonly contextSize: number;
  readonly threads: number;
  /** Milliseconds from the last release; 0: at once, -1: never. */
  readonly ttlMs: number;
  readonly bytes: number;
}

/**
 * What a load takes from its options, else from the model's defaults, else: a context of 4,096 tokens, never more than the model
 * was made for, and one thread less than there are cores, shared by as many models as may be loaded.
 */
export function sizingOf(
  { bytes, gguf, defaults }: RunnableModel,
  options: ModelLoadOptions,
  machine: { readonly cores: number; readonly maxLoaded: number },
): Sizing {
  const wanted = options.contextSize ?? defaults.contextSize ?? DEFAULT_CONTEXT;
  const contextSize = gguf.contextLength > 0 ? Math.min(wanted, gguf.contextLength) : wanted;
  const free = Math.max(1, machine.cores - 1);
  const cache = 2 * gguf.layers * contextSize * gguf.kvHeads * gguf.headDim * BYTES_OF_VALUE;
  return {
    contextSize,
    threads:
      options.threads ?? defaults.threads ?? Math.max(1, Math.floor(free / machine.maxLoaded)),
    ttlMs: options.ttlMs ?? defaults.ttlMs ?? DEFAULT_TTL_MS,
    bytes: Math.ceil(bytes * FILE_FACTOR) + cache + ENGINE_BYTES,
  };
}

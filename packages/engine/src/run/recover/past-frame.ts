/**
 * What a log says of a moment: which nodes had ended by then, and with what. Expressions read it as they read a run at work.
 *   P1  only what had happened before the moment is read.
 *   P2  what is no longer known is `unknown`, never another value: a text that was redacted may be handed on as it is shown, but
 *       nothing is computed from it.
 */
import type { FieldValue, Json, JsonObject } from "@millrace/contracts";
import { isObject, redactedPlaces } from "@millrace/contracts/kit";
import type { Layout } from "../../compile/layout.ts";
import type { Read } from "../../compile/names.ts";
import type { ReadingScope, Value } from "../../compile/value.ts";
import { Frame, PENDING } from "../frame.ts";
import { scopeOf } from "../scope.ts";

/** How a node ended. */
export interface PastEnd {
  readonly seq: number;
  readonly ts: number;
  readonly state: number;
  readonly output: Json;
  /** Reference of an output that is not on its event. */
  readonly ref: string | null;
}

/** A value, or that it is not known any more. */
export type Known = { readonly value: Json } | null;

/** An expression of a moment. */
export interface PastValue {
  readonly value: Value;
  /** As it is written. */
  readonly source: FieldValue;
  /** `seq` of the moment. */
  readonly until: number;
  /** The value of `now()`. */
  readonly now: number;
  /** The result is null without one of these. */
  readonly required?: readonly Read[];
}

/** Thrown where a value has to be loaded first. */
class NotLoaded extends Error {
  readonly ref: string;

  constructor(ref: string) {
    super(`the value ${ref} is not loaded`);
    this.ref = ref;
  }
}

/** A run as its log has it. */
export class Past {
  readonly ends: Map<string, PastEnd> = new Map();
  /** Values that expressions read as `run`. */
  info: JsonObject = {};
  vars: JsonObject = {};
  /** Their values are in no log. */
  readonly secretValues: Map<string, string> = new Map();
  /** `seq` of the moment. */
  until = 0;
  readonly #load: (ref: string) => Promise<Json | undefined>;
  /** By reference; null: the journal no longer has it. */
  readonly #values: Map<string, Known> = new Map();
  /** The reason that stopped the last evaluation, even where the expression handled the error. */
  #stopped: "unknown" | NotLoaded | null = null;

  /** `load`: a value by its reference. */
  constructor(load: (ref: string) => Promise<Json | undefined>) {
    this.#load = load;
  }

  /** The value of an expression in a frame. It is begun again for each value that is not loaded. */
  async evaluate(frame: PastFrame, what: PastValue): Promise<Known> {
    this.#values.clear(); // a loop reads other values in each of its rounds
    for (;;) {
      const known = this.#try(frame, what);
      const stopped = this.#why();
      if (!(stopped instanceof NotLoaded)) return stopped === null ? known : null;
      const value = await this.#load(stopped.ref);
      this.#values.set(stopped.ref, value === undefined ? null : { value });
    }
  }

  #try(frame: PastFrame, { value, source, until, now, required = [] }: PastValue): Known {
    const scope = scopeOf(this, frame);
    this.#stopped = null;
    this.until = until;
    try {
      if (!required.every((read) => frame.isPresent(read))) return { value: null };
      const result = value.evaluate(scope, now);
      return handsOn(source) || !this.#readsRedacted(scope, value) ? { value: result } : null;
    } catch {
      return null; // what failed then fails again
    }
  }

  /** Locals of a body; an unknown one stops the evaluation that reads it. */
  named(locals: { readonly [name: string]: Known }): JsonObject {
    const names = {};
    for (const [name, known] of Object.entries(locals)) {
      const get = () => (known === null ? this.unknown() : known.value);
      Object.defineProperty(names, name, { get, enumerable: true });
    }
    return names;
  }

  /** The output of a node that has ended. */
  outputOf({ ref, output }: PastEnd): Json {
    if (ref === null) return output;
    const known = this.#values.get(ref);
    if (known === undefined) this.#stop(new NotLoaded(ref));
    return known === null || known === undefined ? this.unknown() : known.value;
  }

  /** Ends an evaluation that reads what is not known. */
  unknown(): never {
    return this.#stop("unknown");
  }

  #stop(why: "unknown" | NotLoaded): never {
    this.#stopped ??= why;
    throw why === "unknown" ? new Error("not known any more") : why;
  }

  #why(): "unknown" | NotLoaded | null {
    return this.#stopped;
  }

  #readsRedacted(scope: ReadingScope, value: Value): boolean {
    return value.references.some(({ root, path }) => {
      scope.reading = value;
      let read = scope.get(root);
      for (const name of path) {
        if (!isObject(read) || !Object.hasOwn(read, name)) break;
        read = read[name];
      }
      return read !== undefined && redactedPlaces(read).length > 0;
    });
  }
}

const NAME = /^[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*|\[(?:\d+|"[^"\\]*")\])*$/;

/** Whether a value is made of data and of what it reads, without computing anything. */
function handsOn(source: FieldValue): boolean {
  if (Array.isArray(source)) return source.every(handsOn);
  if (!isObject(source)) return true;
  const { $: expression, $t: parts } = source;
  if (typeof expression === "string") return NAME.test(expression.trim());
  if (Array.isArray(parts)) return parts.every(handsOn);
  return Object.values(source).every((inner) => inner === undefined || handsOn(inner));
}

/** A frame of a run that is not at work: what its nodes left is read from the log. */
export class PastFrame extends Frame {
  readonly #past: Past;

  /** `inputs` or a local that is null is not known any more. */
  constructor(
    past: Past,
    layout: Layout,
    base: string,
    names: {
      readonly inputs: JsonObject | null;
      readonly outer: PastFrame | null;
      readonly locals: { readonly [name: string]: Known } | null;
    },
  ) {
    const locals = names.locals && past.named(names.locals);
    super(
      layout,
      { id: 0, base, depth: 0 },
      { inputs: names.inputs ?? {}, outer: names.outer, ...(locals && { locals }) },
    );
    this.#past = past;
    if (names.inputs === null) {
      Object.defineProperty(this, "inputs", { get: () => past.unknown() });
    }
  }

  override state(node: number): number {
    return this.#endOf(node)?.state ?? PENDING;
  }

  override output(node: number): Json | undefined {
    const end = this.#endOf(node);
    return end && this.#past.outputOf(end);
  }

  #endOf(node: number): PastEnd | undefined {
    const end = this.#past.ends.get(this.path(node));
    return end !== undefined && end.seq < this.#past.until ? end : undefined;
  }
}

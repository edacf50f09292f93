/** One value of a flow, compiled: a constant that all attempts share, or a closure with the nodes that it reads. */
import type { FieldValue, Json } from "@millrace/contracts";
import { type CompiledValue, compileValue, type Reference, type Scope } from "@millrace/dsl";
import type { Limits } from "../limits.ts";
import { type Names, noteOutside, type OutsideNames, type Read, readsOf } from "./names.ts";

const NO_ROOTS: ReadonlySet<string> = new Set();

/** Options that all values of a flow share. */
export interface ValueOptions {
  readonly names: Names;
  readonly limits: Limits;
  /** Extra roots of a deferred field. */
  readonly roots?: ReadonlySet<string>;
  /** Where the variables and secrets that it reads are noted. */
  readonly outside?: OutsideNames;
}

/** A scope that knows which value is being evaluated, because what a failed node shows depends on it. */
export interface ReadingScope extends Scope {
  reading: Value;
}

export class Value {
  readonly constant: boolean;
  readonly reads: readonly Read[];
  /** Roots whose `error` this value asks for. */
  readonly errorsOf: ReadonlySet<string>;
  /** Ids it reads through `nodes["…"]`; `all` when one of them is computed. */
  readonly viaNodes: readonly string[] | "all";
  readonly #compiled: CompiledValue;

  constructor(source: FieldValue, options: ValueOptions) {
    const { names, limits } = options;
    this.#compiled = compileValue(source, {
      limits: { steps: limits.exprSteps, bytes: limits.exprBytes },
    });
    const { references, constant } = this.#compiled;
    this.constant = constant;
    if (options.outside !== undefined) noteOutside(references, names, options.outside);
    this.reads = readsOf(references, names, options.roots ?? NO_ROOTS);
    const errors = references.filter(({ path }) => path[0] === "error").map(({ root }) => root);
    this.errorsOf = errors.length === 0 ? NO_ROOTS : new Set(errors);
    const via = references.filter(({ root }) => root === "nodes").map(({ path }) => path[0]);
    this.viaNodes = via.every((id) => typeof id === "string") ? (via as string[]) : "all";
  }

  /** References of the expression, as written. */
  get references(): readonly Reference[] {
    return this.#compiled.references;
  }

  /** Throws `ExpressionError`. `nowEpoch` is what `now()` gives. */
  evaluate(scope: ReadingScope, nowEpoch: number): Json {
    scope.reading = this;
    return this.#compiled.evaluate(scope, { nowEpoch }) as Json;
  }
}

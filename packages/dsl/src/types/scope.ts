/** Types of names during inference, narrowed by conditions. */

import { chainOf, literalStep } from "../expression/references.ts";
import type { Expression } from "../syntax/ast.ts";
import type { FlowType } from "./flow-type.ts";

/** Roots that always have a value. */
export const ALWAYS_PRESENT: ReadonlySet<string> = new Set(
  "inputs nodes run vars secrets".split(" "),
);

/** Types of the names that an expression may read. */
export interface TypeEnv {
  /** The type of a root; undefined is an unknown name. */
  get(root: string): FlowType | undefined;
  /** The type of `nodes["id"]`, undefined when no visible node bears the id. Absent: `nodes` is read like any object. */
  node?(id: string): FlowType | undefined;
  /** Whether an optional read of a root may give null. Absent: all but `inputs`, `nodes` and `run`. */
  mayBeAbsent?(root: string): boolean;
  /** Known names, for "did you mean". */
  names?(): Iterable<string>;
}

/** Places that are known not to be null: chains of names, as keys. */
export type Facts = ReadonlySet<string>;

const NO_FACTS: Facts = new Set();

/** A macro variable. */
interface Variable {
  readonly name: string;
  readonly type: FlowType;
  readonly depth: number;
  readonly outer: Variable | null;
}

/** The environment at one place of an expression; immutable. */
export class TypeScope {
  readonly env: TypeEnv;
  readonly facts: Facts;
  readonly #variable: Variable | null;

  constructor(env: TypeEnv, variable: Variable | null = null, facts: Facts = NO_FACTS) {
    this.env = env;
    this.facts = facts;
    this.#variable = variable;
  }

  /** The macro variable of a name. */
  variable(name: string): Variable | undefined {
    for (let at = this.#variable; at !== null; at = at.outer) if (at.name === name) return at;
    return undefined;
  }

  bind(name: string, type: FlowType): TypeScope {
    const outer = this.#variable;
    const depth = (outer?.depth ?? 0) + 1;
    return new TypeScope(this.env, { name, type, depth, outer }, this.facts);
  }

  given(facts: Facts): TypeScope {
    if (facts.size === 0) return this;
    return new TypeScope(this.env, this.#variable, new Set([...this.facts, ...facts]));
  }

  /** The key of a chain of literal names; undefined for anything else. Equal keys are the same place. */
  keyOf(node: Expression): string | undefined {
    const { base, links } = chainOf(node);
    const steps = links.map(literalStep);
    if (base.kind !== "name" || steps.includes(undefined)) return undefined;
    return JSON.stringify([this.variable(base.name)?.depth ?? 0, base.name, ...steps]);
  }
}

/** The names that are not null when a condition holds, or does not. */
export function factsOf(node: Expression, holds: boolean, scope: TypeScope): Facts {
  if (node.kind === "unary" && node.op === "!") return factsOf(node.operand, !holds, scope);
  if (node.kind !== "binary") return NO_FACTS;
  const { op, left, right } = node;
  if (op === "&&" || op === "||") {
    const a = factsOf(left, holds, scope);
    const b = factsOf(right, holds, scope);
    if ((op === "&&") === holds) return new Set([...a, ...b]);
    return new Set([...a].filter((key) => b.has(key)));
  }
  if (op !== (holds ? "!=" : "==")) return NO_FACTS;
  if (isNull(right)) return present(left, scope);
  return isNull(left) ? present(right, scope) : NO_FACTS;
}

function isNull(node: Expression): boolean {
  return node.kind === "literal" && node.value === null;
}

/** A place that is not null, and with it all that it was read from. */
function present(node: Expression, scope: TypeScope): Facts {
  const keys = new Set<string>();
  for (let at = node; ; at = at.object) {
    const key = scope.keyOf(at);
    if (key !== undefined) keys.add(key);
    if (at.kind !== "member" && at.kind !== "index") return keys;
  }
}

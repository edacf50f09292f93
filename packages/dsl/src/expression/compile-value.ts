/**
 * Values of a graph, ready to be evaluated: data in which `{"$"}` is an expression, `{"$t"}` a template and `{"$lit"}`
 * protects one level.
 *   V1  parts without an expression are one frozen copy, shared by all evaluations; the graph itself is not touched.
 *   V2  all expressions of one value share one budget and see one instant.
 */

import type { FieldValue } from "@millrace/contracts";
import { type Json, type JsonObject, MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { memberNames, pointerSegment } from "@millrace/contracts/kit";
import { append, isObject, markerOf, setMember } from "../data.ts";
import { DslError } from "../errors.ts";
import type { Span } from "../syntax/ast.ts";
import { resolveLimits, type Scope, type Slots } from "./budget.ts";
import {
  type CompileOptions,
  compileInto,
  parse,
  type SlotOptions,
  templatePart,
} from "./compile.ts";
import { checkData, checkResult, memberOf } from "./data.ts";
import { evaluation } from "./evaluations.ts";
import {
  distinctReferences,
  findReferences,
  type Reference,
  type ReferencePlace,
} from "./references.ts";
import { type Closure, Part, pay, Unit } from "./unit.ts";

/** A value of a graph, ready to be evaluated any number of times. */
export interface CompiledValue<Names = Scope> {
  /** References of its expressions, each once, in order. */
  readonly references: readonly Reference[];
  /** Every evaluation gives the same value. */
  readonly constant: boolean;
  /** Throws `ExpressionError`; `offset` and `length` are those within the failing expression. */
  evaluate(names: Names, context: { readonly nowEpoch: number }): Json;
}

/** Data of which nothing is to be computed, or the closure that computes it. */
type Piece = { readonly data: Json } | { readonly closure: Closure };

const NOWHERE: Span = { start: 0, end: 0 };

/**
 * Compiles a value. Throws `ExpressionError` code `syntax` for an expression with errors, and `DslError` code
 * `graph_invalid` with a `pointer` for a malformed `{"$"}` or `{"$t"}` and for data deeper than `MAX_JSON_DEPTH`.
 */
export function compileValue(value: FieldValue, options: SlotOptions): CompiledValue<Slots>;
export function compileValue(value: FieldValue, options?: CompileOptions): CompiledValue;
export function compileValue(
  value: FieldValue,
  options: CompileOptions = {},
): CompiledValue<Scope | Slots> {
  const compiler = new ValueCompiler(new Unit(options.locals ?? [], options.roots));
  const piece = compiler.compile(value, 0, "");
  const references = distinctReferences(compiler.references);
  if ("data" in piece) return { references, constant: true, evaluate: () => piece.data };
  const { closure } = piece;
  const { unit } = compiler;
  const limits = resolveLimits(options.limits);
  return {
    references,
    constant: !unit.reads,
    evaluate: evaluation({
      // Each hole pays for itself.
      ...{ unit, limits, part: new Part(closure, 0), place: NOWHERE },
      check: (_ev, value) => checkData(NOWHERE, value),
    }),
  };
}

class ValueCompiler {
  readonly unit: Unit;
  readonly references: ReferencePlace[] = [];

  constructor(unit: Unit) {
    this.unit = unit;
  }

  compile(value: FieldValue, depth: number, pointer: string): Piece {
    if (typeof value !== "object" || value === null) return { data: value };
    if (depth >= MAX_JSON_DEPTH) invalid(pointer, `nested deeper than ${MAX_JSON_DEPTH} levels`);
    if (Array.isArray(value)) {
      const parts = value.map((element, i) =>
        this.compile(element ?? null, depth + 1, `${pointer}/${i}`),
      );
      return assemble(parts, (values) => values);
    }
    const object = value as JsonObject;
    const marker = markerOf(object);
    if (marker === undefined) return this.#object(object, depth, pointer);
    const inner = memberOf(object, marker);
    const place = `${pointer}/${marker}`;
    if (marker === "$") return this.#expression(inner, depth, place);
    if (marker === "$t") return this.#template(inner, place);
    // The member of `$lit` is data on its own level, whatever it looks like; below it markers count again.
    return isObject(inner) ? this.#object(inner, depth, place) : this.compile(inner, depth, place);
  }

  #object(object: JsonObject, depth: number, pointer: string): Piece {
    const names = memberNames(object);
    const parts = names.map((name) =>
      this.compile(object[name] as Json, depth + 1, pointer + pointerSegment(name)),
    );
    return assemble(parts, (values) => {
      const made: Record<string, Json> = {};
      for (let i = 0; i < names.length; i += 1) {
        setMember(made, names[i] as string, values[i] as Json);
      }
      return made;
    });
  }

  #expression(source: Json, depth: number, pointer: string): Piece {
    const { unit } = this;
    const before = { nests: unit.nests, multiplies: unit.multiplies };
    unit.nests = false;
    unit.multiplies = false;
    const part = this.#hole(source, pointer);
    const { nests, multiplies } = unit;
    unit.nests ||= before.nests;
    unit.multiplies ||= before.multiplies;
    const { constant } = part;
    if (constant !== undefined && !nests) return { data: constant };
    const { closure } = part;
    if (!nests && depth === 0) return { closure };
    return {
      closure: (ev) => {
        const value = closure(ev);
        checkResult(ev, NOWHERE, value, multiplies, depth);
        return value;
      },
    };
  }

  #template(parts: Json, pointer: string): Piece {
    if (!Array.isArray(parts))
      return invalid(pointer, "a template is a list of texts and expressions");
    const compiled = parts.map((part: Json, i): string | Part => {
      if (typeof part === "string") return part;
      if (!isObject(part) || markerOf(part) !== "$") {
        return invalid(`${pointer}/${i}`, 'a part of a template is a text or {"$": "source"}');
      }
      return this.#hole(memberOf(part, "$"), `${pointer}/${i}/$`);
    });
    if (compiled.every((part) => typeof part === "string")) return { data: compiled.join("") };
    const template = templatePart(NOWHERE, compiled);
    return { closure: paid(template, NOWHERE) };
  }

  /** An expression, which pays for itself: what it lacks is an error at its own place. */
  #hole(source: Json, pointer: string): Part {
    if (typeof source !== "string") return invalid(pointer, "an expression is a string");
    const ast = parse(source);
    append(this.references, findReferences(ast, this.unit.locals));
    const part = compileInto(this.unit, ast);
    return new Part(paid(part, ast), 0, part.constant);
  }
}

function paid(part: Part, place: Span): Closure {
  return (ev) => {
    pay(ev, part, place);
    return part.closure(ev);
  };
}

/** Data of the parts when all are data, else a closure that puts them together. */
function assemble(parts: readonly Piece[], build: (values: readonly Json[]) => Json): Piece {
  if (parts.every((part) => "data" in part)) {
    return { data: Object.freeze(build(parts.map(({ data }) => data))) };
  }
  const closures = parts.map((part): Closure => {
    if ("closure" in part) return part.closure;
    const { data } = part;
    return () => data;
  });
  return {
    closure(ev) {
      const values: Json[] = [];
      for (const closure of closures) values.push(closure(ev));
      return build(values);
    },
  };
}

function invalid(pointer: string, message: string): never {
  throw new DslError("graph_invalid", message, { pointer });
}

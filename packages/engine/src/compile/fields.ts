/** The fields of one node: constants merged once, expressions as closures, deferred ones handed to the body as functions. */
import type { FlowNode, Json, JsonObject, JsonSchema, SchemaHints } from "@millrace/contracts";
import { compileSchema, ExpressionError, type SchemaProblem } from "@millrace/dsl";
import type { DeferredField, Fields, NodeType } from "../node-type.ts";
import type { Read } from "./names.ts";
import { type ReadingScope, Value, type ValueOptions } from "./value.ts";

/** Fields of one node of a plan. */
export interface FieldSet {
  /** Ready when no field needs a run; shared by all attempts. */
  readonly constant: Fields | null;
  readonly reads: readonly Read[];
  /** Throws `ExpressionError`. */
  evaluate(scope: ReadingScope, nowEpoch: number): Fields;
  /** Problems of evaluated fields against the schema of the type. */
  check(fields: Fields): readonly SchemaProblem[];
}

/** What the schema of a type says beside plain JSON Schema; made once per type. */
interface FieldSchema {
  readonly defaults: Fields;
  readonly deferred: ReadonlyMap<string, readonly string[]>;
  readonly check: (value: unknown) => readonly SchemaProblem[];
}

const NO_PROBLEMS: readonly SchemaProblem[] = [];
const schemas = new WeakMap<NodeType, FieldSchema>();

/** Compiles the fields of `node`. Throws `ExpressionError` for a source that does not parse. */
export function compileFields(node: FlowNode, type: NodeType, options: ValueOptions): FieldSet {
  const schema = fieldSchema(type);
  const constants: { [name: string]: unknown } = { ...schema.defaults };
  const values: [string, Value][] = [];
  const deferred: [string, Value][] = [];
  for (const [name, source] of Object.entries(node.fields)) {
    const roots = schema.deferred.get(name);
    if (roots !== undefined) {
      delete constants[name];
      deferred.push([name, new Value(source, { ...options, roots: rootsOf(node, roots) })]);
      continue;
    }
    const value = new Value(source, options);
    const constant = constantOf(value);
    delete constants[name];
    if (constant === undefined) values.push([name, value]);
    else constants[name] = constant;
  }
  const base = Object.freeze(constants);
  const whole = values.length === 0 && deferred.length === 0;
  const checked = type.checksFields !== true;
  let problems = checked && mayCompute(node) ? null : NO_PROBLEMS; // of the constants, found once
  return {
    constant: whole ? base : null,
    reads: [...values, ...deferred].flatMap(([, value]) => value.reads),
    evaluate(scope, nowEpoch) {
      if (whole) return base;
      const fields: { [name: string]: unknown } = { ...base };
      for (const [name, value] of values) fields[name] = value.evaluate(scope, nowEpoch);
      for (const [name, value] of deferred) fields[name] = deferredField(value, scope, nowEpoch);
      return fields;
    },
    check(fields) {
      if (checked && values.length > 0) return schema.check(withoutDeferred(fields, schema));
      problems ??= schema.check(withoutDeferred(fields, schema));
      return problems;
    },
  };
}

/** Whether a field may hold an expression; validation has checked every plain value, but not what constants add up to. */
function mayCompute({ fields }: FlowNode): boolean {
  return Object.values(fields).some((source) => typeof source === "object" && source !== null);
}

/** Constant fields as the `check` of a type sees them: what needs a run is left out. */
export function literalFields(node: FlowNode, type: NodeType, options: ValueOptions): Fields {
  const fields: { [name: string]: unknown } = { ...fieldSchema(type).defaults };
  for (const [name, source] of Object.entries(node.fields)) {
    const value = new Value(source, options);
    fields[name] = constantOf(value);
  }
  return fields;
}

/** The value of a constant; `undefined` for what needs a run, and for a constant that fails, which fails its node. */
function constantOf(value: Value): Json | undefined {
  if (!value.constant) return undefined;
  try {
    return value.evaluate(NO_SCOPE, 0);
  } catch {
    return undefined;
  }
}

function deferredField(value: Value, scope: ReadingScope, nowEpoch: number): DeferredField {
  return (roots) => {
    const extended: ReadingScope = {
      reading: value,
      get(root) {
        if (Object.hasOwn(roots, root)) return roots[root];
        scope.reading = value;
        return scope.get(root);
      },
    };
    return value.evaluate(extended, nowEpoch);
  };
}

/** A `loop` names its state by `as`; the catalog can only list the default name. */
function rootsOf(node: FlowNode, listed: readonly string[]): ReadonlySet<string> {
  const own = node.body === undefined ? undefined : node.fields["as"];
  return new Set(typeof own === "string" ? [...listed, own] : listed);
}

function fieldSchema(type: NodeType): FieldSchema {
  const known = schemas.get(type);
  if (known !== undefined) return known;
  const schema = type.entry.fields;
  const properties = (schema["properties"] ?? {}) as { readonly [name: string]: JsonSchema };
  const defaults: { [name: string]: unknown } = {};
  const deferred = new Map<string, readonly string[]>();
  for (const [name, property] of Object.entries(properties)) {
    if (property["default"] !== undefined) defaults[name] = property["default"];
    const hints = property["x-millrace"] as SchemaHints | undefined;
    if (hints?.deferred !== undefined) deferred.set(name, hints.deferred);
  }
  const compiled = compileSchema(withoutProperties(schema, deferred));
  const made: FieldSchema = {
    defaults,
    deferred,
    check: compiled.ok ? compiled.check : () => compiled.problems,
  };
  schemas.set(type, made);
  return made;
}

function withoutProperties(
  schema: JsonSchema,
  names: ReadonlyMap<string, readonly string[]>,
): JsonSchema {
  if (names.size === 0) return schema;
  const keep = ([name]: [string, unknown]) => !names.has(name);
  const properties = Object.entries((schema["properties"] ?? {}) as JsonObject).filter(keep);
  const required = ((schema["required"] ?? []) as string[]).filter((name) => !names.has(name));
  return { ...schema, properties: Object.fromEntries(properties), required };
}

function withoutDeferred(fields: Fields, schema: FieldSchema): Fields {
  if (schema.deferred.size === 0) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !schema.deferred.has(name)));
}

/** A constant asks for no name. */
const NO_SCOPE: ReadingScope = {
  get reading(): Value {
    throw new ExpressionError("unknown_name", "a constant reads nothing", 0, 0);
  },
  set reading(_value: Value) {},
  get: () => undefined,
};

/** The fields of one node: constants merged once, expressions as closures, deferred ones handed to the body as functions. */
import type {
  FieldValue,
  FlowNode,
  Json,
  JsonObject,
  JsonSchema,
  SchemaHints,
} from "@millrace/contracts";
import { compileSchema, ExpressionError, type SchemaProblem } from "@millrace/dsl";
import type { DeferredField, Fields, NodeType } from "../node-type.ts";
import type { Read } from "./names.ts";
import { type ReadingScope, Value, type ValueOptions } from "./value.ts";

/** Fields of one node of a plan. */
export interface FieldSet {
  /** Ready when no field needs a run; shared by all attempts. */
  readonly constant: Fields | null;
  /** Validation has found no fault in `constant`. */
  readonly isSound: boolean;
  readonly reads: readonly Read[];
  /** Defaults and constants; the computed fields are not in it. */
  readonly base: Fields;
  /** The fields that need a run, without deferred ones. */
  readonly computed: readonly (readonly [name: string, value: Value])[];
  /** Throws `ExpressionError`. */
  evaluate(scope: ReadingScope, nowEpoch: number): Fields;
  /** Problems of evaluated fields against the schema of the type. */
  check(fields: Fields): readonly SchemaProblem[];
}

/** Keywords of a type's schema that are not plain JSON Schema; read once per type. */
interface FieldSchema {
  readonly defaults: Fields;
  readonly deferred: ReadonlyMap<string, readonly string[]>;
  /** Deferred members of the elements of a list, by field: `tools` → `confirm`. */
  readonly members: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
  readonly check: (value: unknown) => readonly SchemaProblem[];
}

const NO_PROBLEMS: readonly SchemaProblem[] = [];
const schemas = new WeakMap<NodeType, FieldSchema>();

/** Compiles the fields of `node`. Throws `ExpressionError` for a source that does not parse. */
export function compileFields(node: FlowNode, type: NodeType, options: ValueOptions): FieldSet {
  const schema = fieldSchema(type);
  const constants: { [name: string]: unknown } = { ...schema.defaults };
  const values: [string, Value][] = [];
  const deferred: [string, Later][] = [];
  for (const [name, written] of Object.entries(node.fields)) {
    const roots = schema.deferred.get(name);
    if (roots !== undefined) {
      delete constants[name];
      const whole = new Value(written, { ...options, roots: rootsOf(node, roots) });
      deferred.push([name, { whole, elements: elementsOf(whole, written, options, roots) }]);
      continue;
    }
    const { source, members } = splitMembers(written, schema.members.get(name), options);
    for (const [member, elements] of members) {
      deferred.push([`${name}.${member}`, { whole: null, elements }]);
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
    isSound: whole && problems !== null,
    base,
    computed: values,
    reads: [
      ...values.map(([, value]) => value),
      ...deferred.flatMap(([, later]) => valuesOf(later)),
    ].flatMap(({ reads }) => reads),
    evaluate(scope, nowEpoch) {
      if (whole) return base;
      const fields: { [name: string]: unknown } = { ...base };
      for (const [name, value] of values) fields[name] = value.evaluate(scope, nowEpoch);
      for (const [name, later] of deferred) fields[name] = laterField(later, scope, nowEpoch);
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

/** A deferred field: its value, and for a list its elements, each of which may fail alone. */
interface Later {
  readonly whole: Value | null;
  readonly elements: readonly (Value | undefined)[] | null;
}

function valuesOf({ whole, elements }: Later): readonly Value[] {
  if (whole !== null) return [whole];
  return (elements ?? []).filter((value) => value !== undefined);
}

function elementsOf(
  whole: Value,
  source: FieldValue,
  options: ValueOptions,
  roots: readonly string[],
): Later["elements"] {
  const list = isProtected(source) ? source["$lit"] : source;
  if (!Array.isArray(list)) return null;
  if (list !== source) {
    return list.map((element) => new Value({ $lit: element as Json } as FieldValue, options));
  }
  if (whole.constant) return list.map((element) => new Value(element as FieldValue, options));
  return (list as readonly FieldValue[]).map(
    (element) => new Value(element, { ...options, roots: new Set(roots) }),
  );
}

function isProtected(source: FieldValue): source is { readonly $lit: Json } {
  return typeof source === "object" && source !== null && "$lit" in source;
}

/** Takes deferred members out of the elements of a list; constants stay. */
function splitMembers(
  source: FieldValue,
  members: ReadonlyMap<string, readonly string[]> = NO_MEMBERS,
  options: ValueOptions,
): { source: FieldValue; members: readonly [string, (Value | undefined)[]][] } {
  if (members.size === 0 || !Array.isArray(source)) return { source, members: [] };
  const taken: [string, (Value | undefined)[]][] = [];
  let left: readonly FieldValue[] = source;
  for (const [member, roots] of members) {
    const elements = left.map((element) => {
      if (typeof element !== "object" || element === null || !Object.hasOwn(element, member)) {
        return undefined;
      }
      const inner = (element as { readonly [name: string]: FieldValue })[member] as FieldValue;
      const value = new Value(inner, { ...options, roots: new Set(roots) });
      return value.constant ? undefined : value;
    });
    if (elements.every((value) => value === undefined)) continue;
    left = left.map((element, at) => {
      if (elements[at] === undefined) return element;
      const { [member]: _later, ...rest } = element as { readonly [name: string]: FieldValue };
      return rest;
    });
    taken.push([member, elements]);
  }
  return { source: left, members: taken };
}

const NO_MEMBERS: ReadonlyMap<string, readonly string[]> = new Map();

function laterField(
  { whole, elements }: Later,
  scope: ReadingScope,
  nowEpoch: number,
): DeferredField {
  const field = whole === null ? () => null : deferredField(whole, scope, nowEpoch);
  if (elements === null) return field;
  return Object.assign(field, {
    elements: elements.map((value) => value && deferredField(value, scope, nowEpoch)),
  });
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
  const members = new Map<string, ReadonlyMap<string, readonly string[]>>();
  for (const [name, property] of Object.entries(properties)) {
    const inner = deferredMembers(property);
    if (inner.size > 0) members.set(name, inner);
    if (property["default"] !== undefined) defaults[name] = property["default"];
    const hints = property["x-millrace"] as SchemaHints | undefined;
    if (hints?.deferred !== undefined) deferred.set(name, hints.deferred);
  }
  const compiled = compileSchema(withoutProperties(schema, deferred));
  const made: FieldSchema = {
    defaults,
    deferred,
    members,
    check: compiled.ok ? compiled.check : () => compiled.problems,
  };
  schemas.set(type, made);
  return made;
}

/** Members of the elements of a list that its schema calls deferred. */
function deferredMembers(property: JsonSchema): ReadonlyMap<string, readonly string[]> {
  const items = property["items"] as JsonSchema | undefined;
  const found = new Map<string, readonly string[]>();
  for (const schema of [items, ...((items?.["anyOf"] ?? []) as JsonSchema[])]) {
    const inner = (schema?.["properties"] ?? {}) as { readonly [name: string]: JsonSchema };
    for (const [member, { "x-millrace": hints }] of Object.entries(inner)) {
      const roots = (hints as SchemaHints | undefined)?.deferred;
      if (roots !== undefined) found.set(member, roots);
    }
  }
  return found;
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
  if (schema.deferred.size + schema.members.size === 0) return fields;
  const isData = ([name, value]: [string, unknown]) =>
    !schema.deferred.has(name) && typeof value !== "function";
  return Object.fromEntries(Object.entries(fields).filter(isData));
}

/** A constant asks for no name. */
const NO_SCOPE: ReadingScope = {
  get reading(): Value {
    throw new ExpressionError("unknown_name", "a constant reads nothing", 0, 0);
  },
  set reading(_value: Value) {},
  get: () => undefined,
};

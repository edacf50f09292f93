/**
 * What is known of a value before a run.
 *   A type stands for the set of values it admits; `any` admits all, a union of nothing admits none.
 *   A union holds neither `any`, nor a union, nor two members of one kind but objects.
 */

/** A static type, told apart by `kind`. */
export type FlowType =
  | { readonly kind: "any" }
  | { readonly kind: "null" }
  | { readonly kind: "bool"; readonly value?: boolean }
  | { readonly kind: "int" }
  | { readonly kind: "number" }
  | { readonly kind: "string"; readonly values?: readonly string[] }
  | { readonly kind: "list"; readonly items: FlowType }
  | ObjectType
  | { readonly kind: "union"; readonly types: readonly FlowType[] };

/** An object; when it is not `open` it has no other keys than those of `props`. */
export interface ObjectType {
  readonly kind: "object";
  readonly props: ReadonlyMap<string, FlowType>;
  readonly open: boolean;
  /** Of an open object: the type of members that `props` does not name; default: any. One that is not there is null. */
  readonly others?: FlowType;
  /** Names that a member has elsewhere, with its name here; for the hint about a member that is not there. */
  readonly aliases?: ReadonlyMap<string, string>;
}

/** Every value: nothing is known of it, and nothing is reported. */
export const ANY: FlowType = { kind: "any" };
/** `null` alone. */
export const NULL: FlowType = { kind: "null" };
/** `true` and `false`. */
export const BOOL: FlowType = { kind: "bool" };
/** Whole numbers; each is a `NUMBER`, too. */
export const INT: FlowType = { kind: "int" };
/** Numbers of JSON. */
export const NUMBER: FlowType = { kind: "number" };
/** Texts of any content. */
export const STRING: FlowType = { kind: "string" };
/** No value at all: what never comes to be. */
export const NEVER: FlowType = { kind: "union", types: [] };
/** Objects with any members. */
export const OBJECT: FlowType = { kind: "object", props: new Map(), open: true };
/** Lists of any elements. */
export const LIST: FlowType = { kind: "list", items: ANY };

/** Beyond these a union says more than any message could; it is widened. */
const MAX_OBJECTS = 8;
const MAX_STRINGS = 64;

/** The type of a list whose elements are `items`. */
export function listOf(items: FlowType): FlowType {
  return { kind: "list", items };
}

/** The type of an object. */
export function objectOf(props: Iterable<readonly [string, FlowType]>, open = false): ObjectType {
  return { kind: "object", props: new Map(props), open };
}

/** The type of an object with any names, whose members are of one type. */
export function mapOf(others: FlowType): ObjectType {
  return { kind: "object", props: new Map(), open: true, others };
}

/** The type that admits what any of the given types admits. */
export function unionOf(...types: readonly FlowType[]): FlowType {
  return unionOfAll(types);
}

/** Like `unionOf`, for any number of types. */
export function unionOfAll(types: readonly FlowType[]): FlowType {
  const [first] = types;
  if (first !== undefined && types.every((type) => type === first)) return first;
  const members = new Map<string, FlowType>();
  const objects: ObjectType[] = [];
  for (const type of types.flatMap(membersOf)) {
    if (type.kind === "any") return ANY;
    if (type.kind === "object") {
      if (objects.length <= MAX_OBJECTS && !objects.includes(type)) objects.push(type);
      continue;
    }
    const known = members.get(type.kind);
    members.set(type.kind, known === undefined ? type : mergeKind(known, type));
  }
  if (members.has("number")) members.delete("int");
  const merged = [...members.values(), ...(objects.length > MAX_OBJECTS ? [OBJECT] : objects)];
  return merged.length === 1 ? (merged[0] as FlowType) : { kind: "union", types: merged };
}

/** The alternatives of a type: those of a union, else the type itself. */
export function membersOf(type: FlowType): readonly FlowType[] {
  return type.kind === "union" ? type.types : [type];
}

/** Whether a value of the type may be null; of `any` nothing is known, so it does not count. */
export function mayBeNull(type: FlowType): boolean {
  return (
    type.kind === "null" ||
    (type.kind === "union" && type.types.some(({ kind }) => kind === "null"))
  );
}

/** Whether all values of a type are this truth value. */
export function isAlways(type: FlowType, value: boolean): boolean {
  return type.kind === "bool" && type.value === value;
}

/** The type without null. */
export function withoutNull(type: FlowType): FlowType {
  return mayBeNull(type) ? unionOf(...membersOf(type).filter(({ kind }) => kind !== "null")) : type;
}

/** The type as a message shows it: `string`, `list of int`, `number or null`. */
export function describeType(type: FlowType): string {
  if (type.kind === "union") {
    if (type.types.length === 0) return "nothing";
    const nullLast = [...membersOf(withoutNull(type)), ...(mayBeNull(type) ? [NULL] : [])];
    return [...new Set(nullLast.map(describeType))].join(" or ");
  }
  if (type.kind !== "list") return type.kind;
  const items = type.items;
  return items.kind === "any" || items.kind === "union" ? "list" : `list of ${describeType(items)}`;
}

function mergeKind(a: FlowType, b: FlowType): FlowType {
  if (a.kind === "list" && b.kind === "list") return listOf(unionOf(a.items, b.items));
  if (a.kind === "bool" && b.kind === "bool") return a.value === b.value ? a : BOOL;
  if (a.kind !== "string" || b.kind !== "string") return a;
  if (a.values === undefined || b.values === undefined) return STRING;
  if (b.values.every((value) => a.values?.includes(value))) return a;
  const values = [...new Set([...a.values, ...b.values])];
  return values.length > MAX_STRINGS ? STRING : { kind: "string", values };
}

/** Whether values of one type are values of another. */
import { type FlowType, mayBeNull, membersOf, type ObjectType } from "./flow-type.ts";

/** `yes`: each value fits; `no`: none does; `maybe`: some may, or it is not known. */
export type Fit = "yes" | "maybe" | "no";

/** Comparisons of parts before the answer is `maybe`: schemas that share parts would else be compared exponentially often. */
const MAX_COMPARISONS = 10_000;

/**
 * Whether a value of type `from` fits where `to` is taken. An absent member counts as null, so a closed object fits one
 * with further members when those may be null.
 */
export function fits(from: FlowType, to: FlowType): Fit {
  return compare(from, to, { left: MAX_COMPARISONS });
}

interface Allowance {
  left: number;
}

function compare(from: FlowType, to: FlowType, allowance: Allowance): Fit {
  allowance.left -= 1;
  if (from === to || to.kind === "any") return "yes";
  if (allowance.left < 0 || from.kind === "any") return "maybe";
  if (from.kind === "union") {
    if (from.types.length === 0) return "yes";
    return combine(from.types.map((member) => compare(member, to, allowance)));
  }
  if (to.kind === "union") {
    const answers = to.types.map((member) => compare(from, member, allowance));
    if (answers.includes("yes")) return "yes";
    return answers.includes("maybe") ? "maybe" : "no";
  }
  return compareKinds(from, to, allowance);
}

function compareKinds(from: FlowType, to: FlowType, allowance: Allowance): Fit {
  if (from.kind === "object" && to.kind === "object") return compareObjects(from, to, allowance);
  if (from.kind === "list" && to.kind === "list") {
    // The empty list fits every list.
    return compare(from.items, to.items, allowance) === "yes" ? "yes" : "maybe";
  }
  if (from.kind === "bool" && to.kind === "bool")
    return compareSets(truthValues(from), truthValues(to));
  if (from.kind === "string" && to.kind === "string") return compareSets(from.values, to.values);
  if (from.kind === "int" && to.kind === "number") return "yes";
  if (from.kind === "number" && to.kind === "int") return "maybe";
  return from.kind === to.kind ? "yes" : "no";
}

function compareObjects(from: ObjectType, to: ObjectType, allowance: Allowance): Fit {
  const answers: Fit[] = [];
  for (const [name, taken] of to.props) {
    const given = from.props.get(name);
    if (given !== undefined) answers.push(compare(given, taken, allowance));
    else if (from.open) answers.push("maybe");
    else answers.push(taken.kind === "any" || mayBeNull(taken) ? "yes" : "no");
  }
  if (!to.open) {
    for (const [name, given] of from.props) {
      if (!to.props.has(name))
        answers.push(given.kind === "any" || mayBeNull(given) ? "maybe" : "no");
    }
    if (from.open) answers.push("maybe");
  }
  if (answers.includes("no")) return "no";
  return answers.includes("maybe") ? "maybe" : "yes";
}

function compareSets<T>(from: readonly T[] | undefined, to: readonly T[] | undefined): Fit {
  if (to === undefined) return "yes";
  if (from === undefined) return "maybe";
  const shared = from.filter((value) => to.includes(value)).length;
  if (shared === from.length) return "yes";
  return shared === 0 ? "no" : "maybe";
}

function truthValues(type: FlowType & { kind: "bool" }): readonly boolean[] | undefined {
  return type.value === undefined ? undefined : [type.value];
}

function combine(answers: readonly Fit[]): Fit {
  if (answers.every((answer) => answer === "yes")) return "yes";
  return answers.every((answer) => answer === "no") ? "no" : "maybe";
}

/** Whether no value is of both types, so that comparing them is pointless. */
export function areDisjoint(a: FlowType, b: FlowType): boolean {
  const [left, right] = [membersOf(a), membersOf(b)];
  if (left.length === 0 || right.length === 0) return false;
  return left.every((x) => right.every((y) => fits(x, y) === "no" && fits(y, x) === "no"));
}

/** Names that are not there, with what was most likely meant (FLOW5001), and positions that no list has (FLOW5002). */

import { nearestName } from "@millrace/contracts/kit";
import {
  aliasOf,
  MEMBER_FUNCTIONS,
  meantName,
  NAME_HINTS,
  OUTPUT_ALIASES,
  plainOf,
} from "../diagnostics/aliases.ts";
import { writing } from "../diagnostics/bag.ts";
import { quoted } from "../diagnostics/quote.ts";
import { type Link, literalStep } from "../expression/references.ts";
import type {
  Expression,
  IndexExpression,
  MemberExpression,
  NameExpression,
  Span,
} from "../syntax/ast.ts";
import { isIdent } from "../syntax/chars.ts";
import { isBareName } from "../syntax/parse-operand.ts";
import { printExpression, quoteText } from "../syntax/print-expression.ts";
import { describeType, type FlowType, membersOf, type ObjectType } from "./flow-type.ts";
import type { Inference } from "./inference.ts";
import { ALWAYS_PRESENT, type TypeScope } from "./scope.ts";

/** Names of other tools for `inputs`. */
const INPUT_ROOTS: ReadonlySet<string> = new Set(
  "args arguments context ctx input parameters params variables".split(" "),
);

/** Members that a hint lists. */
const MAX_LISTED = 12;

/** A correction: its text, its place (default: that of the unknown name), and its message. */
interface Meant {
  readonly text?: string;
  /** How the text is shown; default: as it is. */
  readonly shown?: string;
  readonly at?: Span;
  /** Default: "did you mean" the text. */
  readonly hint?: string;
  /** The names are the author's, and what was found is only spelt like one of them. */
  readonly uncertain?: true;
  /** It is what was found, in the spelling of this language. */
  readonly isExact?: true;
}

/** FLOW5001 for a root that nothing bears; `links`: what is read of it. */
export function unknownName(
  node: NameExpression,
  links: readonly Link[],
  inference: Inference,
): void {
  const meant = meantRoot(node, links, inference.scope);
  report(node, `unknown name ${quoted(node.name)}`, meant, inference);
}

/** FLOW5001 for a member that an object has not; `next`: what is read of it. */
export function noMember(
  link: Link,
  name: string,
  type: FlowType,
  inference: Inference,
  next: Link | undefined,
): void {
  const objects = membersOf(type).filter((member) => member.kind === "object");
  const names = objects.flatMap(({ props }) => [...props.keys()]);
  const alias = objects.map(({ aliases }) => aliases?.get(name)).find((it) => it !== undefined);
  // What a node type gives has members of its own; those of all other objects are the author's.
  const isGuess =
    objects.some(({ aliases }) => aliases === undefined) &&
    !names.some((known) => plainOf(known) === plainOf(name));
  const found = within(link, name, objects) ?? meantMember(link, name, names, alias, next);
  const meant = isGuess && !found.isExact ? { ...found, uncertain: true as const } : found;
  if (link.object.kind === "name" && link.object.name === "inputs") {
    const hint = meant.hint ?? `declare it with \`input ${quoted(name)}: string\``;
    report(link, `the flow has no input ${quoted(name)}`, { ...meant, hint }, inference);
    return;
  }
  report(link, `${describeType(type)} has no member ${quoted(name)}`, meant, inference);
}

function report(
  place: Span,
  message: string,
  { text, at = place, hint, shown = quoted(text ?? ""), uncertain }: Meant,
  inference: Inference,
): void {
  const said = hint ?? (text === undefined ? undefined : `did you mean ${shown}?`);
  const fix = text === undefined ? undefined : writing(shown, at, text);
  inference.findings.add("FLOW5001", place, {
    message,
    hint: said,
    fix: fix && { ...fix, uncertain },
  });
}

function meantRoot(node: NameExpression, links: readonly Link[], scope: TypeScope): Meant {
  const { name } = node;
  const isKnown = (root: string): boolean =>
    scope.variable(root) !== undefined || scope.env.get(root) !== undefined;
  const inputs = scope.env.get("inputs");
  const isInput = (input: string): boolean => inputs?.kind === "object" && inputs.props.has(input);
  for (const [left, right] of aroundDashes(name)) {
    if (isKnown(left)) return difference(left, right);
    if (isInput(left)) return difference(`inputs.${left}`, right);
  }
  if (isInput(name)) {
    return { text: isIdent(name) ? `inputs.${name}` : `inputs[${quoteText(name)}]` };
  }
  const [first] = links;
  const member = first && literalStep(first);
  if (member !== undefined && isInput(member) && INPUT_ROOTS.has(name)) return { text: "inputs" };
  const hint = aliasOf(name, NAME_HINTS);
  const id = first && literalStep(first);
  if (
    hint !== undefined &&
    first !== undefined &&
    id !== undefined &&
    isKnown(id) &&
    isBareName(id)
  ) {
    // `steps.fetch.body`: the step is there, under its own name.
    return { text: id, at: { start: node.start, end: first.end } };
  }
  if (hint !== undefined) return { hint };
  const nearest = nearestName(name, namesIn(scope));
  if (nearest === undefined) return {};
  const text = isBareName(nearest) ? nearest : `nodes[${quoteText(nearest)}]`;
  // A root of the language is no name of the author's.
  return { text, ...(!ALWAYS_PRESENT.has(nearest) && { uncertain: true }) };
}

/** Every name that may be meant, one by one: there may be very many, of which the first are compared. */
function* namesIn({ env }: TypeScope): Generator<string> {
  yield* env.names?.() ?? [];
  yield* ALWAYS_PRESENT;
}

function meantMember(
  link: Link,
  name: string,
  names: readonly string[],
  /** The alias that the type itself declares for the name. */
  alias: string | undefined,
  next: Link | undefined,
): Meant {
  const object = printExpression(link.object);
  for (const [left, right] of aroundDashes(name)) {
    if (names.includes(left)) return difference(`${object}.${left}`, right);
  }
  if (MEMBER_FUNCTIONS.has(name) && names.length === 0) return { text: `size(${object})` };
  if (next?.kind === "member" && names.includes(next.name)) {
    // `a.output.value`: the member stands one level higher.
    return { text: `${object}.${next.name}`, at: { start: link.start, end: next.end } };
  }
  const near = alias ?? meantName(name, names, OUTPUT_ALIASES);
  if (near !== undefined) {
    return { text: printExpression(memberAt(link, near)), hint: `did you mean ${quoted(near)}?` };
  }
  const isFew = names.length > 0 && names.length <= MAX_LISTED;
  return isFew ? { hint: `members: ${names.map(quoted).join(", ")}` } : {};
}

/** `call.total` for `call.outputs.total`: the member stands one level lower, in one object alone. */
function within(link: Link, name: string, objects: readonly ObjectType[]): Meant | undefined {
  const [only, ...others] = objects.flatMap(({ props }) =>
    [...props].filter(([, type]) => type.kind === "object" && !type.open && type.props.has(name)),
  );
  if (only === undefined || others.length > 0) return undefined;
  const text = printExpression({
    ...memberAt(link, name),
    object: memberAt(link, only[0]),
    optional: false,
  });
  return { text, hint: `did you mean ${quoted(`${only[0]}.${name}`)}?` };
}

/** The same read of another member. */
function memberAt(link: Link, name: string): MemberExpression {
  return { ...link, kind: "member", name, optional: link.kind === "member" && link.optional };
}

/** `n-1` is one name; what was meant is mostly a difference. */
function difference(left: string, right: string): Meant {
  const text = `${left} - ${right}`;
  const shown = `\`${quoted(text)}\``;
  return { text, shown, hint: `${shown} with spaces subtracts`, isExact: true };
}

/** A name cut at each of its dashes: `n-1` into `n` and `1`. */
function* aroundDashes(name: string): Generator<[left: string, right: string]> {
  for (let dash = name.indexOf("-"); dash >= 0; dash = name.indexOf("-", dash + 1)) {
    yield [name.slice(0, dash), name.slice(dash + 1)];
  }
}

/** Whether an index is written as a negative number. */
export function isNegative(index: Expression): boolean {
  return index.kind === "literal" && typeof index.value === "number" && index.value < 0;
}

/** FLOW5002 for `list[-1]`, which no evaluation takes: positions begin at 0. */
export function fromTheEnd(
  { object, index, start, end }: IndexExpression,
  inference: Inference,
): void {
  const list = printExpression(object);
  const isLast = index.kind === "literal" && index.value === -1;
  const newText = isLast ? `last(${list})` : `first(slice(${list}, ${printExpression(index)}))`;
  const at = { start, end };
  inference.ofValue("FLOW5002", at, {
    message: "`[ ]` takes a position from 0, found a negative number",
    fix: writing(quoted(newText), at, newText),
  });
}

/** Completions as they are made: one for each name, with its rank. */

import { memberNames } from "@millrace/contracts/kit";
import { isObject, listOrNone, objectOrNone, own } from "../../data.ts";
import type { Member } from "../../language/blocks.ts";
import type { Span } from "../../syntax/ast.ts";
import { nameText } from "../../syntax/print-expression.ts";
import { describeType } from "../../types/flow-type.ts";
import { typeFromSchema } from "../../types/from-schema.ts";
import type { Completion, CompletionKind } from "../types.ts";
import type { CursorContext } from "./context.ts";

/** Ranks, best first. Within a group an exact type comes before a possible one. */
export const RANK = {
  needed: 0,
  local: 10,
  sameBody: 20,
  outside: 30,
  root: 40,
  member: 10,
  plain: 20,
  function: 50,
  value: 5,
} as const;

/** A completion without its label. */
export interface Offer {
  readonly label: string;
  readonly kind: CompletionKind;
  readonly rank: number;
  /** Default: the label. */
  readonly insert?: string | undefined;
  readonly snippet?: string | undefined;
  readonly detail?: string | undefined;
  readonly documentation?: (() => string | undefined) | undefined;
  readonly deprecated?: boolean | undefined;
  /** The range to replace; default the identifier around the cursor. */
  readonly replaces?: Span;
}

/** The completion of an offer at the identifier around the cursor. */
export function completion(context: CursorContext, offer: Offer): Completion {
  const { label, kind, rank, insert = label, snippet, detail, documentation, deprecated } = offer;
  const { start: from, end: to } = offer.replaces ?? { start: context.from, end: context.to };
  return {
    ...{ label, kind, from, to, insert, rank },
    ...(snippet !== undefined && { snippet }),
    ...(detail !== undefined && detail !== "" && { detail }),
    ...(documentation && { documentation: () => documentation() ?? "" }),
    ...(deprecated && { deprecated }),
  };
}

/** Members of the language that are not set yet. */
export function* attributeOffers(
  members: readonly Member[],
  isSet: (name: string) => boolean,
): Generator<Offer> {
  for (const { text: label, needed, schema } of members) {
    if (isSet(label)) continue;
    const rank = needed ? RANK.needed : RANK.member;
    yield { label, kind: "property", rank, detail: describeType(typeFromSchema(schema)) };
  }
}

/** Members that a schema describes and that are not set yet. */
export function* propertyOffers(
  schema: unknown,
  kind: "field" | "property",
  isSet: (name: string) => boolean,
): Generator<Offer> {
  const properties = objectOrNone(own(schema, "properties"));
  const required = listOrNone(own(schema, "required"));
  for (const label of memberNames(properties)) {
    if (isSet(label)) continue;
    yield {
      ...{ label, insert: nameText(label), kind },
      rank: required.includes(label) ? RANK.needed : RANK.member,
      detail: describeType(typeFromSchema(objectOrNone(properties[label]))),
      documentation: () => descriptionOf(properties[label]),
    };
  }
}

/** The description of a schema. */
export function descriptionOf(schema: unknown): string | undefined {
  const text = isObject(schema) ? own(schema, "description") : undefined;
  return typeof text === "string" ? text : undefined;
}

/** The tables of the language as JSON, for programs that write, check or teach flows. */

import type { JsonSchema } from "@millrace/contracts";
import {
  BLOCKS,
  type BlockKind,
  FLOW_POLICIES,
  type Member,
  NODE_POLICIES,
} from "../language/blocks.ts";
import { TYPE_NAMES } from "../language/types.ts";
import { PRECEDENCE } from "../syntax/ast.ts";
import { UNITS } from "../syntax/numbers.ts";
import { BLOCK_WORDS, type LanguageWord, POLICY_WORDS } from "./words.ts";

/** A member of a block, or a policy. */
export interface MemberDescription {
  /** In the text. */
  readonly name: string;
  /** In the graph. */
  readonly key: string;
  /** Of its value in the graph, where a duration is a number of milliseconds. */
  readonly schema: JsonSchema;
}

/** A block: what its head takes, and what may stand in it. */
export interface BlockDescription extends Partial<LanguageWord> {
  readonly name: string;
  readonly in: readonly BlockKind[];
  readonly labels: number;
  readonly type: "needed" | "allowed" | "none";
  readonly value: "needed" | "allowed" | "none";
  /** Absent: any. */
  readonly attributes?: readonly MemberDescription[];
}

/** The language as data. */
export interface LanguageDescription {
  readonly version: 1;
  readonly blocks: readonly BlockDescription[];
  readonly policies: {
    readonly node: readonly (MemberDescription & Partial<LanguageWord>)[];
    readonly flow: readonly MemberDescription[];
  };
  /** Types of inputs and outputs; `[]` and `?` may follow. */
  readonly types: readonly string[];
  /** Units of durations, in milliseconds. */
  readonly units: { readonly [unit: string]: number };
  /** Binary operators with their precedence; a higher one binds stronger. */
  readonly operators: { readonly [operator: string]: number };
}

/** Every block, policy, type, unit and operator of the language. */
export function describeLanguage(): LanguageDescription {
  return {
    version: 1,
    blocks: Object.entries(BLOCKS).map(([name, { attributes, ...head }]) => ({
      name,
      ...head,
      ...BLOCK_WORDS[name],
      ...(attributes && { attributes: attributes.map(describeMember) }),
    })),
    policies: {
      node: NODE_POLICIES.map((each) => ({
        ...describeMember(each),
        ...POLICY_WORDS[`@${each.text}`],
      })),
      flow: FLOW_POLICIES.map(describeMember),
    },
    types: TYPE_NAMES,
    units: Object.fromEntries(UNITS),
    operators: PRECEDENCE,
  };
}

function describeMember({ text, key, schema }: Member): MemberDescription {
  return { name: text, key, schema };
}

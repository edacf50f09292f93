/**
 * Names of finished steps by what was asked, so that a try which begins again finds them whatever happens in between.
 *   N1  equal content in equal order has one name in every try of a node; call ids, targets and times do not count.
 */
import type { AiMessage, Json, JsonObject } from "@millrace/contracts";
import { canonicalJson } from "@millrace/contracts/kit";

const utf8 = new TextEncoder();

export class StepKeys {
  readonly #sha256: (bytes: Uint8Array) => string;
  readonly #seen: Map<string, number> = new Map();

  constructor(sha256: (bytes: Uint8Array) => string) {
    this.#sha256 = sha256;
  }

  /** Of an answer: messages, tools, schema and purpose of the call. */
  answer(prompt: {
    readonly purpose: string;
    readonly messages: readonly AiMessage[];
    readonly more: JsonObject;
  }): string {
    const messages = prompt.messages.map(plainMessage);
    return this.#next("c", { purpose: prompt.purpose, messages, ...prompt.more });
  }

  /** Of a tool call. */
  tool(ref: string, args: Json): string {
    return this.#next("t", { ref, args });
  }

  /** Of one part of a list that is answered in parts. */
  part(what: JsonObject): string {
    return this.#next("c", what);
  }

  #next(prefix: string, content: Json): string {
    const digest = this.#sha256(utf8.encode(canonicalJson(content)));
    const before = this.#seen.get(prefix + digest) ?? 0;
    this.#seen.set(prefix + digest, before + 1);
    return `${prefix}:${this.#sha256(utf8.encode(`${digest} ${before}`))}`;
  }
}

/** A message without what one provider adds for itself. */
function plainMessage({ role, content }: AiMessage): Json {
  if (typeof content === "string") return { role, content };
  const parts = content
    .filter(({ type }) => type !== "reasoning")
    .map(({ providerOptions, ...part }) => part as unknown as Json);
  return { role, content: parts };
}

/** Messages for another provider than the one that made them: without its reasoning and without what it marked. */
export function withoutMarks(messages: readonly AiMessage[]): readonly AiMessage[] {
  return messages.map(({ role, content }) => {
    if (typeof content === "string") return { role, content };
    const parts = content
      .filter(({ type }) => type !== "reasoning")
      .map(({ providerOptions, ...part }) => part as (typeof content)[number]);
    return { role, content: parts };
  });
}

/** What is kept of a header. */
import type { GgufFacts } from "../runners.ts";
import type { GgufHeader, PairValue } from "./header.ts";
import { FILE_TYPES, TENSOR_TYPES } from "./types.ts";

const NO_POOLING = 0; // a model whose tokens are not pooled writes text

/** Networks that only embed. */
const EMBEDDING_ARCH = /bert|t5encoder/;

/** The facts of a header; numbers that it does not tell are 0. */
export function factsOf({ pairs, tensors }: GgufHeader, arch: string): GgufFacts {
  const own = (key: string): PairValue | undefined => pairs.get(`${arch}.${key}`);
  const heads = whole(own("attention.head_count"));
  const pooling = own("pooling_type");
  return {
    arch,
    contextLength: whole(own("context_length")),
    quant: tensors.every(({ type }) => TENSOR_TYPES.has(type))
      ? (FILE_TYPES.get(Number(pairs.get("general.file_type") ?? -1)) ?? "unknown")
      : "unknown",
    parameters: tensors.reduce((sum, { elements }) => sum + elements, 0),
    chatTemplate: pairs.has("tokenizer.chat_template"),
    embedding: EMBEDDING_ARCH.test(arch) || (typeof pooling === "number" && pooling !== NO_POOLING),
    layers: whole(own("block_count")),
    kvHeads: whole(own("attention.head_count_kv") ?? own("attention.head_count")),
    headDim:
      whole(own("attention.key_length")) ||
      (heads === 0 ? 0 : Math.ceil(whole(own("embedding_length")) / heads)),
  };
}

/** A whole number of the header; of one for each layer the largest, which is what memory must hold. */
function whole(value: PairValue | undefined): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

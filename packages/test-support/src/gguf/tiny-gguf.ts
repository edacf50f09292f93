/**
 * A tiny, valid model that the real engine runs: llama architecture, one layer, F32, about 0.7 MB.
 *
 * `chain` (default): weights made by hand; greedy decoding (temperature 0) always says `text`, then the end token. Attention and
 * feed-forward weights are zero, so the hidden state of a position is the embedding of its token alone. Embeddings are one-hot:
 * chain word n sits on axis n + 1, every other token on axis 0, and the output row of the next word reads that axis. So every
 * token predicts its successor, the last word predicts the end, and any prompt predicts the first word.
 * `random`: seeded weights; babbles words until the limit, for grammars, aborts and timing.
 *
 * The same options give the same bytes.
 */
import { type Pair, type Tensor, VALUE, writeGguf } from "./gguf-writer.ts";

const DIM = 128; // width of an embedding, which also bounds the words of a chain
const FEED_FORWARD = 64;
const HEADS = 2;
const END = 2;
const TOKEN = { normal: 1, unknown: 2, control: 3, byte: 6 } as const;
const WORD_MARK = "\u2581"; // the leading blank of sentencepiece vocabularies
const TEMPLATE =
  "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}\n{% endfor %}{% if add_generation_prompt %}[assistant] {% endif %}";

export interface TinyOptions {
  readonly mode?: "chain" | "random";
  /** Words separated by blanks, at most 127. */
  readonly text?: string;
  /** Context length of the header; default 2,048. */
  readonly ctx?: number;
  /** Of `random`; default 1. */
  readonly seed?: number;
  /** Bytes that the header is longer by. */
  readonly ballast?: number;
  /** Pairs after the usual ones. */
  readonly pairs?: readonly Pair[];
}

export function tinyGguf(options: TinyOptions = {}): Buffer {
  const { mode = "chain", text = "Hello from a very small local model .", seed = 1 } = options;
  const { tokens, types, chain } = vocabulary(text.split(/\s+/).filter(Boolean));
  if (chain.length === 0 || chain.length >= DIM) throw new RangeError("text: 1 to 127 words");
  const tensors =
    mode === "chain" ? chainTensors(tokens.length, chain) : randomTensors(types, seed);
  return writeGguf({
    pairs: [...pairs(options, tokens, types), ...(options.pairs ?? [])],
    tensors,
  });
}

interface Vocabulary {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  readonly chain: readonly number[];
}

function vocabulary(words: readonly string[]): Vocabulary {
  const tokens = ["<unk>", "<s>", "</s>"];
  const types: number[] = [TOKEN.unknown, TOKEN.control, TOKEN.control];
  const add = (token: string, type: number): number => {
    types.push(type);
    return tokens.push(token) - 1;
  };
  for (let byte = 0; byte < 256; byte++) {
    add(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`, TOKEN.byte);
  }
  const chain = words.map((word) => add(WORD_MARK + word, TOKEN.normal));
  for (let code = 33; code < 127; code++) add(String.fromCharCode(code), TOKEN.normal);
  add(WORD_MARK, TOKEN.normal);
  return { tokens, types, chain };
}

function pairs(
  { mode = "chain", ctx = 2048, ballast = 0 }: TinyOptions,
  tokens: readonly string[],
  types: readonly number[],
): Pair[] {
  const scores = types.map((type, i) => (type === TOKEN.normal ? -(i - 259) / 10 : 0));
  return [
    ["general.architecture", VALUE.string, "llama"],
    ["general.name", VALUE.string, `tiny-${mode}`],
    ["general.file_type", VALUE.u32, 0],
    ...(ballast > 0 ? [["general.description", VALUE.string, "x".repeat(ballast)] as const] : []),
    ["llama.vocab_size", VALUE.u32, tokens.length],
    ["llama.context_length", VALUE.u32, ctx],
    ["llama.embedding_length", VALUE.u32, DIM],
    ["llama.block_count", VALUE.u32, 1],
    ["llama.feed_forward_length", VALUE.u32, FEED_FORWARD],
    ["llama.attention.head_count", VALUE.u32, HEADS],
    ["llama.attention.head_count_kv", VALUE.u32, HEADS],
    ["llama.attention.layer_norm_rms_epsilon", VALUE.f32, 1e-5],
    ["llama.rope.dimension_count", VALUE.u32, DIM / HEADS],
    ["tokenizer.ggml.model", VALUE.string, "llama"],
    ["tokenizer.ggml.pre", VALUE.string, "default"],
    ["tokenizer.ggml.tokens", VALUE.array, { type: VALUE.string, items: tokens }],
    ["tokenizer.ggml.scores", VALUE.array, { type: VALUE.f32, items: scores }],
    ["tokenizer.ggml.token_type", VALUE.array, { type: VALUE.i32, items: types }],
    ["tokenizer.ggml.unknown_token_id", VALUE.u32, 0],
    ["tokenizer.ggml.bos_token_id", VALUE.u32, 1],
    ["tokenizer.ggml.eos_token_id", VALUE.u32, END],
    ["tokenizer.ggml.add_bos_token", VALUE.bool, true],
    ["tokenizer.ggml.add_eos_token", VALUE.bool, false],
    ["tokenizer.chat_template", VALUE.string, TEMPLATE],
  ];
}

function matrix(length: number, fill: (index: number) => number): Float32Array {
  const data = new Float32Array(length);
  for (let i = 0; i < length; i++) data[i] = fill(i);
  return data;
}

function layout(
  words: number,
  { embedding, output }: { readonly embedding: Float32Array; readonly output: Float32Array },
  small: () => number,
): Tensor[] {
  const tensors: readonly (readonly [string, readonly number[], Float32Array])[] = [
    ["token_embd.weight", [DIM, words], embedding],
    ["output_norm.weight", [DIM], matrix(DIM, () => 1)],
    ["output.weight", [DIM, words], output],
    ["blk.0.attn_norm.weight", [DIM], matrix(DIM, () => 1)],
    ["blk.0.attn_q.weight", [DIM, DIM], matrix(DIM * DIM, small)],
    ["blk.0.attn_k.weight", [DIM, DIM], matrix(DIM * DIM, small)],
    ["blk.0.attn_v.weight", [DIM, DIM], matrix(DIM * DIM, small)],
    ["blk.0.attn_output.weight", [DIM, DIM], matrix(DIM * DIM, small)],
    ["blk.0.ffn_norm.weight", [DIM], matrix(DIM, () => 1)],
    ["blk.0.ffn_gate.weight", [DIM, FEED_FORWARD], matrix(DIM * FEED_FORWARD, small)],
    ["blk.0.ffn_up.weight", [DIM, FEED_FORWARD], matrix(DIM * FEED_FORWARD, small)],
    ["blk.0.ffn_down.weight", [FEED_FORWARD, DIM], matrix(DIM * FEED_FORWARD, small)],
  ];
  return tensors.map(([name, dims, data]) => ({
    name,
    dims,
    data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
  }));
}

function chainTensors(words: number, chain: readonly number[]): Tensor[] {
  const embedding = new Float32Array(DIM * words);
  const output = new Float32Array(DIM * words);
  for (let i = 0; i < words; i++) embedding[i * DIM] = 1;
  output[(chain[0] as number) * DIM] = 10;
  chain.forEach((id, n) => {
    embedding[id * DIM] = 0;
    embedding[id * DIM + n + 1] = 1;
    output[(chain[n + 1] ?? END) * DIM + n + 1] = 10;
  });
  return layout(words, { embedding, output }, () => 0);
}

function randomTensors(types: readonly number[], seed: number): Tensor[] {
  const next = gaussian(seed);
  const scale = 1 / Math.sqrt(DIM);
  const embedding = matrix(DIM * types.length, () => next() * scale);
  // Only tokens like words get large output rows, so that it babbles words and not bytes.
  const output = matrix(DIM * types.length, (i) => {
    return next() * (types[Math.floor(i / DIM)] === TOKEN.normal ? 1 : 0.02);
  });
  return layout(types.length, { embedding, output }, () => next() * scale);
}

/** Normal numbers from a 32-bit xorshift: the same on every machine. */
function gaussian(seed: number): () => number {
  let state = seed >>> 0 || 1;
  const uniform = (): number => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 4_294_967_296;
  };
  return () => Math.sqrt(-2 * Math.log(uniform() + 1e-12)) * Math.cos(2 * Math.PI * uniform());
}

/** Writes GGUF files, good ones and broken ones. @see the specification of GGUF, version 3 */

export const VALUE = {
  u32: 4,
  i32: 5,
  f32: 6,
  bool: 7,
  string: 8,
  array: 9,
  u64: 10,
  u16: 2,
} as const;

export interface ArrayValue {
  readonly type: number;
  readonly items: readonly (string | number)[];
}

export type Pair = readonly [string, number, string | number | boolean | ArrayValue];

export interface Tensor {
  readonly name: string;
  /** Fastest first. */
  readonly dims: readonly number[];
  /** 0 is F32. */
  readonly type?: number;
  readonly data: Uint8Array;
  /** Instead of the next free one. */
  readonly offset?: number;
}

export interface GgufParts {
  readonly magic?: string;
  readonly version?: number;
  readonly pairs: readonly Pair[];
  readonly tensors: readonly Tensor[];
  /** Numbers that the header claims instead of the true ones. */
  readonly claims?: { readonly tensors?: bigint; readonly pairs?: bigint };
  readonly alignment?: number;
}

export function writeGguf(parts: GgufParts): Buffer {
  const { magic = "GGUF", version = 3, pairs, tensors, claims = {}, alignment = 32 } = parts;
  const w = new Writer();
  w.bytes(Buffer.from(magic)).u32(version);
  w.u64(claims.tensors ?? BigInt(tensors.length)).u64(claims.pairs ?? BigInt(pairs.length));
  for (const [key, type, value] of pairs) w.string(key).u32(type).value(type, value);
  let next = 0;
  for (const { name, dims, type = 0, data, offset = next } of tensors) {
    w.string(name).u32(dims.length);
    for (const size of dims) w.u64(BigInt(size));
    w.u32(type).u64(BigInt(offset));
    next = Math.ceil((offset + data.length) / alignment) * alignment;
  }
  w.pad(alignment);
  for (const { data } of tensors) w.bytes(data).pad(alignment);
  return w.concat();
}

class Writer {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  bytes(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    return this;
  }

  #fixed(size: number, write: (buffer: Buffer) => void): this {
    const buffer = Buffer.alloc(size);
    write(buffer);
    return this.bytes(buffer);
  }

  u32(value: number): this {
    return this.#fixed(4, (buffer) => buffer.writeUInt32LE(value));
  }

  u64(value: bigint): this {
    return this.#fixed(8, (buffer) => buffer.writeBigUInt64LE(value));
  }

  string(text: string): this {
    const bytes = Buffer.from(text);
    return this.u64(BigInt(bytes.length)).bytes(bytes);
  }

  value(type: number, value: Pair[2]): this {
    if (typeof value === "object") {
      this.u32(value.type).u64(BigInt(value.items.length));
      for (const item of value.items) this.value(value.type, item);
      return this;
    }
    switch (type) {
      case VALUE.string:
        return this.string(String(value));
      case VALUE.bool:
        return this.bytes(Buffer.from([Number(value)]));
      case VALUE.f32:
        return this.#fixed(4, (buffer) => buffer.writeFloatLE(Number(value)));
      case VALUE.i32:
        return this.#fixed(4, (buffer) => buffer.writeInt32LE(Number(value)));
      case VALUE.u16:
        return this.#fixed(2, (buffer) => buffer.writeUInt16LE(Number(value)));
      case VALUE.u64:
        return this.u64(BigInt(Number(value)));
      default:
        return this.u32(Number(value));
    }
  }

  pad(alignment: number): this {
    return this.bytes(Buffer.alloc((alignment - (this.#length % alignment)) % alignment));
  }

  concat(): Buffer {
    return Buffer.concat(this.#parts, this.#length);
  }
}

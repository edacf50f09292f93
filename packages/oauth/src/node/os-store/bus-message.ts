/**
 * Messages of D-Bus as bytes, as far as asking a service and reading its answer needs them: calls with arguments of type
 * `s`, `ss` or `a{ss}`, and answers of the types that the Secret Service has. Bodies of other messages are not read. @see D-Bus Specification, "Message Protocol"
 */

export interface BusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature: "" | "s" | "ss" | "a{ss}";
  readonly body: readonly (string | Readonly<Record<string, string>>)[];
}

/** A received message. `type`: 2 is an answer, 3 an error, 4 a signal. */
export interface BusMessage {
  readonly type: number;
  /** The serial of the call that this answers; 0 when it answers none. */
  readonly replySerial: number;
  readonly errorName: string;
  readonly body: readonly BusValue[];
}

/** A dictionary comes as an array of pairs, a variant as its value. */
export type BusValue = string | number | boolean | readonly BusValue[];

export const REPLY = 2;
export const ERROR = 3;

const METHOD_CALL = 1;
const PROTOCOL_VERSION = 1;
const FIXED_HEADER_BYTES = 16;
/** An answer with every item of a keyring is far shorter; the protocol allows 128 MiB. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

const FIELD = {
  path: 1,
  interface: 2,
  member: 3,
  errorName: 4,
  replySerial: 5,
  destination: 6,
  signature: 8,
};

export function encodeCall(call: BusCall, serial: number): Uint8Array {
  const body = new Writer();
  for (const value of call.body) body.argument(value);
  const head = new Writer();
  head.bytes("l".charCodeAt(0), METHOD_CALL, 0, PROTOCOL_VERSION);
  head.uint32(body.length);
  head.uint32(serial);
  head.array(8, () => {
    head.field(FIELD.path, "o", call.path);
    head.field(FIELD.interface, "s", call.interface);
    head.field(FIELD.member, "s", call.member);
    head.field(FIELD.destination, "s", call.destination);
    if (call.signature !== "") head.field(FIELD.signature, "g", call.signature);
  });
  head.align(8);
  return Buffer.concat([head.toBytes(), body.toBytes()]);
}

/**
 * The first message of `bytes` and how long it is, or undefined when it is not whole yet. Throws `RangeError` for bytes that
 * are no message.
 */
export function decodeMessage(bytes: Buffer): { message: BusMessage; length: number } | undefined {
  if (bytes.length < FIXED_HEADER_BYTES) return undefined;
  const order = bytes.readUInt8(0);
  if (order !== "l".charCodeAt(0) && order !== "B".charCodeAt(0))
    throw new RangeError("no message");
  const head = new Reader(bytes, order === "l".charCodeAt(0));
  head.skip(1);
  const type = head.byte();
  head.skip(2);
  const bodyLength = head.uint32();
  head.skip(4);
  const fieldsLength = head.uint32();
  const bodyAt = FIXED_HEADER_BYTES + Math.ceil(fieldsLength / 8) * 8;
  const length = bodyAt + bodyLength;
  if (length > MAX_MESSAGE_BYTES) throw new RangeError("a message that is too long");
  if (bytes.length < length) return undefined;
  const whole = new Reader(bytes.subarray(0, length), order === "l".charCodeAt(0));
  whole.skip(FIXED_HEADER_BYTES - 4);
  const fields = whole.fields();
  whole.skip(bodyAt - whole.offset);
  return {
    message: {
      type,
      replySerial: Number(fields.get(FIELD.replySerial) ?? 0),
      errorName: String(fields.get(FIELD.errorName) ?? ""),
      body: type === REPLY ? whole.values(String(fields.get(FIELD.signature) ?? "")) : [],
    },
    length,
  };
}

class Writer {
  readonly #bytes: number[] = [];

  get length(): number {
    return this.#bytes.length;
  }

  toBytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  bytes(...bytes: number[]): void {
    for (const byte of bytes) this.#bytes.push(byte);
  }

  align(to: number): void {
    while (this.#bytes.length % to !== 0) this.#bytes.push(0);
  }

  uint32(value: number): void {
    this.align(4);
    this.bytes(value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24);
  }

  string(text: string): void {
    const utf8 = Buffer.from(text);
    this.uint32(utf8.length);
    this.bytes(...utf8, 0);
  }

  /** Its length is written first, and is not counted from there but from the first element, which stands at `alignment`. */
  array(alignment: number, writeElements: () => void): void {
    this.uint32(0);
    const lengthAt = this.#bytes.length - 4;
    this.align(alignment);
    const start = this.#bytes.length;
    writeElements();
    const length = this.#bytes.length - start;
    for (let i = 0; i < 4; i++) this.#bytes[lengthAt + i] = (length >>> (8 * i)) & 255;
  }

  argument(value: string | Readonly<Record<string, string>>): void {
    if (typeof value === "string") {
      this.string(value);
      return;
    }
    this.array(8, () => {
      for (const [name, text] of Object.entries(value)) {
        this.align(8);
        this.string(name);
        this.string(text);
      }
    });
  }

  field(code: number, type: "o" | "s" | "g", text: string): void {
    this.align(8);
    this.bytes(code, 1, type.charCodeAt(0), 0);
    if (type === "g") this.bytes(text.length, ...Buffer.from(text), 0);
    else this.string(text);
  }
}

/** Reads values by their signature. For truncated messages Node's bounds checks throw `RangeError`. */
class Reader {
  readonly #bytes: Buffer;
  readonly #isLittle: boolean;
  offset = 0;

  constructor(bytes: Buffer, isLittle: boolean) {
    this.#bytes = bytes;
    this.#isLittle = isLittle;
  }

  skip(count: number): void {
    this.offset += count;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.offset++);
  }

  uint32(): number {
    this.#align(4);
    const at = this.offset;
    this.offset += 4;
    return this.#isLittle ? this.#bytes.readUInt32LE(at) : this.#bytes.readUInt32BE(at);
  }

  /** Values of a body. Throws `RangeError` for a signature with other types than answers of the Secret Service have. */
  values(signature: string): BusValue[] {
    const types = signature.match(TYPES) ?? [];
    if (types.join("") !== signature) throw new RangeError("a type that no answer has");
    return types.map((type) => this.#value(type));
  }

  /** The fields of a header, by their codes. */
  fields(): Map<number, BusValue> {
    return new Map(this.#array(8, () => this.#struct(() => [this.byte(), this.#variant()])));
  }

  #value(type: string): BusValue {
    switch (type) {
      case "b":
        return this.uint32() !== 0;
      case "u":
        return this.uint32();
      case "s":
      case "o":
        return this.#text(this.uint32());
      case "g":
        return this.#text(this.byte());
      case "v":
        return this.#variant();
      case "ao":
        return this.#array(4, () => this.#text(this.uint32()));
      default: // a{ss}
        return this.#array(8, () =>
          this.#struct(() => [this.#text(this.uint32()), this.#text(this.uint32())]),
        );
    }
  }

  #text(length: number): string {
    const start = this.offset;
    this.offset += length + 1;
    this.#bytes.readUInt8(this.offset - 1);
    return this.#bytes.toString("utf8", start, this.offset - 1);
  }

  #variant(): BusValue {
    const [value, ...more] = this.values(this.#text(this.byte()));
    if (value === undefined || more.length > 0) throw new RangeError("no single type");
    return value;
  }

  #array<T>(alignment: number, element: () => T): T[] {
    const length = this.uint32();
    this.#align(alignment);
    const end = this.offset + length;
    if (end > this.#bytes.length) throw new RangeError("an array that is cut off");
    const values: T[] = [];
    while (this.offset < end) values.push(element());
    return values;
  }

  #struct<T>(members: () => T): T {
    this.#align(8);
    return members();
  }

  #align(to: number): void {
    this.offset = Math.ceil(this.offset / to) * to;
  }
}

/** The types of answers: texts, paths, signatures, numbers, flags, variants, lists of paths, attributes. */
const TYPES = /ao|a\{ss\}|[bugosv]/g;

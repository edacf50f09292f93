/**
 * Rewrites a WebAssembly module so that its work is counted and can be stopped: each turn of a loop takes one from a counter,
 * each KiB that is copied or filled another one, and a counter below zero calls the module's import for the time of day. The
 * host stops the module by throwing there, wherever it is: in a script, in a regular expression, in a sort of the library.
 *
 * Nothing in the module changes its index: the counter is a global after the last one, and no function is added.
 *
 * @see WebAssembly Core Specification, chapter 5, "Binary Format"
 */

/** A module that counts its work. */
export interface MeteredWasm {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Name of the import `() => f64`: the time of day, also called with a counter below zero. */
  readonly clock: string;
  /** Name of the import `(i64, i32) => ()`: a time in the local zone. */
  readonly localTime: string;
  /** Address above the stack, which grows down; the heap begins here. */
  readonly heapStart: number;
}

/** Export of the counter, a mutable `i32`. */
export const FUEL = "millrace.fuel";

const SIZE_BYTES = 5; // of a LEB128 number of 32 bits
const COPY_SHIFT = 10; // one unit of the counter is one KiB
const SECTION = { type: 1, import: 2, global: 6, export: 7, code: 10 } as const;
const CLOCK = "->7c"; // () => f64
const LOCAL_TIME = "7e,7f->"; // (i64, i32) => ()
const I32 = 0x7f;
const GET = 0x23;
const SET = 0x24; // of a global
const CONST = 0x41;
const LOOP = 0x03;
const END = 0x0b;
const MANY = 0xfc; // prefix of saturating conversions and of operations on whole ranges

/** Throws `TypeError` for a module that is not QuickJS as this package depends on it. */
export function meterWasm(source: Uint8Array): MeteredWasm {
  const from = new Reader(source);
  const to = new Writer(source.length * 2);
  from.at = 8; // magic number and version
  to.copy(source, 0, from.at);
  let types: readonly string[] = [];
  let functions: Functions = new Map();
  let fuel = 0;
  let heapStart = 0;
  while (from.at < source.length) {
    const id = from.byte();
    const end = from.u32() + from.at;
    to.put([id]);
    const size = to.open();
    if (id === SECTION.type) types = readTypes(new Reader(source, from.at));
    if (id === SECTION.import) functions = readImports(new Reader(source, from.at), types);
    if (id === SECTION.global) {
      fuel = from.u32();
      to.u32(fuel + 2);
      to.copy(source, from.at, end);
      from.skip(3); // the first is the stack pointer: its type, that it changes, and `i32.const`
      heapStart = from.u32();
      for (let each = 0; each < 2; each += 1) to.put([I32, 1, CONST, 0, END]); // mutable, from 0
    } else if (id === SECTION.export) {
      to.u32(from.u32() + 1);
      to.copy(source, from.at, end);
      to.put([FUEL.length, ...new TextEncoder().encode(FUEL), 3, fuel]);
    } else if (id === SECTION.code) {
      meterBodies(from, to, { fuel, clock: functions.get(CLOCK)?.index ?? 0 });
    } else to.copy(source, from.at, end);
    to.close(size);
    from.at = end;
  }
  const clock = functions.get(CLOCK)?.name;
  const localTime = functions.get(LOCAL_TIME)?.name;
  if (clock === undefined || localTime === undefined || heapStart === 0) {
    throw new TypeError("the WebAssembly module has not the imports of QuickJS");
  }
  return { bytes: to.buffer.slice(0, to.length), clock, localTime, heapStart };
}

type Functions = ReadonlyMap<string, { readonly index: number; readonly name: string }>;

/** Indices that the added instructions name. The global after `fuel` holds a length for a moment. */
interface Indices {
  readonly fuel: number;
  readonly clock: number;
}

/** The types as text, such as `7e,7f->` for (i64, i32) => (). */
function readTypes(from: Reader): readonly string[] {
  const list = () => Array.from({ length: from.u32() }, () => from.byte().toString(16)).join(",");
  return Array.from({ length: from.u32() }, () => {
    from.byte(); // 0x60: a function
    const takes = list();
    return `${takes}->${list()}`;
  });
}

/** The imported functions by the text of their type; of several with one type, the last. */
function readImports(from: Reader, types: readonly string[]): Functions {
  const found = new Map<string, { readonly index: number; readonly name: string }>();
  let index = 0;
  for (let left = from.u32(); left > 0; left -= 1) {
    from.text(); // module
    const name = from.text();
    const kind = from.byte();
    if (kind === 0) {
      found.set(types[from.u32()] ?? "", { index, name });
      index += 1;
    } else if (kind === 2) {
      const hasMaximum = from.byte() % 2 === 1;
      from.u32();
      if (hasMaximum) from.u32();
    } else throw new TypeError("the WebAssembly module imports more than functions and memory");
  }
  return found;
}

function meterBodies(from: Reader, to: Writer, { fuel, clock }: Indices): void {
  const length = fuel + 1;
  // fuel = fuel - 1; if (fuel < 0) clock()
  const turn = [GET, fuel, CONST, 1, 0x6b, SET, fuel, GET, fuel, CONST, 0, 0x48];
  turn.push(0x04, 0x40, 0x10, clock, 0x1a, END);
  // fuel = fuel - (length >>> 10), with the length on top of the stack, where it stays
  const range = [SET, length, GET, fuel, GET, length, CONST, COPY_SHIFT, 0x76, 0x6b, SET, fuel];
  range.push(GET, length);
  const count = from.u32();
  to.u32(count);
  for (let left = count; left > 0; left -= 1) {
    const end = from.u32() + from.at;
    const size = to.open();
    let copied = from.at;
    for (let groups = from.u32(); groups > 0; groups -= 1) from.skip(2); // locals
    while (from.at < end) {
      const at = from.at;
      const code = from.byte();
      const isRange = skipImmediates(from, code);
      if (code !== LOOP && !isRange) continue;
      const split = isRange ? at : from.at;
      to.copy(from.source, copied, split);
      to.put(isRange ? range : turn);
      copied = split;
    }
    to.copy(from.source, copied, end);
    to.close(size);
  }
}

/** Passes over what follows the byte of an instruction; true for `memory.copy` and `memory.fill`. */
function skipImmediates(from: Reader, code: number): boolean {
  if (code === MANY) {
    const which = from.u32();
    from.skip(MANY_IMMEDIATES[which] ?? 0);
    return which === 10 || which === 11;
  }
  if (code === 0x0e)
    from.skip(from.u32() + 1); // br_table
  else if (code === 0x1c)
    from.skip(from.u32()); // select
  else if (code === 0x43)
    from.at += 4; // f32.const
  else if (code === 0x44)
    from.at += 8; // f64.const
  else if (code < IMMEDIATES.length) from.skip(IMMEDIATES[code] as number);
  else if (code === 0xd0 || code === 0xd2)
    from.skip(1); // ref.null, ref.func
  else if (code > 0xc4 && code !== 0xd1) {
    throw new TypeError(`unknown WebAssembly instruction ${code.toString(16)}`);
  }
  return false;
}

/** How many numbers follow an instruction, up to `i64.const`. */
const IMMEDIATES = new Uint8Array(0x43);
for (const [first, last, count] of [
  [0x02, 0x04, 1], // block, loop, if
  [0x0c, 0x0d, 1], // br, br_if
  [0x10, 0x10, 1], // call
  [0x11, 0x11, 2], // call_indirect
  [0x20, 0x26, 1], // variables and tables
  [0x28, 0x3e, 2], // load and store
  [0x3f, 0x42, 1], // memory.size, memory.grow, i32.const, i64.const
] as const) {
  IMMEDIATES.fill(count, first, last + 1);
}

/** The same of the instructions after `MANY`. */
const MANY_IMMEDIATES = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];

/** Reads forward. */
class Reader {
  readonly source: Uint8Array;
  at: number;

  constructor(source: Uint8Array, at = 0) {
    this.source = source;
    this.at = at;
  }

  byte(): number {
    return this.source[this.at++] as number;
  }

  /** A LEB128 number of 32 bits. */
  u32(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  /** Passes over LEB128 numbers of any width. */
  skip(count: number): void {
    for (let left = count; left > 0; left -= 1) while (this.byte() >= 0x80);
  }

  text(): string {
    const length = this.u32();
    this.at += length;
    return new TextDecoder().decode(this.source.subarray(this.at - length, this.at));
  }
}

/** Writes into a buffer that is large enough. */
class Writer {
  readonly buffer: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(size: number) {
    this.buffer = new Uint8Array(size);
  }

  put(bytes: readonly number[]): void {
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  u32(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.put([(rest & 0x7f) | 0x80]);
    this.put([rest]);
  }

  copy(from: Uint8Array, start: number, end: number): void {
    this.buffer.set(from.subarray(start, end), this.length);
    this.length += end - start;
  }

  /** Leaves room for the size of what follows; `close` takes what this answers. */
  open(): number {
    this.length += SIZE_BYTES;
    return this.length;
  }

  /** Writes the size of what came after `open`, always in as many bytes. */
  close(start: number): void {
    let rest = this.length - start;
    for (let at = start - SIZE_BYTES; at < start; at += 1, rest >>>= 7) {
      this.buffer[at] = (rest & 0x7f) | (at < start - 1 ? 0x80 : 0);
    }
  }
}

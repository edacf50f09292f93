/**
 * QuickJS in WebAssembly, with one script at a time.
 *   S1  Every call begins with the same bytes: those of a fresh context with the prelude in it. No script reads what the last one left.
 *   S2  A call ends by its deadline, wherever it is, because the module counts its work (meter-wasm.ts).
 *   S3  After a call that was stopped, or that made the memory grow, the sandbox is worn and another one takes its place.
 *   S4  The same source and input give the same answer on every machine: no clock, no chance, no zone but UTC.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import openQuickJS from "@jitl/quickjs-wasmfile-release-sync/emscripten-module";
import { QuickJSFFI } from "@jitl/quickjs-wasmfile-release-sync/ffi";
import { FUEL, type MeteredWasm, meterWasm } from "./meter-wasm.ts";
import { MAX_LINE, MAX_LINES, PRELUDE } from "./prelude.ts";

/** What one call may take. */
export interface CallLimits {
  readonly timeoutMs: number;
  /** Bytes of the whole memory of QuickJS; at least `MIN_MEMORY`. */
  readonly memoryBytes: number;
}

/** A line of `console`. */
export interface Line {
  readonly level: "log" | "info" | "debug" | "warn" | "error";
  readonly text: string;
}

/** Something that a script has thrown: an error, with places as `source:3:7` in its stack, or another value as text. */
export interface Thrown {
  readonly name?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly text?: string;
}

/** What came of a call. `problem`: where the result is no JSON, and why; `pending`: a promise that nothing settles. */
export interface Answer {
  readonly value?: unknown;
  readonly problem?: readonly [pointer: string, what: string];
  readonly pending?: true;
  readonly error?: Thrown;
  /** The source cannot be parsed; `error` says why. */
  readonly isSyntax?: true;
  readonly lines: readonly Line[];
  /** Lines beyond the first. */
  readonly dropped: number;
}

/** A call that was stopped from outside. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly limit: "timeoutMs" | "memoryBytes" | "stack" | "output";

  constructor(limit: Stopped["limit"]) {
    super(limit);
    this.limit = limit;
  }
}

/** Name of the source in positions. */
const SOURCE = "source";
const COMPILE_ONLY = 32; // JS_EVAL_FLAG_COMPILE_ONLY
const PAGE = 65_536;
const INITIAL_PAGES = 256; // what the module asks for

/** What a sandbox has from the start, and the most that one can have: the module's stack, its data, and the values of a script. */
export const MIN_MEMORY: number = INITIAL_PAGES * PAGE;
export const MAX_MEMORY: number = 8_192 * PAGE;
/** Bytes of a record: as JSON of the host they take some twenty times as much. */
export const MAX_RECORD: number = 5 * 1_048_576;
const FUEL_UNITS = 100_000; // loop turns between two looks at the clock: below a millisecond of a script
const STACK_BYTES = 192 * 1_024; // beyond it V8's own stack ends first
const ZERO_BYTES = 4_096; // more than the variables of QuickJS that begin as zero, behind those that do not
const DATA_END = 1_048_576; // the data of the module ends long before
const TROUBLE_BYTES = 1_048_576; // to say that memory ran out

/** The part of the library that is called; the pointers of its types are numbers. */
interface Calls {
  QTS_NewRuntime(): number;
  QTS_NewContext(runtime: number, intrinsics: number): number;
  QTS_RuntimeSetMaxStackSize(runtime: number, bytes: number): void;
  QTS_GetUndefined(): number;
  QTS_GetPropNumber(context: number, object: number, index: number): number;
  QTS_NewString(context: number, text: number): number;
  QTS_GetString(context: number, value: number): number;
  QTS_Eval(
    context: number,
    code: number,
    length: number,
    file: string,
    detectModule: 0,
    flags: number,
  ): number;
  QTS_Call(context: number, fn: number, self: number, count: number, values: number): number;
  QTS_ResolveException(context: number, value: number): number;
  QTS_ExecutePendingJob(runtime: number, most: number, context: number): number;
}

/** QuickJS as its loader answers it. */
interface Module {
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  UTF8ToString(at: number): string;
}

// The declarations of the loader are those of a CommonJS module, which it is not.
const openModule = openQuickJS as unknown as (options: object) => Promise<Module>;

/** The part of WebAssembly that is used; the types of Node have none of it. */
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface WasmInstance {
  readonly exports: { readonly [name: string]: unknown };
}
type WasmImports = { readonly [module: string]: { [name: string]: unknown } };
const wasm = (
  globalThis as unknown as {
    readonly WebAssembly: {
      readonly Memory: new (pages: { initial: number; maximum: number }) => WasmMemory;
      readonly Instance: new (code: object, imports: WasmImports) => WasmInstance;
      compile(bytes: Uint8Array): Promise<object>;
    };
  }
).WebAssembly;

/** Where the call that runs has to end. */
interface Bounds {
  deadline: number;
  bytes: number;
}

/** What a sandbox is made of. */
interface Parts {
  readonly module: Module;
  readonly memory: WasmMemory;
  readonly fuel: { value: number };
  readonly bounds: Bounds;
  readonly heapStart: number;
}

let compiled: Promise<{ readonly metered: MeteredWasm; readonly code: object }> | undefined;

/** Reads and compiles the module once. */
function compile(): NonNullable<typeof compiled> {
  const file = createRequire(import.meta.url).resolve("@jitl/quickjs-wasmfile-release-sync/wasm");
  compiled ??= readFile(file).then(async (bytes) => {
    const metered = meterWasm(bytes);
    return { metered, code: await wasm.compile(metered.bytes) };
  });
  return compiled;
}

/** One instance of QuickJS. */
export class Sandbox {
  readonly #parts: Parts;
  readonly #calls: Calls;
  readonly #runtime: number;
  readonly #context: number;
  readonly #prelude: { readonly enter: number; readonly leave: number; readonly blame: number };
  /** The bytes that a call begins with. */
  readonly #fresh: readonly { readonly at: number; readonly bytes: Uint8Array }[];
  #isWorn = false;

  private constructor(parts: Parts) {
    const { memory, heapStart } = parts;
    const calls = new QuickJSFFI(parts.module as never) as unknown as Calls;
    this.#parts = parts;
    this.#calls = calls;
    const dataEnd = endOfBytes(memory, 0, DATA_END) + ZERO_BYTES;
    this.#runtime = calls.QTS_NewRuntime();
    calls.QTS_RuntimeSetMaxStackSize(this.#runtime, STACK_BYTES);
    this.#context = calls.QTS_NewContext(this.#runtime, 0);
    const functions = this.#evaluate(PRELUDE, "prelude");
    const at = (index: number) => calls.QTS_GetPropNumber(this.#context, functions, index);
    this.#prelude = { enter: at(0), leave: at(1), blame: at(2) };
    const heapEnd = endOfBytes(memory, heapStart, memory.buffer.byteLength);
    const copy = (from: number, to: number) => ({
      at: from,
      bytes: new Uint8Array(memory.buffer).slice(from, to),
    });
    // Between them is the stack, where nothing is while nothing is called.
    this.#fresh = [copy(0, dataEnd), copy(heapStart, heapEnd)];
  }

  /** The first one compiles QuickJS, which takes some 30 ms; another one takes two. */
  static async open(): Promise<Sandbox> {
    const { metered, code } = await compile();
    const memory = new wasm.Memory({ initial: INITIAL_PAGES, maximum: MAX_MEMORY / PAGE });
    const bounds = { deadline: Number.POSITIVE_INFINITY, bytes: MAX_MEMORY };
    const grow = memory.grow.bind(memory);
    // QuickJS counts too little of what it allocates. A refusal is its "out of memory".
    memory.grow = (pages) => {
      if (memory.buffer.byteLength + pages * PAGE > bounds.bytes) throw new Stopped("memoryBytes");
      return grow(pages);
    };
    let fuel = { value: 0 };
    const options = {
      wasmMemory: memory,
      print() {},
      printErr() {},
      instantiateWasm(imports: WasmImports, done: (instance: WasmInstance) => void) {
        const functions = imports["a"] as WasmImports[string];
        functions[metered.clock] = () => {
          if (fuel.value < 0) {
            if (performance.now() > bounds.deadline) throw new Stopped("timeoutMs");
            fuel.value = FUEL_UNITS;
          }
          return 0;
        };
        functions[metered.localTime] = (_seconds: bigint, at: number) => {
          new Uint8Array(memory.buffer, at, 44).fill(0); // a `struct tm`; what is read of it is the offset to UTC
        };
        const instance = new wasm.Instance(code, imports);
        fuel = instance.exports[FUEL] as typeof fuel;
        fuel.value = FUEL_UNITS;
        done(instance);
        return instance.exports;
      },
    };
    const module = await openModule(options);
    return new Sandbox({ module, memory, fuel, bounds, heapStart: metered.heapStart });
  }

  /** Whether it takes no more calls. */
  get isWorn(): boolean {
    return this.#isWorn;
  }

  /** Bytes of its memory. */
  get size(): number {
    return this.#parts.memory.buffer.byteLength;
  }

  /**
   * Runs `source`, the body of a function of `input`, which is JSON text or absent. Throws `Stopped`; anything else that it
   * throws is a fault of the library.
   */
  run(source: string, input: string | undefined, limits: CallLimits): Answer {
    return this.#guarded(limits, () => {
      const body = this.#evaluate(functionOf(source), SOURCE);
      const syntax = this.#thrown(body);
      if (syntax !== undefined) return { ...syntax, isSyntax: true };
      const given = input === undefined ? this.#calls.QTS_GetUndefined() : this.#text(input);
      const entered = this.#call(this.#prelude.enter, [body, given]);
      if (entered !== undefined) return entered;
      const jobs = this.#calls.QTS_ExecutePendingJob(this.#runtime, -1, this.#allocate(4));
      return this.#thrown(jobs) ?? (this.#call(this.#prelude.leave, []) as Answer);
    });
  }

  /** Parses `source` alone: the record of what is wrong with it, or undefined. */
  parse(source: string, limits: CallLimits): Answer | undefined {
    const tried = (code: string) =>
      this.#thrown(this.#evaluate(functionOf(code), SOURCE, COMPILE_ONLY));
    return this.#guarded(limits, () => {
      const whole = tried(source);
      if (whole !== undefined) return whole;
      // To end the function that it is the body of and begin another one takes a comma in an object, and none in a class.
      const method = `run(input) { "use strict";\n${source}\n}`;
      const found = tried(`({ ${method} })`) ?? tried(`(class { ${method} })`);
      if (found === undefined) return undefined;
      return { error: { message: "a bracket closes the function itself" }, lines: [], dropped: 0 };
    });
  }

  #guarded<T>({ timeoutMs, memoryBytes }: CallLimits, work: () => T): T {
    const { bounds, fuel, memory } = this.#parts;
    fuel.value = FUEL_UNITS;
    bounds.deadline = performance.now() + timeoutMs;
    bounds.bytes = memoryBytes;
    try {
      return work();
    } catch (error) {
      this.#isWorn = true; // its stack is where the call was left
      throw error instanceof RangeError ? new Stopped("stack") : error;
    } finally {
      if (this.size > MIN_MEMORY) this.#isWorn = true;
      else {
        const bytes = new Uint8Array(memory.buffer);
        for (const part of this.#fresh) bytes.set(part.bytes, part.at);
      }
    }
  }

  /** Memory until the end of the call: nothing is freed, because all of it is overwritten then. */
  #allocate(bytes: number): number {
    const at = this.#parts.module._malloc(bytes);
    if (at === 0) throw new Stopped("memoryBytes");
    return at;
  }

  #bytes(text: string): { readonly at: number; readonly length: number } {
    const bytes = new TextEncoder().encode(text);
    const at = this.#allocate(bytes.length + 1);
    const { HEAPU8 } = this.#parts.module;
    HEAPU8.set(bytes, at);
    HEAPU8[at + bytes.length] = 0;
    return { at, length: bytes.length };
  }

  #text(text: string): number {
    return this.#calls.QTS_NewString(this.#context, this.#bytes(text).at);
  }

  #evaluate(code: string, file: string, flags = 0): number {
    const { at, length } = this.#bytes(code);
    return this.#calls.QTS_Eval(this.#context, at, length, file, 0, flags);
  }

  /** The record that a function of the prelude answers, or that of what it throws; undefined for an empty text. */
  #call(fn: number, values: readonly number[]): Answer | undefined {
    const calls = this.#calls;
    const result = calls.QTS_Call(
      this.#context,
      fn,
      calls.QTS_GetUndefined(),
      values.length,
      this.#list(values),
    );
    return this.#thrown(result) ?? this.#record(result);
  }

  /** The record of an exception; undefined where the value is none. Throws `Stopped` for a limit of QuickJS. */
  #thrown(value: number): Answer | undefined {
    const calls = this.#calls;
    const error = calls.QTS_ResolveException(this.#context, value);
    if (error === 0) return undefined;
    this.#parts.bounds.bytes += TROUBLE_BYTES;
    const self = calls.QTS_GetUndefined();
    const blamed = calls.QTS_Call(this.#context, this.#prelude.blame, self, 1, this.#list([error]));
    const answer = this.#record(blamed);
    const { name, message } = answer?.error ?? {};
    if (message === "stack overflow") throw new Stopped("stack");
    if (message === "out of memory" && name === "InternalError") throw new Stopped("memoryBytes");
    return answer;
  }

  #list(pointers: readonly number[]): number {
    const at = this.#allocate(pointers.length * 4);
    new Uint32Array(this.#parts.memory.buffer, at, pointers.length).set(pointers);
    return at;
  }

  #record(value: number): Answer | undefined {
    const at = this.#calls.QTS_GetString(this.#context, value);
    if (at === 0) throw new Stopped("memoryBytes");
    const { module } = this.#parts;
    if (module.HEAPU8.indexOf(0, at) - at > MAX_RECORD) throw new Stopped("output");
    const text = module.UTF8ToString(at);
    return text === "" ? undefined : readAnswer(text);
  }
}

/** A record, of which the script may have changed everything by a `toJSON` of its own. */
function readAnswer(text: string): Answer {
  let record: { readonly [name: string]: unknown } = {};
  try {
    record = JSON.parse(text) as typeof record;
  } catch {} // `toJSON` answered nothing
  const { value, problem, pending, error, lines, dropped } = record;
  const given = Array.isArray(lines) ? lines.slice(0, MAX_LINES).map(Object) : [];
  const about = {
    lines: given
      .filter((line) => LEVELS.has(line.level) && typeof line.text === "string")
      .map(({ level, text }) => ({ level, text: text.slice(0, MAX_LINE + 1) })),
    dropped: Number.isSafeInteger(dropped) ? Math.max(0, dropped as number) : 0,
  };
  if (Array.isArray(problem))
    return { ...about, problem: [textOf(problem[0]), textOf(problem[1])] };
  if (typeof error === "object" && error !== null) {
    const texts = Object.entries(error).map(([name, part]) => [name, textOf(part)]);
    return { ...about, error: Object.fromEntries(texts) };
  }
  if (pending === true) return { ...about, pending };
  return value === undefined
    ? { ...about, problem: ["", "is written by a toJSON that answers nothing"] }
    : { ...about, value };
}

/** A part of a record as text: a list or an object may have a `toString` that is none. */
function textOf(part: unknown): string {
  return typeof part === "string" ? part : JSON.stringify(part);
}

const LEVELS: ReadonlySet<unknown> = new Set(["log", "info", "debug", "warn", "error"]);

/** The source begins on the second line. */
function functionOf(source: string): string {
  return `(function (input) { "use strict";\n${source}\n})`;
}

/** End of what is not zero between two addresses, a multiple of four as they are. */
function endOfBytes(memory: WasmMemory, from: number, to: number): number {
  const words = new Uint32Array(memory.buffer, from, (to - from) / 4);
  let end = words.length;
  while (end > 0 && words[end - 1] === 0) end -= 1;
  return from + end * 4;
}

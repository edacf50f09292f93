/**
 * Turns whatever a node body hands over into JSON, once, at the border. The result is a copy: a body that keeps and
 * changes its object changes nothing.
 *   J1  the input is never changed, and what it hides (cycles, getters, proxies, depth) never crashes the caller.
 *   J2  the result is JSON that every strict parser reads: finite numbers, no lone surrogate, no `__proto__`.
 * @see the events page, "JSON safety"
 */
import { type Json, MAX_JSON_DEPTH } from "../json.ts";
import { pointerSegment } from "../kit/pointer.ts";

/** More values than this are a data set, which belongs into a file or behind a reference. */
const MAX_JSON_VALUES = 1_000_000;

/** Not JSON at all, nested beyond the limit, or more values than the limit. */
export type NotJsonErrorCode = "output_not_json" | "output_too_deep" | "output_too_large";

/** Kinds of changes made by the conversion to JSON. */
export type JsonWarningCode = "json_not_finite" | "json_bigint" | "json_key_dropped";

/** Something was changed on the way; at most one for each code, at the first place. */
export interface JsonWarning {
  readonly code: JsonWarningCode;
  /** JSON Pointer into the value. */
  readonly pointer: string;
  readonly message: string;
}

/** Bounds, which may only be lower than the defaults, and where binary data goes. */
export interface JsonLimits {
  /** Default and upper bound: `MAX_JSON_DEPTH`. `[]` has depth 1. */
  readonly maxDepth?: number;
  /** Default and upper bound: 1,000,000, the containers included. */
  readonly maxValues?: number;
  /** Keeps the bytes of an `ArrayBuffer` or typed array and answers their `sha256:` reference. Absent: binary data is refused. */
  readonly putBytes?: (bytes: Uint8Array) => string;
}

const MARK = Symbol.for("@millrace/contracts.error.NotJsonError");

/** A value that cannot become JSON. The message names the place, never the content. */
export class NotJsonError extends Error {
  override readonly name = "NotJsonError";
  readonly code: NotJsonErrorCode;
  readonly retryable = false;
  /** JSON Pointer into the value. */
  readonly pointer: string;

  constructor(code: NotJsonErrorCode, what: string, pointer: string) {
    super(`the output ${pointer === "" ? what.replace(/,$/, "") : `${what} at ${pointer}`}`);
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
    this.pointer = pointer;
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is NotJsonError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}

/**
 * A JSON copy of `value` and what had to be changed. Binary data becomes `{"$ref": "sha256:…", "bytes": n}`. Throws
 * `NotJsonError` with code `output_not_json` (cycle, `Map`, `Set`, promise, stream, a property that throws),
 * `output_too_deep` or `output_too_large`.
 */
export function toJsonValue(
  value: unknown,
  limits: JsonLimits = {},
): { value: Json; warnings: JsonWarning[] } {
  const copy = new Copy(limits);
  try {
    return { value: copy.any(value, 1) ?? null, warnings: copy.warnings };
  } catch (error) {
    if (copy.isStoring || NotJsonError.isInstance(error)) throw error;
    throw new NotJsonError("output_not_json", "has a property that throws", copy.pointer());
  }
}

class Copy {
  readonly warnings: JsonWarning[] = [];
  /** True while `putBytes` runs, whose failure is its own. */
  isStoring = false;
  readonly #path: (string | number)[] = [];
  readonly #open = new Set<object>();
  readonly #maxDepth: number;
  readonly #putBytes: ((bytes: Uint8Array) => string) | undefined;
  #left: number;

  constructor(limits: JsonLimits) {
    this.#maxDepth = Math.min(limits.maxDepth ?? MAX_JSON_DEPTH, MAX_JSON_DEPTH);
    this.#left = Math.min(limits.maxValues ?? MAX_JSON_VALUES, MAX_JSON_VALUES);
    this.#putBytes = limits.putBytes;
  }

  pointer(): string {
    return this.#path.map(pointerSegment).join("");
  }

  /** `undefined`: no JSON comes of it, so a property is dropped and a list entry becomes null. */
  any(value: unknown, depth: number): Json | undefined {
    this.#left -= 1;
    if (this.#left < 0) this.#fail("output_too_large", "holds too many values");
    switch (typeof value) {
      case "string":
        return wellFormed(value);
      case "boolean":
        return value;
      case "number":
        return this.#number(value);
      case "bigint":
        return this.#bigint(value);
      case "object":
        return value === null ? null : this.#object(value, depth);
      default:
        return undefined;
    }
  }

  #number(value: number): number | null {
    if (Number.isFinite(value)) return value === 0 ? 0 : value;
    this.#warn("json_not_finite", "a number that is not finite became null");
    return null;
  }

  #bigint(value: bigint): number | string {
    const number = Number(value);
    if (Number.isSafeInteger(number)) return number;
    this.#warn("json_bigint", "an integer beyond 2^53 became a string");
    return String(value);
  }

  #object(value: object, depth: number, mayConvert = true): Json | undefined {
    if (depth > this.#maxDepth) {
      this.#fail("output_too_deep", `is nested deeper than ${this.#maxDepth} levels`);
    }
    if (Array.isArray(value)) return this.#inside(value, () => this.#array(value, depth));
    const kind = kindOf(value);
    if (kind === "binary") return this.#binary(value as ArrayBuffer | ArrayBufferView);
    if (kind === "Date") return isoTime(value as Date);
    if (BOXES.has(kind)) return this.any(value.valueOf(), depth);
    if (REFUSED.has(kind)) this.#fail("output_not_json", `holds a ${kind}, which is no JSON,`);
    const toJSON = mayConvert ? (value as { toJSON?: unknown }).toJSON : undefined;
    if (typeof toJSON !== "function") return this.#inside(value, () => this.#record(value, depth));
    const result: unknown = toJSON.call(value, String(this.#path.at(-1) ?? ""));
    const isObject = typeof result === "object" && result !== null;
    return isObject ? this.#object(result, depth, false) : this.any(result, depth);
  }

  #array(list: readonly unknown[], depth: number): Json {
    if (list.length > this.#left) this.#fail("output_too_large", "holds too many values");
    const copy: Json[] = [];
    for (let i = 0; i < list.length; i += 1) {
      this.#path.push(i);
      copy.push(this.any(list[i], depth + 1) ?? null);
      this.#path.pop();
    }
    return copy;
  }

  #record(value: object, depth: number): Json {
    const copy: Record<string, Json> = {};
    for (const key of Object.keys(value)) {
      this.#path.push(key);
      if (key === "__proto__") {
        this.#warn("json_key_dropped", "a key named __proto__ was dropped");
      } else {
        const inner = this.any((value as Record<string, unknown>)[key], depth + 1);
        if (inner !== undefined) copy[wellFormed(key)] = inner;
      }
      this.#path.pop();
    }
    return copy;
  }

  #binary(value: ArrayBuffer | ArrayBufferView): Json {
    if (this.#putBytes === undefined) {
      this.#fail("output_not_json", "holds binary data, which has nowhere to go,");
    }
    const bytes = ArrayBuffer.isView(value)
      ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
      : new Uint8Array(value);
    this.isStoring = true;
    const ref = this.#putBytes(bytes.slice());
    this.isStoring = false;
    return { $ref: ref, bytes: bytes.byteLength };
  }

  #inside<T>(value: object, copy: () => T): T {
    if (this.#open.has(value)) this.#fail("output_not_json", "contains itself");
    this.#open.add(value);
    const result = copy();
    this.#open.delete(value);
    return result;
  }

  #warn(code: JsonWarningCode, message: string): void {
    if (this.warnings.some((warning) => warning.code === code)) return;
    this.warnings.push({ code, pointer: this.pointer(), message });
  }

  #fail(code: NotJsonErrorCode, what: string): never {
    throw new NotJsonError(code, what, this.pointer());
  }
}

/** Types whose data is not in own properties: they are refused, because they would silently become `{}`. */
const REFUSED: ReadonlySet<string> = new Set(
  "Map Set WeakMap WeakSet WeakRef Promise Blob File ReadableStream".split(" "),
);
const BOXES: ReadonlySet<string> = new Set(["Number", "String", "Boolean", "BigInt"]);

/** `Object` for plain records and for classes without a tag of their own. */
function kindOf(value: object): string {
  if (ArrayBuffer.isView(value)) return "binary";
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return "Object";
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  return tag === "ArrayBuffer" || tag === "SharedArrayBuffer" ? "binary" : tag;
}

function isoTime(date: Date): string | null {
  const time = Date.prototype.getTime.call(date);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

const SURROGATE = /[\ud800-\udfff]/;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** `text` with each lone surrogate replaced by U+FFFD. */
function wellFormed(text: string): string {
  return SURROGATE.test(text) ? text.replace(LONE_SURROGATES, "\ufffd") : text;
}

/**
 * From bytes to JSON. What can hurt is looked for in the bytes, before a parser builds anything.
 * @see the server page, "The gate", row 16
 */
import { MAX_JSON_DEPTH } from "@millrace/contracts";
import { escapeSegment } from "../args/index.ts";
import { ProblemError } from "../errors.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Parses bytes as JSON within the depth limit. Throws `bad_json`, `json_too_deep`, `invalid_args`. */
export function parseJson(bytes: Uint8Array): unknown {
  if (jsonDepth(bytes) > MAX_JSON_DEPTH) {
    throw new ProblemError("json_too_deep", { detail: `The limit is ${MAX_JSON_DEPTH} levels` });
  }
  let value: unknown;
  let text: string;
  try {
    // With `ignoreBOM` a byte order mark stays in the text, where JSON.parse refuses it.
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new ProblemError("bad_json");
  }
  // Cheap suspicion first: the key as it is, or any escape that could spell it.
  const pointer = /__proto__|\\u00/i.test(text) ? findProtoKey(value, "") : undefined;
  if (pointer !== undefined) {
    throw new ProblemError("invalid_args", {
      errors: [{ pointer, code: "key_refused", message: "the key __proto__ is not allowed" }],
    });
  }
  return value;
}

/** Deepest nesting of brackets outside strings; says nothing about whether the text is JSON. */
function jsonDepth(bytes: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] as number;
    if (inString) {
      if (byte === BACKSLASH) i += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
  }
  return deepest;
}

/** JSON Pointer of the first own key `__proto__`. The depth is limited, so recursion is safe. */
function findProtoKey(value: unknown, pointer: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const at = `${pointer}/${escapeSegment(key)}`;
    const found = key === "__proto__" ? at : findProtoKey(child, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * JSON with sorted keys and no blanks (RFC 8785, JSON Canonicalization Scheme); lone surrogates become escapes, which the
 * RFC leaves open. Iterative: the depth of the data does not matter.
 */
import type { Json, JsonObject } from "@millrace/contracts";
import { memberNames } from "../expression/values.ts";

/** The canonical JSON of a value. Members that are undefined are absent. */
export function canonicalJson(value: Json): string {
  let text = "";
  const open: { readonly closer: string; readonly parts: readonly Part[]; next: number }[] = [];
  let part: Part | undefined = { key: "", value };
  while (part) {
    text += part.key;
    const current: Json = part.value;
    if (typeof current !== "object" || current === null) {
      text += JSON.stringify(current === 0 ? 0 : current);
    } else if (Array.isArray(current)) {
      text += "[";
      open.push({ closer: "]", parts: (current as Json[]).map(elementPart), next: 0 });
    } else {
      text += "{";
      open.push({ closer: "}", parts: memberParts(current as JsonObject), next: 0 });
    }
    part = undefined;
    while (!part) {
      const top = open.at(-1);
      if (!top) break;
      part = top.parts[top.next];
      top.next += 1;
      if (!part) {
        text += top.closer;
        open.pop();
      } else if (top.next > 1) text += ",";
    }
  }
  return text;
}

interface Part {
  readonly key: string;
  readonly value: Json;
}

function elementPart(value: Json | undefined): Part {
  return { key: "", value: value ?? null };
}

function memberParts(object: JsonObject): Part[] {
  return memberNames(object)
    .sort()
    .map((name) => ({ key: `${JSON.stringify(name)}:`, value: object[name] as Json }));
}

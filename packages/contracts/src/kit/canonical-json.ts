/**
 * JSON with sorted keys and no blanks (RFC 8785, JSON Canonicalization Scheme); lone surrogates become escapes, which the
 * RFC leaves open. Iterative: the depth of the data does not matter.
 */
import type { Json, JsonObject } from "../json.ts";
import { memberNames } from "./objects.ts";

/** Stands in data for a part whose canonical JSON is known. */
export class Written {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/** A list or object of which some elements or members are written; a list has no names. */
interface Open {
  readonly holder: JsonObject | readonly Json[];
  readonly names: readonly string[] | undefined;
  readonly size: number;
  next: number;
}

/** The canonical JSON of a value. Members that are undefined are absent. */
export function canonicalJson(value: Json): string {
  const pieces: string[] = [];
  const open: Open[] = [];
  for (let at: Json | undefined = value; ; ) {
    if (typeof at !== "object" || at === null) pieces.push(JSON.stringify(at === 0 ? 0 : at));
    else if (at instanceof Written) pieces.push(at.json);
    else {
      const names = Array.isArray(at) ? undefined : memberNames(at as JsonObject).sort();
      pieces.push(names === undefined ? "[" : "{");
      open.push({ holder: at, names, size: (names ?? (at as Json[])).length, next: 0 });
    }
    let top = open.at(-1);
    for (; top !== undefined && top.next === top.size; top = open.at(-1)) {
      pieces.push(top.names === undefined ? "]" : "}");
      open.pop();
    }
    if (top === undefined) return pieces.join("");
    if (top.next > 0) pieces.push(",");
    const name = top.names?.[top.next];
    if (name !== undefined) pieces.push(`${JSON.stringify(name)}:`);
    at = (top.holder as JsonObject)[name ?? top.next] ?? null;
    top.next += 1;
  }
}

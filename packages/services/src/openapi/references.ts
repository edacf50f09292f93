/** References within one document. Nothing is fetched: whatever leads out of it is refused. */
import { isObject, pointerKeys } from "@millrace/contracts/kit";
import type { Findings } from "./findings.ts";
import type { Unknown } from "./plain.ts";

const MAX_HOPS = 32; // references to references; more is a circle

/** An object and where it stands. */
export interface Place {
  readonly value: Unknown;
  readonly pointer: string;
}

export class References {
  readonly #document: Unknown;
  readonly #findings: Findings;

  constructor(document: Unknown, findings: Findings) {
    this.#document = document;
    this.#findings = findings;
  }

  /** The object at a place, or the one that it refers to; `undefined`, with a finding, when there is none. */
  object(value: unknown, pointer: string): Place | undefined {
    let place = { value, pointer };
    for (let hops = 0; hops < MAX_HOPS; hops += 1) {
      if (!isObject(place.value)) return this.#none(pointer, "must be an object");
      const reference: unknown = place.value["$ref"];
      if (reference === undefined) return { value: place.value, pointer: place.pointer };
      const found = this.target(reference, place.pointer);
      if (found === undefined) return undefined;
      place = found;
    }
    return this.#none(pointer, "leads from reference to reference without an end");
  }

  /** Resolves one hop of a `$ref`; `undefined`, with a finding, when its target is outside this document. */
  target(
    reference: unknown,
    pointer: string,
  ): { readonly value: unknown; readonly pointer: string } | undefined {
    if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) {
      return this.#none(`${pointer}/$ref`, "refers to another document; nothing is fetched");
    }
    let value: unknown = this.#document;
    for (const key of keysOf(reference)) {
      const isInside = typeof value === "object" && value !== null && Object.hasOwn(value, key);
      if (!isInside) return this.#none(`${pointer}/$ref`, "refers to nothing in this document");
      value = (value as Unknown)[key];
    }
    return { value, pointer: reference.slice(1) };
  }

  #none(pointer: string, message: string): undefined {
    this.#findings.error("openapi_reference", pointer, message);
    return undefined;
  }
}

function keysOf(reference: string): string[] {
  let text = reference.slice(1);
  try {
    text = decodeURIComponent(text);
  } catch {
    // taken as it stands
  }
  return pointerKeys(text);
}

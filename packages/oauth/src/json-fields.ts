/**
 * Reading JSON that a stranger wrote.
 *   J1  Own properties only, and nothing of the object is copied along: `JSON.parse` makes `__proto__` an own key.
 *   J2  A message names the field and the rule, never the value. `JSON.parse` quotes the text in its error, which is
 *       therefore neither repeated nor kept as a cause.
 */
import { OAuthError, type OAuthErrorOptions } from "./errors.ts";

/** A JSON object whose fields are asked for one by one. Throws `OAuthError` kind `Decode` for any other text. */
export class JsonFields {
  readonly #what: string;
  readonly #object: object;

  /** `what` begins every message: "token response" or "stored token". */
  constructor(what: string, text: string) {
    this.#what = what;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw this.fault("the text must be JSON");
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.fault("the JSON must be an object");
    }
    this.#object = value;
  }

  /** The value of a field; undefined when it is absent or null. */
  get(name: string): unknown {
    const value = Object.hasOwn(this.#object, name)
      ? (this.#object as Record<string, unknown>)[name]
      : undefined;
    return value ?? undefined;
  }

  string(name: string): string | undefined {
    const value = this.get(name);
    if (value === undefined || typeof value === "string") return value;
    throw this.fault(`${name} must be a string`);
  }

  /** A string, a list as one, or undefined. */
  list(name: string): string | undefined {
    const value = this.get(name);
    return Array.isArray(value) ? value.join(" ") : this.string(name);
  }

  /** A string of at least one character. */
  text(name: string): string {
    const value = this.get(name);
    if (typeof value === "string" && value !== "") return value;
    throw this.fault(`${name} must be a string that is not empty`);
  }

  fault(rule: string, options: OAuthErrorOptions = {}): OAuthError {
    return new OAuthError("Decode", `${this.#what}: ${rule}`, options);
  }
}

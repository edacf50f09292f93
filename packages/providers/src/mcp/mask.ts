/** Keeps the secrets that a server was given out of what comes back from it. */
import { type Json, secretForms } from "@millrace/contracts";

/** A function that takes every form of the secrets out of the strings of a value. */
export function maskOf(secrets: readonly string[]): <T extends Json>(value: T) => T {
  const forms = secrets.flatMap(secretForms).sort((one, other) => other.length - one.length);
  if (forms.length === 0) return (value) => value;
  const masked = (value: Json | undefined): Json | undefined => {
    if (typeof value === "string") {
      return forms.reduce((text, form) => text.replaceAll(form, "[redacted]"), value);
    }
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((each) => masked(each) ?? null);
    const entries = Object.entries(value).map(([key, each]) => [masked(key), masked(each)]);
    return Object.fromEntries(entries) as Json;
  };
  return (value) => masked(value) as typeof value;
}

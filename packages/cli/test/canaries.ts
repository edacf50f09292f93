/** Looking for secrets in the bytes that a run or a server leaves. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { secretForms } from "@millrace/contracts";

/** Every file below a folder, whole. */
export function bytesBelow(folder: string): readonly (readonly [string, string])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readFileSync(path).toString("latin1")] as const);
}

/** Where a canary stands, as `NAME in place`. */
export function found(
  places: readonly (readonly [string, string])[],
  canaries: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(canaries).flatMap(([name, secret]) => {
    const needles = secretForms(secret)
      .flatMap((form) => [form, JSON.stringify(form).slice(1, -1)])
      .map((form) => Buffer.from(form).toString("latin1"));
    return places.flatMap(([place, text]) => {
      const needle = needles.find((each) => text.includes(each));
      if (needle === undefined) return [];
      const at = text.indexOf(needle);
      const around = text.slice(Math.max(0, at - 60), at + needle.length).replace(/[^ -~]/g, ".");
      return [`${name} in ${place}: …${around}`];
    });
  });
}

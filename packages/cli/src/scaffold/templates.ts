/** Templates of projects and flows: the examples, each by its name. */

import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { FlagSpec } from "../argv/spec.ts";
import { usage } from "../errors.ts";
import { clean } from "../output/text.ts";
import { EXAMPLES } from "./folder.ts";

/** Flags of commands that write an example. */
export const TEMPLATE_FLAGS: readonly FlagSpec[] = [
  {
    long: "template",
    value: "<name>",
    complete: "example",
    summary: "an example to begin with (default hello)",
  },
  { long: "force", summary: "replace files that are there" },
];

/** What an example is made of, as a project has it. */
export interface Template {
  readonly name: string;
  /** `millrace.json` without its own `$schema`; empty where the example has none. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Every other file, by its path in a project. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Files that belong to the repository, not to a project. */
const LEFT_OUT =
  /^(?:package\.json|README\.md|node_modules|out|fixtures\/answers\.script\.json)(?:$|\/)/;

/** Names of the examples that have a flow of their name, sorted by their numbers. */
export async function templateNames(): Promise<readonly string[]> {
  return (await folders()).map(({ name }) => name);
}

/** Reads an example. `flowName`: what its flow is called in the project. Throws a usage error for a name that is none. */
export async function readTemplate(name: string, flowName: string = name): Promise<Template> {
  const all = await folders();
  const found = all.find((each) => each.name === name || each.folder === name);
  if (found === undefined) {
    const { nearestName } = await import("@millrace/contracts/kit");
    const names = all.map((each) => each.name);
    const near = nearestName(name, names);
    throw usage(
      `there is no template "${clean(name)}"`,
      near === undefined ? `there are ${names.join(", ")}` : `did you mean ${near}?`,
    );
  }
  const from = join(fileURLToPath(EXAMPLES), found.folder);
  const files = new Map<string, Uint8Array>();
  let config: Template["config"] = {};
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const inner = path
      .slice(from.length + 1)
      .split(sep)
      .join("/");
    if (!entry.isFile() || LEFT_OUT.test(inner)) continue;
    const bytes = await readFile(path);
    if (inner === "millrace.json") {
      const { $schema: _schema, ...rest } = JSON.parse(bytes.toString()) as Record<string, unknown>;
      config = rest;
    } else files.set(placeOf(inner, found.name, flowName), bytes);
  }
  return { name: found.name, config, files };
}

/** `x.flow`, `fixtures/…` and `golden.ndjson` have places of their own in a project; other files keep theirs. */
function placeOf(inner: string, example: string, flowName: string): string {
  if (inner === `${example}.flow`) return `flows/${flowName}.flow`;
  if (/^[^/]+\.flow$/.test(inner)) return `flows/${inner}`;
  if (/^golden[^/]*\.ndjson$/.test(inner)) return `fixtures/${flowName}/${inner}`;
  if (inner.startsWith("fixtures/"))
    return `fixtures/${flowName}/${inner.slice("fixtures/".length)}`;
  return inner;
}

async function folders(): Promise<readonly { readonly name: string; readonly folder: string }[]> {
  const root = fileURLToPath(EXAMPLES);
  const names = (await readdir(root)).filter((folder) => /^\d+-/.test(folder)).sort();
  const found = [];
  for (const folder of names) {
    const name = folder.replace(/^\d+-/, "");
    const flows = (await readdir(join(root, folder))).filter((file) => file === `${name}.flow`);
    if (flows.length > 0) found.push({ name, folder });
  }
  return found;
}

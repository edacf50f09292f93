/** Inputs of a run from the command line: `-i k=v`, with `@file`, `@-`, `@env:NAME`, `@@x`, and `--input-json`. */

import type { FlowGraph, FlowInput, Json, JsonSchema } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { splitPair } from "../argv/values.ts";
import { usage } from "../errors.ts";
import { readInput } from "../files.ts";
import type { CliIo } from "../output/io.ts";

/**
 * The record of inputs. A string input takes its text as it is, any other type reads it as JSON. Repeating an input
 * replaces it, or appends where its schema is an array. An input that must not be shown (`writeOnly`) is refused as
 * a literal, because command lines are kept in histories.
 */
export async function readInputs(
  graph: FlowGraph,
  words: readonly string[],
  jsonFile: string | undefined,
  io: CliIo,
): Promise<Record<string, Json>> {
  const inputs: Record<string, Json> = Object.create(null);
  if (jsonFile !== undefined) Object.assign(inputs, await readObject(jsonFile, io));
  const given = new Set<string>();
  for (const word of words) {
    const [name, text] = splitPair(word, "--input");
    const input = graph.inputs.find((each) => each.name === name);
    if (input === undefined) throw unknownInput(name, graph.inputs);
    const value = toValue(input, await resolveText(input, text, io));
    const before = inputs[name];
    inputs[name] =
      given.has(name) && Array.isArray(before) && Array.isArray(value)
        ? [...before, ...value]
        : value;
    given.add(name);
  }
  const isKnown = (name: string): boolean => graph.inputs.some((each) => each.name === name);
  const names = Object.keys(inputs);
  for (const name of names) {
    if (isKnown(name)) continue;
    throw unknownInput(name, graph.inputs, names.some(isKnown) ? undefined : jsonFile);
  }
  return inputs;
}

/** Whether both `FILE` and an input, or two inputs, would read stdin. */
export function checkOneStdin(
  file: string,
  words: readonly string[],
  jsonFile: string | undefined,
): void {
  const readers = [file === "-", jsonFile === "-", ...words.map((word) => /^[^=]+=@-$/.test(word))];
  if (readers.filter(Boolean).length > 1)
    throw usage("only one thing can read stdin", "put the other one in a file");
}

async function resolveText(input: FlowInput, text: string, io: CliIo): Promise<string> {
  if (text.startsWith("@@")) return refuseLiteral(input, text.slice(1));
  if (text.startsWith("@env:")) {
    const value = io.env[text.slice(5)];
    if (value === undefined)
      throw usage(`input ${input.name}: the environment has no ${text.slice(5)}`);
    return value;
  }
  if (text.startsWith("@")) {
    const what = `input ${input.name}`;
    return decode(await readInput(text.slice(1), io, `${what}: `), what).replace(/\r?\n$/, "");
  }
  return refuseLiteral(input, text);
}

/** Text that is not UTF-8 would arrive changed. */
function decode(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usage(`${what} is not valid UTF-8`, "save it as UTF-8");
  }
}

function refuseLiteral(input: FlowInput, text: string): string {
  if (!isHidden(input.schema)) return text;
  throw usage(
    `input ${input.name} must not be written on the command line`,
    `use ${input.name}=@env:NAME or ${input.name}=@file`,
  );
}

function toValue({ name, schema }: FlowInput, text: string): Json {
  if (takesText(schema)) return text;
  if (isType(schema, "array") && !text.trimStart().startsWith("[")) {
    const { items } = schema as { readonly items?: JsonSchema };
    return [toValue({ name, ...(items !== undefined && { schema: items }) }, text)];
  }
  try {
    return JSON.parse(text) as Json;
  } catch {
    if (schema === undefined) return text;
    throw usage(`input ${name} takes ${typeWord(schema)}, written as JSON`);
  }
}

function takesText(schema: JsonSchema | undefined): boolean {
  const { type } = schema ?? {};
  return type === "string" || (Array.isArray(type) && type.includes("string"));
}

function isType(schema: JsonSchema | undefined, name: string): boolean {
  const { type } = schema ?? {};
  return type === name;
}

function isHidden(schema: JsonSchema | undefined): boolean {
  const { writeOnly } = schema ?? {};
  return writeOnly === true;
}

function typeWord({ type }: JsonSchema): string {
  if (typeof type !== "string") return "a value";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

async function readObject(file: string, io: CliIo): Promise<Record<string, Json>> {
  const value = await readJson(file, io);
  if (isObject(value)) {
    return value as Record<string, Json>;
  }
  throw usage(`${nameOf(file)} is not a JSON object`, '--input-json takes {"name": value}');
}

/** The JSON of a file or of stdin (`-`). Throws a usage error for a file that cannot be read or is no JSON. */
export async function readJson(file: string, io: CliIo): Promise<Json> {
  const text = decode(await readInput(file, io), nameOf(file));
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw usage(`${nameOf(file)} is not JSON`, 'it takes one value, such as {"name": "Ada"}');
  }
}

function nameOf(file: string): string {
  return file === "-" ? "stdin" : file;
}

/** `file`: it has none of the flow's inputs, so it may be the value of one. */
function unknownInput(name: string, inputs: readonly FlowInput[], file?: string): Error {
  const known = inputs.map((each) => each.name).join(", ");
  const objects = inputs.filter(({ schema }) => isType(schema, "object"));
  const [whole] = objects;
  const how =
    file === undefined || whole === undefined || objects.length > 1
      ? ""
      : `; as a whole it is -i ${whole.name}=@${file}, or write {${JSON.stringify(whole.name)}: …} around it`;
  return usage(
    `the flow has no input ${name}`,
    known === "" ? "it takes none" : `its inputs: ${known}${how}`,
  );
}

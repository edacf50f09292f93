/** `millrace explain`: what a diagnostic, an exit code, an error code of a node or a node type means. */

import { type CatalogEntry, ExitCode, type JsonSchema } from "@millrace/contracts";
import { nearestName } from "@millrace/contracts/kit";
import { describeType, listFunctions, printFlow, typeFromSchema } from "@millrace/dsl";
import {
  BLOCK_WORDS,
  DIAGNOSTICS,
  type DiagnosticCode,
  describeLanguage,
  EXPLANATIONS,
  languagePage,
  POLICY_WORDS,
} from "@millrace/dsl/explain";
import { command } from "../../argv/flags.ts";
import { type Answer, type CliCommand, type CommandIo, type Input, isOn } from "../../argv/spec.ts";
import type { ObjectSchema } from "../../ask.ts";
import { variablesOf } from "../../config/keys.ts";
import { ALL_KEYS } from "../../config/limit-keys.ts";
import { usage } from "../../errors.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { clean } from "../../output/text.ts";
import { coreEntries } from "../../run/core-catalog.ts";
import { JOB_CODES, NODE_CODES } from "./codes.ts";

export const commands: readonly CliCommand[] = [
  command("explain", "say what a code, a node type or a word of the language means", {
    args: [
      {
        name: "word",
        summary: "FLOW1001, 3, http.request, @retry, upper, language…; default every diagnostic",
      },
    ],
    flags: [{ long: "all", summary: "everything that can be explained; with --json as data" }],
    examples: [
      ["explain FLOW1003", "what it means, wrong and right"],
      ["explain language", "the language on one page, for a model"],
      ["explain --all --json", "types, functions, policies and codes for a program"],
    ],
    run,
  }),
];

/** The word whose explanation is the page for models. */
const LANGUAGE = "language";

const ERROR_CODES: { readonly [code: string]: string } = { ...JOB_CODES, ...NODE_CODES };

/** Meaning of each exit code, as in the README. */
export const EXIT_CODES: { readonly [name in keyof typeof ExitCode]: string } = {
  succeeded: "succeeded",
  failed: "the run failed, or a check found a difference",
  usage: "usage: unknown flag, bad value, missing input, unreadable file",
  invalid: "the flow is invalid",
  confirmation: "a confirmation was needed or denied",
  credentials: "credentials are missing",
  unavailable: "something the run needs is not available",
  internal: "a bug",
  output: "stdout took only a part of the output, as on a full disk",
  timeout: "`--timeout` elapsed",
  interrupted: "interrupted",
  terminated: "terminated",
};

const CODES = Object.keys(DIAGNOSTICS) as DiagnosticCode[];

/** Explains one word; without a word, lists every diagnostic. */
async function run(input: Input, io: CommandIo): Promise<Answer> {
  const [word] = input.args;
  if (isOn(input, "all")) {
    if (word !== undefined) throw usage("--all explains everything; give it without a word");
    return everything();
  }
  return word === undefined ? list() : explain(word, createStyle(io.colour, io.env));
}

function list(): Answer {
  const value = CODES.map((code) => ({ code, ...DIAGNOSTICS[code] }));
  return {
    value,
    data: value.map((row) => `${row.code}  ${row.severity.padEnd(7)}  ${row.message}`),
  };
}

/** All that has an explanation: a line each, and as data what the explanation of each one shows. */
function everything(): Answer {
  const value = {
    language: describeLanguage(),
    types: coreEntries(),
    functions: listFunctions(),
    diagnostics: CODES.map((code) => ({ code, ...DIAGNOSTICS[code], ...EXPLANATIONS[code] })),
    errorCodes: Object.entries(ERROR_CODES).map(([errorCode, meaning]) => ({ errorCode, meaning })),
    exitCodes: Object.entries(ExitCode).map(([name, exitCode]) => ({
      ...{ exitCode, name },
      meaning: EXIT_CODES[name as keyof typeof ExitCode],
    })),
    keys: ALL_KEYS,
  };
  const { language, types, functions, diagnostics, errorCodes, exitCodes, keys } = value;
  const rows = [
    [LANGUAGE, "all of it on one page, for a model"],
    ...language.blocks.map(({ name, summary = "" }) => [name, summary]),
    ...language.policies.node.map(({ name, summary = "" }) => [`@${name}`, summary]),
    ...types.map(({ type, summary }) => [type, summary]),
    ...functions.map(({ name, summary }) => [name, summary]),
    ...diagnostics.map(({ code, message }) => [code, message]),
    ...errorCodes.map(({ errorCode, meaning }) => [errorCode, meaning]),
    ...exitCodes.map(({ exitCode, meaning }) => [String(exitCode), meaning]),
    ...keys.map(({ key, summary }) => [key, summary]),
  ];
  return { value, data: rows.map(([word = "", says]) => `${word.padEnd(24)}  ${says}`) };
}

function explain(word: string, style: Style): Answer {
  const code = /^\d{4}$/.test(word) ? `FLOW${word}` : word.toUpperCase();
  if (Object.hasOwn(DIAGNOSTICS, code)) return explainCode(code as DiagnosticCode, style);
  const exit = Object.entries(ExitCode).find(([, number]) => String(number) === word);
  if (exit) return explainExit(exit[0] as keyof typeof ExitCode, style);
  if (Object.hasOwn(ERROR_CODES, word)) return explainErrorCode(word, style);
  const entries = coreEntries();
  if (word === LANGUAGE) {
    const page = languagePage(entries);
    return { value: { kind: LANGUAGE, page }, data: [page.trimEnd()] };
  }
  const entry = entries.findLast(
    ({ type, version }) => type === word || `${type}@${version}` === word,
  );
  if (entry) return explainType(entry, style);
  const member = explainMember(word, entries, style);
  if (member) return member;
  const language = explainLanguage(word, style);
  if (language) return language;
  const types = entries.map(({ type }) => type);
  const functions = listFunctions().map(({ name }) => name);
  const names = [...types, ...Object.keys(ERROR_CODES), ...functions, ...Object.keys(POLICY_WORDS)];
  const near = nearestName(code, CODES) ?? nearestName(word, names);
  throw usage(
    `nothing is called ${JSON.stringify(word)}: neither a diagnostic, an exit code, an error code nor a node type`,
    near === undefined ? "millrace explain lists the diagnostics" : `did you mean ${near}?`,
  );
}

/** A policy, a block, a function, or a key of `millrace.json`. `map()` is the function and not the type. */
function explainLanguage(word: string, style: Style): Answer | undefined {
  const policy = word.startsWith("@") ? word : `@${word}`;
  const [kind, name, found] = Object.hasOwn(POLICY_WORDS, policy)
    ? (["policy", policy, POLICY_WORDS[policy]] as const)
    : (["block", word, Object.hasOwn(BLOCK_WORDS, word) ? BLOCK_WORDS[word] : undefined] as const);
  if (found) {
    const { summary, example: sample } = found;
    const parts = [`${style.bold(name)} (${kind}) ${summary}`, `example\n\n${example(sample)}`];
    return { value: { kind, name, summary, example: sample }, data: [parts.join("\n\n")] };
  }
  const called = word.replace(/\(\)$/, "");
  const spec = listFunctions().find((each) => each.name === called);
  if (spec) {
    const text = `${style.bold(spec.signature)} (function) ${spec.summary}`;
    return { value: { kind: "function", ...spec }, data: [text] };
  }
  const key = ALL_KEYS.find((each) => each.key === word);
  if (!key) return undefined;
  const variables = variablesOf(key.key);
  const said = [
    ...(key.choices ? [`one of ${key.choices.join(", ")}`] : []),
    ...(key.default === undefined ? [] : [`default ${JSON.stringify(key.default)}`]),
    ...(variables.length > 0 ? [`variable ${variables.join(", ")}`] : []),
  ];
  const text = `${style.bold(key.key)} (key of millrace.json, ${key.type}) ${key.summary}; ${said.join("; ")}`;
  return { value: { kind: "key", ...key }, data: [text] };
}

function explainCode(code: DiagnosticCode, style: Style): Answer {
  const rule = DIAGNOSTICS[code];
  const { why, wrong, right } = EXPLANATIONS[code];
  const parts = [
    `${style.bold(`${code} (${(rule.severities ?? [rule.severity]).join(" or ")})`)} ${rule.message}`,
    why,
    ...(rule.hint === undefined ? [] : [`hint: ${rule.hint}`]),
    `${style.bad("wrong")}\n\n${example(wrong)}`,
    `${style.good("right")}\n\n${example(right)}`,
  ];
  return { value: { code, ...rule, why, wrong, right }, data: [parts.join("\n\n")] };
}

function explainExit(name: keyof typeof ExitCode, style: Style): Answer {
  const exitCode = ExitCode[name];
  const meaning = EXIT_CODES[name];
  return {
    value: { exitCode, name, meaning },
    data: [`${style.bold(`exit code ${exitCode} (${name})`)} ${meaning}`],
  };
}

function explainErrorCode(code: string, style: Style): Answer {
  const meaning = ERROR_CODES[code] as string;
  return {
    value: { errorCode: code, meaning },
    data: [`${style.bold(`error code ${code}`)} ${meaning}`],
  };
}

function explainType(entry: CatalogEntry, style: Style): Answer {
  const { type, version, summary, ports, portsFrom, effect, deprecated } = entry;
  const names = [
    ...ports.map(({ name }) => name),
    ...(portsFrom ? [`those of ${portsFrom}`] : []),
    "error",
  ];
  const parts = [
    `${style.bold(`${type}@${version}`)} ${summary}`,
    ...(deprecated === undefined ? [] : [`deprecated: ${deprecated}`]),
    `fields\n\n${memberRows(entry.fields, true)}`,
    `output\n\n${memberRows(entry.output, false)}`,
    `ports: ${names.join(", ")}\neffect: ${effect}`,
    ...entry.examples.slice(0, 1).map((each) => `example\n\n${example(exampleText(entry, each))}`),
  ];
  return { value: entry, data: [parts.join("\n\n").split("\n").map(clean).join("\n")] };
}

/** A field of a node type, or what its output has: `file.read.encoding`. A field goes before a member of the output. */
function explainMember(
  word: string,
  entries: readonly CatalogEntry[],
  style: Style,
): Answer | undefined {
  const entry = entries.findLast(({ type }) => word.startsWith(`${type}.`));
  if (entry === undefined) return undefined;
  const { type } = entry;
  const path = word.slice(type.length + 1).split(".");
  for (const kind of ["field", "output"] as const) {
    const found = memberAt(kind === "field" ? entry.fields : entry.output, path);
    if (found === undefined) continue;
    const { schema, required } = found;
    const facts = [describeType(typeFromSchema(schema)), ...(required ? ["required"] : [])];
    const what = kind === "field" ? `field of ${type}` : `output of ${type}`;
    const text = `${style.bold(word)} (${what}, ${facts.join(", ")}) ${aboutMember(schema)}`;
    return { value: { kind, type, name: path.join("."), required, schema }, data: [clean(text)] };
  }
  return undefined;
}

/** The schema of a member, also of the elements of a list. */
function memberAt(
  of: JsonSchema,
  [name = "", ...rest]: readonly string[],
): { readonly schema: JsonSchema; readonly required: boolean } | undefined {
  const { items, properties = {}, required = [] } = of as ObjectSchema;
  if (typeof items === "object") return memberAt(items, [name, ...rest]);
  const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (schema === undefined) return undefined;
  return rest.length > 0 ? memberAt(schema, rest) : { schema, required: required.includes(name) };
}

/** One row for each member of an object schema; `marks`: those that are required say so. */
function memberRows(schema: JsonSchema, marks: boolean): string {
  const { properties = {}, required = [] } = schema as ObjectSchema;
  const names = Object.keys(properties);
  const width = Math.max(0, ...names.map((name) => name.length));
  const rows = names.map((name) => {
    const member = properties[name] as JsonSchema;
    const type = describeType(typeFromSchema(member));
    const needed = marks && required.includes(name) ? ", required" : "";
    const about = aboutMember(member);
    return `  ${name.padEnd(width)}  ${type}${needed}${about === "" ? "" : `. ${about}`}`;
  });
  return rows.join("\n") || `  ${describeType(typeFromSchema(schema))}`;
}

/** Purpose, values and default of a member, in sentences. */
export function aboutMember(member: JsonSchema): string {
  const { description, default: usual } = member as { description?: string; default?: unknown };
  const choices = choicesOf(member);
  return [
    description,
    choices && `One of ${choices.map((choice) => `\`${JSON.stringify(choice)}\``).join(", ")}.`,
    usual !== undefined && `Default \`${JSON.stringify(usual)}\`.`,
  ]
    .filter((sentence) => typeof sentence === "string")
    .join(" ");
}

/** The values that a schema lists, also for the elements of a list. */
function choicesOf(schema: JsonSchema): readonly unknown[] | undefined {
  const { enum: choices, items } = schema as ObjectSchema & { enum?: readonly unknown[] };
  if (choices !== undefined) return choices;
  return typeof items === "object" ? choicesOf(items) : undefined;
}

/** An example as a node of a flow. */
export function exampleText(
  { type }: CatalogEntry,
  sample: CatalogEntry["examples"][number],
): string {
  const { fields = {}, body } = sample;
  const id = type.slice(type.lastIndexOf(".") + 1);
  const text = printFlow({
    version: 1,
    id: "x",
    inputs: [],
    nodes: [{ id, type, fields, ...(body !== undefined && { body }) }],
    edges: [],
    outputs: [],
    connections: [],
    schedules: [],
  } as never);
  return text.slice(text.indexOf("\n")).trim();
}

/** Lines of an example, indented; what cannot be seen is spelled out. */
function example(text: string): string {
  return text
    .split("\n")
    .map((line) => `    ${visible(line)}`.trimEnd())
    .join("\n");
}

/** A line without invisible characters. */
function visible(line: string): string {
  return clean(
    line.replace(
      /[\p{Cc}\p{Cf}\p{M}\u00a0]/gu,
      (char) => `<U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`,
    ),
  );
}

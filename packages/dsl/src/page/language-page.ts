/**
 * The page of the language for programs that write flows: all that a model needs, in one text of a few thousand tokens. Its
 * tables come from the language, the functions and the catalog, so the page is as these are.
 */

import type { CatalogEntry, Json, JsonSchema } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { listFunctions } from "../expression/functions/list.ts";
import { FLOW_POLICIES, type Member } from "../language/blocks.ts";
import { describeType } from "../types/flow-type.ts";
import { typeFromSchema } from "../types/from-schema.ts";
import { FIRST_FLOW, FREQUENT_MISTAKES, type FrequentMistake, WHOLE_FLOWS } from "./samples.ts";
import { BLOCK_WORDS, POLICY_WORDS } from "./words.ts";

/** The level up to which the members of an object are spelled out: 0 is a field, or a member of an output. */
const MAX_LEVELS = 0;
/** A type with more fields says of plain ones only their type: `millrace explain` has the rest. */
const MANY_FIELDS = 15;
/** Choices of a member of a member, and characters of a default, that are still shown. */
const MAX_CHOICES = 8;
const MAX_DEFAULT = 40;

/**
 * The language as one Markdown page: grammar by example, node types of `entries` with fields, outputs and ports, functions,
 * policies, frequent mistakes and two whole flows. `entries` are those of a catalog, such as `GET /api/nodes` has; services and
 * older versions of a type are left out. With core's own types it is at most 6,000 tokens long.
 */
export function languagePage(entries: readonly CatalogEntry[]): string {
  return `${[
    "# The Millrace flow language",
    GRAMMAR,
    "## Blocks",
    rows(Object.entries(BLOCK_WORDS).map(([word, { summary }]) => [word, summary])),
    "## Policies of a node",
    rows(Object.entries(POLICY_WORDS).map(([word, { summary }]) => [word, summary])),
    `In the braces of \`flow\`: ${FLOW_POLICIES.map(policyOfFlow).join(", ")}.`,
    "## Types of nodes",
    TYPES,
    ...newest(entries).map(typeSection),
    "## Expressions",
    EXPRESSIONS,
    functionRows(),
    "## Frequent mistakes",
    fence(FREQUENT_MISTAKES.map(mistake).join("\n\n")),
    "## Whole flows",
    ...WHOLE_FLOWS.map((text) => fence(text.trimEnd())),
  ].join("\n\n")}\n`;
}

const GRAMMAR = `A flow is a graph of nodes in a text file, \`NAME.flow\`. Answer with the text of the flow alone. \`millrace validate --fix --json\` checks
it, mends slips and lists what is left.

${fence(FIRST_FLOW.trimEnd())}

- Types of inputs and outputs: \`string number int bool object any null date datetime uri\`, \`T[]\`, \`T?\` (or null), \`{ a: T, b: U? }\`.
- Ids: letters, digits, \`_\`, \`-\`. Text is in double quotes. Durations: \`250ms 30s 5m 2h 7d\`. JSON is valid as a value.
- A node that reads another (\`a.body\`) waits for it; nodes that do not wait for each other run at the same time. Edges order the rest.
- An edge leaves by a port: \`out\` (not written), \`error\` of every type (\`a.error -> b\`; b may read \`a.error.message\`), and those below. A
  node to which no followed edge leads is skipped; whoever reads it plainly is skipped too. Read it as \`a?.value ?? 0\`.
- Nodes in a \`body\` see \`item\` and \`index\` (map) or \`state\` and \`index\` (loop) and all around; outside reads \`map.items\`, \`loop.state\` alone.
- A flow holds no secrets: name a \`connection\`, or write \`"Bearer \${secrets.NAME}"\` in a header of \`http.request\`. There is no code and no shell text.`;

const TYPES = `Fields are written \`name: type = default\`; \`?\` marks what may be left out. Every type has the port \`error\` as well.`;

const EXPRESSIONS = `Operators from weak to strong: \`c ? a : b\`, \`??\`, \`||\`, \`&&\`, \`== !=\`, \`in < <= > >=\`, \`+ -\`, \`* / %\`, \`! -\`; then \`a.b\`, \`a?.b\`, \`a[i]\`, \`f(x)\`. Blanks around
a minus. No type is converted but in a string with \`\${…}\`. An absent member is null; a member of null is an error, with \`?.\` null. Names: \`inputs\`,
ids of nodes, \`run.id\`, \`vars.NAME\`. In \`filter\`, \`map\`, \`all\`, \`exists\` and \`sortBy\` the second argument names the element.`;

/** The newest version of each type that can be a node. */
function newest(entries: readonly CatalogEntry[]): readonly CatalogEntry[] {
  const byType = new Map<string, CatalogEntry>();
  for (const entry of entries) {
    const known = byType.get(entry.type);
    if (entry.serviceIntegration !== undefined || (known && known.version >= entry.version))
      continue;
    byType.set(entry.type, entry);
  }
  return [...byType.values()];
}

function typeSection({
  type,
  summary,
  fields,
  output,
  ports,
  portsFrom,
  body,
}: CatalogEntry): string {
  const names = [
    ...ports.map(({ name }) => `\`${name}\``),
    ...(portsFrom === undefined ? [] : [`one for each of \`${portsFrom}\``]),
  ];
  return [
    `### ${type}`,
    "",
    `${summary}${names.join() === "`out`" ? "" : ` Ports: ${names.join(", ")}.`}${body ? " Has a `body { … }`." : ""}`,
    ...fieldRows(membersOf(fields)),
    ...outputRow(output),
  ].join("\n");
}

/** A row for each field; of many the plain ones share one. */
function fieldRows(fields: readonly SchemaMember[]): readonly string[] {
  const isShort = ({ schema, required }: SchemaMember): boolean =>
    fields.length > MANY_FIELDS &&
    !required &&
    /^(?:int|number|bool|string)$/.test(typeText(schema));
  const short = fields.filter(isShort).map(declared);
  return [
    ...fields.filter((field) => !isShort(field)).map(fieldRow),
    ...(short.length > 0 ? [`- \`${short.join(", ")}\``] : []),
  ];
}

interface SchemaMember {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

function membersOf(schema: JsonSchema): readonly SchemaMember[] {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: { readonly [name: string]: JsonSchema };
    readonly required?: readonly string[];
  };
  const all = Object.entries(properties).map(([name, member]) => ({
    name,
    schema: member,
    required: required.includes(name),
  }));
  return [...all.filter((each) => each.required), ...all.filter((each) => !each.required)];
}

function fieldRow(field: SchemaMember): string {
  const { description } = field.schema as { readonly description?: string };
  const about = description === undefined ? "" : `: ${description.replace(/\.$/, "")}`;
  return `- \`${declared(field)}\`${about}`;
}

function declared({ name, schema, required }: SchemaMember): string {
  const { default: usual } = schema as { readonly default?: Json };
  const value = usual === undefined ? "" : ` = ${JSON.stringify(usual)}`;
  return `${name}${required ? "" : "?"}: ${typeText(schema)}${value.length > MAX_DEFAULT ? "" : value}`;
}

function outputRow(output: JsonSchema): readonly string[] {
  const members = membersOf(output);
  return members.length === 0 ? [] : [`- output: \`${typeText(output, -1)}\``];
}

/** A schema as a type of the language, with the words that a text may be. */
function typeText(schema: JsonSchema, levels = 0): string {
  const { enum: choices, items } = schema as {
    readonly enum?: readonly Json[];
    readonly items?: JsonSchema;
  };
  if (choices && (levels <= MAX_LEVELS || choices.length <= MAX_CHOICES))
    return choices.map((choice) => JSON.stringify(choice)).join(" | ");
  if (isObject(items)) {
    const inner = typeText(items as JsonSchema, levels);
    return / (?:\||or) /.test(inner) ? `(${inner})[]` : `${inner}[]`;
  }
  const members = membersOf(schema);
  if (members.length === 0 || levels > MAX_LEVELS) return describeType(typeFromSchema(schema));
  const inner = members.map(
    (each) => `${each.name}${each.required ? "" : "?"}: ${typeText(each.schema, levels + 1)}`,
  );
  return `{ ${inner.join(", ")} }`;
}

/** The signatures, a row for each group. */
function functionRows(): string {
  const groups = new Map<string, string[]>();
  for (const { group, signature } of listFunctions()) {
    groups.set(group, [...(groups.get(group) ?? []), signature]);
  }
  return [...groups].map(([group, all]) => `- ${group}: \`${all.join("; ")}\``).join("\n");
}

function mistake([wrong, right, note]: FrequentMistake): string {
  return `# ${note}. Wrong:\n${wrong}\n# Right:\n${right}`;
}

function policyOfFlow({ text, kind, shape }: Member): string {
  return `\`@${text}\` (${kind === "duration" ? "duration" : shape?.rule})`;
}

function rows(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map(([word, says]) => `- \`${word}\`: ${says}`).join("\n");
}

function fence(text: string): string {
  return `\`\`\`flow\n${text}\n\`\`\``;
}

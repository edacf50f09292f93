/** `millrace templates`: stored flows. Nothing of a flow is executed here, and no version of one is ever lost. */

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Template, TemplateSummary } from "@millrace/contracts";
import {
  apiCommand,
  type CommandContext,
  listCommand,
  type Rendered,
  toWhole,
  wholeNumber,
  withApi,
} from "../api/command.ts";
import { activate, activeLine, proposedLines } from "../api/proposed-schedules.ts";
import { saveFlow } from "../api/save-flow.ts";
import { arg, option, serverCommand } from "../argv/flags.ts";
import { type ArgSpec, type CliCommand, firstArg, flagText, isOn } from "../argv/spec.ts";
import { cannotWrite, usage } from "../errors.ts";
import type { CliIo } from "../output/io.ts";
import { factLines } from "../output/table.ts";
import { clean, cleanLines, formatTime } from "../output/text.ts";

const SLUG: ArgSpec = arg("slug", "the template", "template");
const FILE: ArgSpec = arg("file", "a .flow file, or - for stdin");
const IF_MATCH = option("if-match", "<etag>", "only if it still has this ETag");

const list = listCommand("templates list", "list stored flows", {
  command: "list_templates",
  flags: [
    option("query", "<text>", "text in slug, name or description", { short: "q" }),
    option("tag", "<tag>", "with this tag"),
    option("source", "<source>", "where it came from", { choices: ["local", "import", "hub"] }),
  ],
  examples: [["templates list -q report", "those about reports"]],
  request: ({ input }) => ({
    q: flagText(input, "query"),
    tag: flagText(input, "tag"),
    source: flagText(input, "source") as "local" | undefined,
  }),
  headings: ["TEMPLATE", "VERSION", "UPDATED", "FROM", "NAME"],
  row: (each) => [
    each.slug,
    `${each.version}`,
    formatTime(each.updatedAt),
    sourceOf(each),
    each.name,
  ],
  none: "no template; millrace templates save SLUG FILE stores one",
});

const show = serverCommand("templates show", "show a stored flow", {
  args: [SLUG],
  flags: [option("version", "<n>", "this version (default the newest)")],
  examples: [["templates show hello", "its text, and where it came from"]],
  run: (input, io) =>
    withApi(input, io, undefined, async (api) => {
      const slug = firstArg(input);
      const version = wholeNumber(input, "version");
      if (version !== undefined) {
        const value = await api.invoke("get_template_version", { slug, version });
        return { value, data: cleanLines(value.dsl.trimEnd()) };
      }
      const value = await api.invoke("get_template", { slug });
      return { value, data: [...factsOf(value), "", ...cleanLines(value.dsl.trimEnd())] };
    }),
});

const save = serverCommand("templates save", "store a flow, or the next version of one", {
  args: [SLUG, { ...FILE, summary: "a .flow file, a graph as JSON, or - for stdin" }],
  flags: [
    option("name", "<text>", "what people call it (default the title of the flow)"),
    option("description", "<text>", "what it is for"),
    option("tag", "<tag>", "a tag; those that it had are replaced", { multiple: true }),
    { long: "activate", summary: "its schedules fire from now on" },
    { long: "new", summary: "only if there is no such template" },
    IF_MATCH,
  ],
  examples: [["templates save hello hello.flow", "what it was stays as a version"]],
  run: (input, io) =>
    withApi(input, io, true, async (api) => {
      const all = { input, io, api };
      const template = await saveFlow(firstArg(input), input.args[1] ?? "-", all);
      const active = isOn(input, "activate") ? await activate(api, template) : [];
      const { said = [] } = io.json === undefined ? await stored(template, "is stored", all) : {};
      return { value: template, said: [...said, ...active.map(activeLine)] };
    }),
});

const remove = apiCommand("templates remove", "delete a stored flow with all its versions", {
  args: [SLUG],
  flags: [IF_MATCH],
  examples: [["templates remove hello", "unless a schedule or webhook uses it"]],
  command: "delete_template",
  write: true,
  request: ({ input }) => ({ slug: firstArg(input), ifMatch: flagText(input, "if-match") ?? "*" }),
  show: (_, { input }) => ({ said: [`${clean(firstArg(input))} is deleted`] }),
});

const versions = listCommand(
  "templates versions",
  "list the versions of a stored flow, newest first",
  {
    command: "list_template_versions",
    args: [SLUG],
    examples: [["templates versions hello", "none is ever changed"]],
    request: ({ input }) => ({ slug: firstArg(input) }),
    headings: ["VERSION", "CREATED", "DIGEST"],
    row: ({ version, createdAt, digest }) => [`${version}`, formatTime(createdAt), digest],
    none: "no version",
  },
);

const restore = apiCommand("templates restore", "write an old version as the newest", {
  args: [SLUG, arg("version", "its number")],
  flags: [IF_MATCH],
  examples: [["templates restore hello 1", "as a new version"]],
  command: "restore_template_version",
  write: true,
  request: ({ input }) => ({
    slug: firstArg(input),
    version: toWhole(input.args[1] ?? "", "the version"),
    ifMatch: flagText(input, "if-match") ?? "*",
  }),
  show: (template, all) => stored(template, `is what version ${all.input.args[1]} was`, all),
});

const importFlow = apiCommand(
  "templates import",
  "store flow text of somebody else; nothing is executed",
  {
    args: [FILE],
    flags: [
      option("slug", "<slug>", "its name here (default the id of the flow)"),
      { long: "overwrite", summary: "also where there is one" },
    ],
    examples: [["templates import hello.flow", "under its own name"]],
    command: "import_template",
    write: true,
    request: async ({ input, io }) => ({
      text: await readText(input.args[0] ?? "-", io),
      slug: flagText(input, "slug"),
      overwrite: isOn(input, "overwrite") || undefined,
    }),
    show: (template, all) => stored(template, "is stored", all),
  },
);

const exportFlow = serverCommand("templates export", "print the text of a stored flow", {
  args: [SLUG],
  flags: [option("output", "<file>", "write to this file", { short: "o" })],
  examples: [["templates export hello -o copy.flow", "with its comments"]],
  run: (input, io) =>
    withApi(input, io, undefined, async (api) => {
      const value = await api.invoke("export_template", { slug: firstArg(input) });
      const file = flagText(input, "output");
      if (file === undefined) {
        const text = value.text.replace(/\n$/, "");
        return { value, data: io.isTTY.stdout ? cleanLines(text) : [text] };
      }
      await writeFile(resolve(io.cwd, file), value.text).catch((error: unknown) => {
        throw cannotWrite(file, error);
      });
      return { value, said: [`${clean(file)} is written`] };
    }),
});

export const commands: readonly CliCommand[] = [
  list,
  show,
  save,
  remove,
  versions,
  restore,
  importFlow,
  exportFlow,
];

function sourceOf({ source }: TemplateSummary): string {
  return source.kind === "hub" ? `${source.hub}/${source.item}@${source.version}` : source.kind;
}

/** Lines about a stored template, and its schedules that do not fire. */
async function stored(
  template: Template,
  what: string,
  { api }: CommandContext,
): Promise<Rendered> {
  const { slug, version, graph } = template;
  const proposed = graph.schedules?.length ? await proposedLines(api, slug) : [];
  return { said: [`${slug} ${what}, version ${version}`, ...proposed] };
}

function factsOf(template: Template): string[] {
  return factLines([
    ["template", template.slug],
    ["name", template.name],
    ["about", template.description],
    ["version", `${template.version}`],
    ["updated", formatTime(template.updatedAt)],
    ["tags", template.tags.join(" ")],
    ["from", sourceOf(template)],
    ["digest", template.digest],
  ]);
}

async function readText(file: string, io: CliIo): Promise<string> {
  const { readInput } = await import("../files.ts");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readInput(file, io));
  } catch (error) {
    if (error instanceof TypeError) throw usage(`${file} is not UTF-8 text`);
    throw error;
  }
}

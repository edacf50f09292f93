/** `millrace templates`: stored flows. Nothing of a flow is executed here, and no version of one is ever lost. */

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Template, TemplateSummary } from "@millrace/contracts";
import {
  apiCommand,
  type Given,
  given,
  listed,
  pageOf,
  type Run,
  type Shown,
  tell,
  toWhole,
  wholeNumber,
  withApi,
} from "../api/command.ts";
import { activate, activeLine, proposedLines } from "../api/proposed-schedules.ts";
import { saveFlow } from "../api/save-flow.ts";
import { flagText, type Input, isOn } from "../argv/spec.ts";
import { cannotWrite, usage } from "../errors.ts";
import type { CliIo } from "../output/io.ts";
import { factLines } from "../output/table.ts";
import { clean, cleanLines, formatTime } from "../output/text.ts";

/** Templates by slug. */
export const list: Run = apiCommand({
  command: "list_templates",
  args: ({ input }) => ({
    ...pageOf(input),
    ...given({
      q: flagText(input, "query"),
      tag: flagText(input, "tag"),
      source: flagText(input, "source") as "local" | undefined,
    }),
  }),
  show: (page, all) =>
    listed(page, all, {
      headings: ["TEMPLATE", "VERSION", "UPDATED", "FROM", "NAME"],
      row: (each) => [
        each.slug,
        `${each.version}`,
        formatTime(each.updatedAt),
        sourceOf(each),
        each.name,
      ],
      none: "no template; millrace templates save SLUG FILE stores one",
    }),
});

/** The newest version of a template, or `--version N`. */
export const show: Run = (input, io) => {
  const slug = slugOf(input);
  const version = wholeNumber(input, "version");
  const run =
    version === undefined
      ? apiCommand({
          command: "get_template",
          args: () => ({ slug }),
          show: (template) => ({
            data: [...factsOf(template), "", ...cleanLines(template.dsl.trimEnd())],
          }),
        })
      : apiCommand({
          command: "get_template_version",
          args: () => ({ slug, version }),
          show: ({ dsl }) => ({ data: cleanLines(dsl.trimEnd()) }),
        });
  return run(input, io);
};

/** Stores a flow: as a new template, or as the next version of one that is there. */
export const save: Run = (input, io) =>
  withApi(input, io, true, async (api) => {
    const all = { input, io, api };
    const template = await saveFlow(slugOf(input), input.args[1] ?? "-", all);
    const active = isOn(input, "activate") ? await activate(api, template) : [];
    const { said = [] } = io.json === undefined ? await stored(template, "is stored", all) : {};
    await tell(template, { said: [...said, ...active.map(activeLine)] }, io);
    return 0;
  });

/** Deletes a template with its versions. */
export const remove: Run = apiCommand({
  command: "delete_template",
  write: true,
  args: ({ input }) => ({ slug: slugOf(input), ifMatch: flagText(input, "if-match") ?? "*" }),
  show: (_, { input }) => ({ said: [`${clean(slugOf(input))} is deleted`] }),
});

/** Versions of a template, newest first. */
export const versions: Run = apiCommand({
  command: "list_template_versions",
  args: ({ input }) => ({ slug: slugOf(input), ...pageOf(input) }),
  show: (page, all) =>
    listed(page, all, {
      headings: ["VERSION", "CREATED", "DIGEST"],
      row: ({ version, createdAt, digest }) => [`${version}`, formatTime(createdAt), digest],
      none: "no version",
    }),
});

/** Writes the content of an old version as a new one. */
export const restore: Run = apiCommand({
  command: "restore_template_version",
  write: true,
  args: ({ input }) => ({
    slug: slugOf(input),
    version: toWhole(input.args[1] ?? "", "the version"),
    ifMatch: flagText(input, "if-match") ?? "*",
  }),
  show: (template, all) => stored(template, `is what version ${all.input.args[1]} was`, all),
});

/** Stores flow text of somebody else. */
export const importFlow: Run = apiCommand({
  command: "import_template",
  write: true,
  args: async ({ input, io }) => ({
    text: await readText(input.args[0] ?? "-", io),
    ...given({ slug: flagText(input, "slug") }),
    ...(isOn(input, "overwrite") && { overwrite: true }),
  }),
  show: (template, all) => stored(template, "is stored", all),
});

/** The text of a template, on stdout or in a file. */
export const exportFlow: Run = apiCommand({
  command: "export_template",
  args: ({ input }) => ({ slug: slugOf(input) }),
  show: ({ text }, { input, io }) => {
    const file = flagText(input, "output");
    if (file !== undefined) return { said: [`${clean(file)} is written`] };
    const whole = text.replace(/\n$/, "");
    return { data: io.isTTY.stdout ? cleanLines(whole) : [whole] };
  },
  before: async ({ text }, { input, io }) => {
    const file = flagText(input, "output");
    if (file === undefined) return;
    await writeFile(resolve(io.cwd, file), text).catch((error: unknown) => {
      throw cannotWrite(file, error);
    });
  },
});

function slugOf(input: Input): string {
  return input.args[0] ?? "";
}

function sourceOf({ source }: TemplateSummary): string {
  return source.kind === "hub" ? `${source.hub}/${source.item}@${source.version}` : source.kind;
}

/** What became of a template, and which of its schedules do not fire. */
async function stored(template: Template, what: string, { api }: Given): Promise<Shown> {
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

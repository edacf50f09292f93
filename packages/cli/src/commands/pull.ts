/**
 * `millrace pull`: the templates of a server, or of this installation, become the files of a folder.
 *   P1  A file that was changed here since it was pushed or pulled is not overwritten without `--force`; then no file is written.
 *   P2  A server names templates, never paths: a name that is no slug is refused before anything is written.
 */

import { join, resolve } from "node:path";
import type { Digest, TemplateSummary } from "@millrace/contracts";
import { type Api, itemsOf } from "../api/api.ts";
import { withApi } from "../api/command.ts";
import {
  digestOfFlow,
  type FlowFile,
  folderOfFlows,
  isSlug,
  readFlows,
  readPulled,
  writePulled,
} from "../api/pushed-folder.ts";
import { serverCommand } from "../argv/flags.ts";
import { type Answer, type CliCommand, type CommandIo, type Input, isOn } from "../argv/spec.ts";
import { CliError } from "../errors.ts";
import { makeFolder, replaceFile } from "../files.ts";
import { clean } from "../output/text.ts";

const AT_ONCE = 8;

export const commands: readonly CliCommand[] = [
  serverCommand("pull", "write the templates of a server into a folder", {
    args: [{ name: "folder", summary: "folder of flows (default that of the project)" }],
    flags: [{ long: "force", summary: "also overwrite what was changed here" }],
    examples: [["pull flows", "in their canonical form"]],
    run,
  }),
];

/** A template, and the file that it is or will be. */
interface Pulled {
  readonly slug: string;
  readonly file: string;
  readonly text: string;
  readonly digest: Digest;
  readonly state: "same" | "new" | "updated" | "changed here";
}

async function run(input: Input, io: CommandIo): Promise<Answer> {
  const { folder } = await folderOfFlows(input, io);
  await makeFolder(resolve(io.cwd, folder));
  const here = await readFlows(folder, io).catch((error: unknown) => {
    if (error instanceof CliError && error.message.startsWith("no .flow file")) return [];
    throw error;
  });
  const pulled = await readPulled(folder, io);
  return withApi(input, io, undefined, async (api) => {
    const all = await textsOf(api, { folder, here, pulled });
    const changed = all.filter(({ state }) => state === "changed here");
    if (changed.length > 0 && !isOn(input, "force")) {
      const names = changed.map(({ file }) => clean(file)).join(", ");
      throw new CliError(
        "check_failed",
        `changed here since the last push or pull: ${names}; nothing is written`,
        { hint: "millrace push stores them; --force overwrites them" },
      );
    }
    const written = all.filter(({ state }) => state !== "same");
    for (const { file, text } of written) await replaceFile(resolve(io.cwd, file), text);
    await writePulled(folder, new Map(all.map(({ slug, digest }) => [slug, digest])), io);
    const same = all.length - written.length;
    const there = new Set(all.map(({ slug }) => slug));
    const only = here.filter(({ slug }) => !there.has(slug));
    return {
      value: {
        written: written.map(({ slug, file }) => ({ slug, file })),
        same,
        onlyHere: only.map(({ slug, file }) => ({ slug, file })),
      },
      data: written.map(({ file }) => clean(file)),
      said: [
        `${written.length} written, ${same} as ${same === 1 ? "it was" : "they were"}`,
        ...only.map(({ file }) => `${clean(file)} is only here; millrace push stores it`),
      ],
    };
  });
}

async function textsOf(
  api: Api,
  {
    folder,
    here,
    pulled,
  }: {
    readonly folder: string;
    readonly here: readonly FlowFile[];
    readonly pulled: ReadonlyMap<string, Digest>;
  },
): Promise<Pulled[]> {
  const files = new Map(here.map((one) => [one.slug, one]));
  const summaries: TemplateSummary[] = [];
  for await (const one of itemsOf((page) => api.invoke("list_templates", page)))
    summaries.push(one);
  const wrong = summaries.find(({ slug }) => !isSlug(slug));
  if (wrong !== undefined) {
    throw new CliError(
      "check_failed",
      `the server has a template ${JSON.stringify(clean(wrong.slug))}, which is no name of a file; nothing is written`,
    );
  }
  const found: Pulled[] = [];
  for (let at = 0; at < summaries.length; at += AT_ONCE) {
    const some = summaries.slice(at, at + AT_ONCE).map(async ({ slug, source }) => {
      const { text } = await api.invoke("export_template", { slug });
      const digest = digestOfFlow(text);
      const file = files.get(slug);
      if (file === undefined) {
        return { slug, text, digest, file: join(folder, `${slug}.flow`), state: "new" } as const;
      }
      const is = digestOfFlow(file.text);
      const pushed = source.kind === "hub" ? undefined : source.pushed?.text;
      const state =
        is === digest
          ? "same"
          : is === pulled.get(slug) || is === pushed
            ? "updated"
            : "changed here";
      return { slug, text, digest, file: file.file, state } as const;
    });
    found.push(...(await Promise.all(some)));
  }
  return found;
}

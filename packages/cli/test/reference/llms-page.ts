/** `llms.txt`: the documentation as models look for it. The pages, their titles and what they say of themselves come from the pages. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readPage } from "@millrace/test-support/pages";
import { ROOT } from "../cli.ts";

/** Where the pages are for who reads the file outside of the repository. */
const PUBLISHED = "https://raw.githubusercontent.com/millrace/millrace/main/docs/";

/** What the generated pages, which begin with a table, do not say of themselves. */
const ABOUT: { readonly [path: string]: string } = {
  "guide/runs.md": "When a step starts, and what joins, failures, retries, stops and crashes do.",
  "guide/studio.md": "Flows, runs, questions, connections and models of a server in a browser.",
  "cli.md": "Every command with its flags, exit codes, keys of the configuration and variables.",
  "reference/language.md":
    "The whole language on one page for a model: grammar, types, functions, policies, mistakes. Begin here to write a flow.",
  "reference/nodes.md": "Every type of node with its fields, ports and output.",
  "reference/commands.md": "Every command of the HTTP API with its route, arguments and errors.",
  "reference/schemas.md": "The records of the HTTP API and of `--json`.",
  "reference/services.md": "The format of the data file that describes an API.",
  "reference/monitoring.md": "Every log line and metric of a server.",
};

/** The file: with links beside it in the repository, or with those that work from anywhere. */
export function llmsPage(where: "repository" | "anywhere"): string {
  const index = readPage("docs/README.md");
  const linked = [
    ...index.matchAll(/\]\(((?:guide|reference)\/\w[\w-]*\.md|cli\.md|glossary\.md)\)/g),
  ];
  // Those that the index has in its order, then the rest.
  const named = linked.map(([, path = ""]) => path);
  const paths = [...new Set(["reference/language.md", ...named, ...pagesOf("guide")])];
  const link = (path: string): string => {
    const url = where === "repository" ? path : PUBLISHED + path;
    return `- [${titleOf(path)}](${url}): ${ABOUT[path] ?? firstSentence(path)}`;
  };
  const isGuide = (path: string): boolean => path.startsWith("guide/");
  const isFirst = (path: string): boolean => /guide\/(?:start|language|models)\.md$/.test(path);
  const others = paths.filter((path) => isGuide(path) && !isFirst(path));
  return `# Millrace

> Workflows as text: a \`.flow\` file is a graph of steps (HTTP APIs, AI models, files, people's approvals) that the \`millrace\` command, a server or a library runs without losing or repeating finished work.

To write a flow, read the language for models, write the text, then run \`millrace validate --fix --json FILE\` until it is valid. \`millrace explain WORD\` explains a code, type, function or policy.

## Writing flows

${["reference/language.md", ...paths.filter(isFirst), "reference/diagnostics.md", "reference/nodes.md"].map(link).join("\n")}

## Guide

${others.map(link).join("\n")}

## Optional

${paths
  .filter((path) => !isGuide(path) && !/(?:language|diagnostics|nodes)\.md$/.test(path))
  .map(link)
  .join("\n")}
`;
}

function pagesOf(folder: string): readonly string[] {
  return readdirSync(join(ROOT, "docs", folder)).map((name) => `${folder}/${name}`);
}

function titleOf(path: string): string {
  return /^# (.+)$/m.exec(readPage(`docs/${path}`))?.[1] ?? path;
}

/** The first sentence of a page, without its links. */
function firstSentence(path: string): string {
  const [, paragraph = ""] = readPage(`docs/${path}`).split("\n\n");
  const text = paragraph.replaceAll("\n", " ").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, ".") ?? text;
}

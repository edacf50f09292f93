/** Commands on templates. */

import { arg, entry, option, PAGE_FLAGS } from "../../argv/flags.ts";
import type { ArgSpec, CliCommand } from "../../argv/spec.ts";

const SLUG: ArgSpec = arg("slug", "the template", "template");
const FILE: ArgSpec = arg("file", "a .flow file, or - for stdin");
const IF_MATCH = option("if-match", "<etag>", "only if it still has this ETag");

type Templates = typeof import("../templates.ts");
const from = (name: keyof Templates) => (): ReturnType<CliCommand["load"]> =>
  import("../templates.ts").then((module) => ({ run: module[name] }));

export const TEMPLATE_COMMANDS: readonly CliCommand[] = [
  entry("templates list", "list stored flows", {
    flags: [
      option("query", "<text>", "text in slug, name or description", { short: "q" }),
      option("tag", "<tag>", "with this tag"),
      option("source", "<source>", "where it came from", { choices: ["local", "import", "hub"] }),
      ...PAGE_FLAGS,
    ],
    examples: [["templates list -q report", "those about reports"]],
    load: from("list"),
  }),
  entry("templates show", "show a stored flow", {
    args: [SLUG],
    flags: [option("version", "<n>", "this version (default the newest)")],
    examples: [["templates show hello", "its text, and where it came from"]],
    load: from("show"),
  }),
  entry("templates save", "store a flow, or the next version of one", {
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
    load: from("save"),
  }),
  entry("templates remove", "delete a stored flow with all its versions", {
    args: [SLUG],
    flags: [IF_MATCH],
    examples: [["templates remove hello", "unless a schedule or webhook uses it"]],
    load: from("remove"),
  }),
  entry("templates versions", "list the versions of a stored flow, newest first", {
    args: [SLUG],
    flags: PAGE_FLAGS,
    examples: [["templates versions hello", "none is ever changed"]],
    load: from("versions"),
  }),
  entry("templates restore", "write an old version as the newest", {
    args: [SLUG, arg("version", "its number")],
    flags: [IF_MATCH],
    examples: [["templates restore hello 1", "as a new version"]],
    load: from("restore"),
  }),
  entry("templates import", "store flow text of somebody else; nothing is executed", {
    args: [FILE],
    flags: [
      option("slug", "<slug>", "its name here (default the id of the flow)"),
      { long: "overwrite", summary: "also where there is one" },
    ],
    examples: [["templates import hello.flow", "under its own name"]],
    load: from("importFlow"),
  }),
  entry("templates export", "print the text of a stored flow", {
    args: [SLUG],
    flags: [option("output", "<file>", "write to this file", { short: "o" })],
    examples: [["templates export hello -o copy.flow", "with its comments"]],
    load: from("exportFlow"),
  }),
];

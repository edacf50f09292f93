/** Every command by its first word, in the order of help. The file of a word is loaded when one of its commands is called. */
import type { CommandTable, Noun } from "../argv/spec.ts";

const noun = (name: string, says: string, load: Noun["load"]): Noun => ({ name, says, load });

/** The table of commands: word, line of help, and the loader of its file. */
export const NOUNS: CommandTable = [
  noun("run", "run a flow and show what happens", () => import("./run.ts")),
  noun(
    "resume",
    "go on with a kept run that was interrupted, or waits",
    () => import("./resume.ts"),
  ),
  noun("confirm", "answer what a kept run asks", () => import("./confirm.ts")),
  noun(
    "runs",
    "list, show, tail, cancel, retry, ack, delete, prune",
    () => import("./runs/index.ts"),
  ),
  noun("replay", "show a run again from its log; nothing is executed", () => import("./replay.ts")),
  noun("validate", "check flows without running anything", () => import("./validate.ts")),
  noun("fmt", "rewrite flows into their one canonical form", () => import("./fmt.ts")),
  noun(
    "lsp",
    "answer an editor: the language server on stdin and stdout",
    () => import("./lsp.ts"),
  ),
  noun("mcp", "answer an agent: flows as tools, on stdin and stdout", () => import("./mcp.ts")),
  noun("graph", "draw a flow, or how far a run of it got", () => import("./graph.ts")),
  noun("diff", "say what two flows do differently", () => import("./diff.ts")),
  noun(
    "explain",
    "say what a code, a node type or a word of the language means",
    () => import("./explain/index.ts"),
  ),
  noun(
    "test",
    "run flows with their fixtures and compare the events they make",
    () => import("./test/index.ts"),
  ),
  noun("init", "make a folder a project, with an example to begin with", () => import("./init.ts")),
  noun(
    "new",
    "make another flow in the project's flows folder, from an example",
    () => import("./new.ts"),
  ),
  noun("doctor", "check this installation and say what to do", () => import("./doctor/index.ts")),
  noun("backup", "copy the store into one file, without its secrets", () => import("./backup.ts")),
  noun("store", "move", () => import("./store.ts")),
  noun(
    "completion",
    "print the script that completes words in a shell",
    () => import("./completion.ts"),
  ),
  { name: "__complete", says: "", hidden: true, load: () => import("./complete.ts") },
  {
    name: "__probe-credentials",
    says: "",
    hidden: true,
    load: () => import("./probe-credentials.ts"),
  },
  noun(
    "config",
    "list, get, set, unset, explain, path, schema, trust, login",
    () => import("./config/index.ts"),
  ),
  noun("serve", "serve flows over HTTP", () => import("./serve/index.ts")),
  noun("studio", "open the flows of a folder in the browser", () => import("./studio.ts")),
  noun(
    "push",
    "store the flows of a folder as templates, all of them or none",
    () => import("./push.ts"),
  ),
  noun("pull", "write the templates of a server into a folder", () => import("./pull.ts")),
  noun(
    "templates",
    "list, show, save, remove, versions, restore, import, export",
    () => import("./templates.ts"),
  ),
  noun(
    "schedule",
    "list, add, show, remove, pause, resume, run-now, next",
    () => import("./schedule/index.ts"),
  ),
  noun(
    "webhooks",
    "list, add, show, test, rotate, edit, pause, resume, remove",
    () => import("./webhooks/index.ts"),
  ),
  noun("notify", "show, set, off", () => import("./notify.ts")),
  noun("hubs", "list, add, remove, sync, items, install", () => import("./hubs.ts")),
  noun("catalog", "list, show", () => import("./catalog.ts")),
  noun("invoke", "call any command of the API by its name", () => import("./invoke.ts")),
  noun(
    "connect",
    "connect a service: ask a person for consent, keep the credential",
    () => import("./connect.ts"),
  ),
  noun("connections", "list, show, remove", () => import("./connections.ts")),
  noun("secrets", "set, list, remove, move", () => import("./secrets.ts")),
  noun("vars", "set, list, remove", () => import("./vars.ts")),
  noun("providers", "list, test", () => import("./providers.ts")),
  noun("services", "search, add, import, list", () => import("./services/index.ts")),
  noun(
    "models",
    "list, install, jobs, cancel, remove, scan, load, unload, running, engine",
    () => import("./models/index.ts"),
  ),
  noun("ext", "add, list, remove, trust, doctor, build, pack", () => import("./ext/index.ts")),
];

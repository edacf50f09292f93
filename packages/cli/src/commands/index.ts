/** Every command by its first word, in the order of help. The file of a word is loaded when one of its commands is called. */
import type { CommandTable } from "../argv/spec.ts";

export const NOUNS: CommandTable = [
  { name: "run", says: "run a flow and show what happens", load: () => import("./run.ts") },
  {
    name: "resume",
    says: "go on with a kept run that was interrupted, or waits",
    load: () => import("./resume.ts"),
  },
  { name: "confirm", says: "answer what a kept run asks", load: () => import("./confirm.ts") },
  {
    name: "runs",
    says: "list, show, tail, cancel, retry, delete, prune",
    load: () => import("./runs.ts"),
  },
  {
    name: "replay",
    says: "show a run again from its log; nothing is executed",
    load: () => import("./replay.ts"),
  },
  {
    name: "validate",
    says: "check flows without running anything",
    load: () => import("./validate.ts"),
  },
  {
    name: "fmt",
    says: "rewrite flows into their one canonical form",
    load: () => import("./fmt.ts"),
  },
  {
    name: "graph",
    says: "draw a flow, or how far a run of it got",
    load: () => import("./graph.ts"),
  },
  { name: "diff", says: "say what two flows do differently", load: () => import("./diff.ts") },
  {
    name: "explain",
    says: "say what a code, a node type or a word of the language means",
    load: () => import("./explain.ts"),
  },
  {
    name: "test",
    says: "run flows with their fixtures and compare the events they make",
    load: () => import("./test.ts"),
  },
  {
    name: "init",
    says: "make a folder a project, with an example to begin with",
    load: () => import("./init.ts"),
  },
  {
    name: "new",
    says: "make another flow in the project's flows folder, from an example",
    load: () => import("./new.ts"),
  },
  {
    name: "doctor",
    says: "check this installation and say what to do",
    load: () => import("./doctor.ts"),
  },
  {
    name: "backup",
    says: "copy the store into one file, without its secrets",
    load: () => import("./backup.ts"),
  },
  {
    name: "completion",
    says: "print the script that completes words in a shell",
    load: () => import("./completion.ts"),
  },
  { name: "__complete", says: "", hidden: true, load: () => import("./complete.ts") },
  {
    name: "__probe-credentials",
    says: "",
    hidden: true,
    load: () => import("./probe-credentials.ts"),
  },
  {
    name: "config",
    says: "list, get, set, unset, explain, path, schema, trust, login",
    load: () => import("./config.ts"),
  },
  { name: "serve", says: "serve flows over HTTP", load: () => import("./serve.ts") },
  {
    name: "templates",
    says: "list, show, save, remove, versions, restore, import, export",
    load: () => import("./templates.ts"),
  },
  {
    name: "schedule",
    says: "list, add, show, remove, pause, resume, run-now, next",
    load: () => import("./schedule.ts"),
  },
  { name: "webhooks", says: "list, add, show, remove", load: () => import("./webhooks.ts") },
  {
    name: "hubs",
    says: "list, add, remove, sync, items, install",
    load: () => import("./hubs.ts"),
  },
  { name: "catalog", says: "list, show", load: () => import("./catalog.ts") },
  {
    name: "invoke",
    says: "call any command of the API by its name",
    load: () => import("./invoke.ts"),
  },
  {
    name: "connect",
    says: "connect a service: ask a person for consent, keep the credential",
    load: () => import("./connect.ts"),
  },
  { name: "connections", says: "list, show, remove", load: () => import("./connections.ts") },
  { name: "secrets", says: "set, list, remove", load: () => import("./secrets.ts") },
  { name: "providers", says: "list, test", load: () => import("./providers.ts") },
  { name: "services", says: "import, list", load: () => import("./services.ts") },
  {
    name: "models",
    says: "list, install, remove, scan, load, unload, running, engine",
    load: () => import("./models.ts"),
  },
  {
    name: "ext",
    says: "add, list, remove, trust, doctor, build, pack",
    load: () => import("./ext.ts"),
  },
];

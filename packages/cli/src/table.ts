/** Every command as data. Nothing here loads a command's code. */
import type { CliCommand, FlagSpec } from "./command.ts";

/** Flags of every command. */
export const GLOBAL_FLAGS: readonly FlagSpec[] = [
  { long: "json", summary: "one JSON value a line on stdout, the last one a summary" },
  { long: "quiet", short: "q", summary: "only errors and the last line" },
  { long: "verbose", short: "v", summary: "debug logs, and stacks of internal errors" },
  { long: "color", value: "<when>", choices: ["auto", "always", "never"], summary: "colour" },
  { long: "no-prompt", summary: "never ask; a needed answer ends the command" },
  {
    long: "config",
    value: "<file>",
    summary: "read this file instead of the nearest millrace.json",
  },
  { long: "home", value: "<dir>", summary: "folder of data and user configuration" },
];

/** Flags of commands that may ask a server instead of this installation. */
const REMOTE_FLAGS: readonly FlagSpec[] = [
  { long: "server", value: "<url>", summary: "ask this server (MILLRACE_SERVER_URL)" },
  {
    long: "token-file",
    value: "<file>",
    summary: "token for the server; else MILLRACE_TOKEN, else a stored one",
  },
];

export const COMMANDS: readonly CliCommand[] = [
  {
    path: ["run"],
    summary: "run a flow and show what happens",
    args: [
      { name: "file", summary: "a .flow file, a graph as JSON, or - for stdin", required: true },
    ],
    flags: [
      {
        long: "input",
        short: "i",
        value: "<k=v>",
        multiple: true,
        summary: "an input; v may be @file, @-, @env:NAME",
      },
      {
        long: "input-json",
        value: "<file>",
        summary: "all inputs as one JSON object; - for stdin",
      },
      { long: "timeout", value: "<duration>", summary: "cancel the run after this long" },
      {
        long: "grace",
        value: "<duration>",
        summary: "how long steps may take to stop (default 10s)",
      },
      {
        long: "confirm",
        value: "<node=answer>",
        multiple: true,
        summary: "answer a confirmation: approve or reject; * for all",
      },
      { long: "yes", summary: "approve every confirmation" },
      {
        long: "only",
        value: "<node>",
        multiple: true,
        summary: "run these nodes and what they need",
      },
      { long: "events", value: "<file>", summary: "also write every event to this file" },
      { long: "tag", value: "<k=v>", multiple: true, summary: "a tag of the run" },
    ],
    output: "stream",
    examples: [
      { line: "millrace run hello.flow -i name=Ada", says: "run with an input" },
      { line: "millrace run hello.flow --json", says: "every event, one a line" },
    ],
    load: () => import("./commands/run.ts"),
  },
  {
    path: ["validate"],
    summary: "check flows without running anything",
    args: [
      { name: "files", summary: "files or folders; - for stdin", required: true, variadic: true },
    ],
    flags: [{ long: "strict", summary: "warnings count as errors" }],
    output: "check",
    examples: [{ line: "millrace validate hello.flow", says: "say what is wrong, and where" }],
    load: () => import("./commands/validate.ts"),
  },
  {
    path: ["fmt"],
    summary: "rewrite flows into their one canonical form",
    args: [
      {
        name: "files",
        summary: "files or folders; - for stdin to stdout",
        required: true,
        variadic: true,
      },
    ],
    flags: [
      { long: "check", summary: "change nothing, print the difference, exit 1 where there is one" },
      { long: "stdout", summary: "print instead of writing" },
    ],
    output: "check",
    examples: [{ line: "millrace fmt --check hello.flow", says: "for continuous integration" }],
    load: () => import("./commands/fmt.ts"),
  },
  {
    path: ["graph"],
    summary: "draw a flow",
    args: [
      { name: "file", summary: "a .flow file, a graph as JSON, or - for stdin", required: true },
    ],
    flags: [
      {
        long: "format",
        short: "f",
        value: "<format>",
        choices: ["mermaid", "dot", "svg", "json"],
        summary: "mermaid (default), dot for Graphviz, svg, or json with every place",
      },
      { long: "output", short: "o", value: "<file>", summary: "write to this file" },
    ],
    output: "query",
    examples: [{ line: "millrace graph hello.flow -f svg -o hello.svg", says: "a picture" }],
    load: () => import("./commands/graph.ts"),
  },
  {
    path: ["diff"],
    summary: "say what two flows do differently",
    args: [
      { name: "before", summary: "a .flow file, a graph as JSON, or -", required: true },
      { name: "after", summary: "the same", required: true },
    ],
    flags: [
      { long: "semantic", summary: "nodes, edges and fields, whatever their order (default)" },
      { long: "text", summary: "the lines that differ" },
    ],
    output: "check",
    examples: [
      { line: "millrace diff hello.flow hello.flow", says: "exit code 1 when they differ" },
    ],
    load: () => import("./commands/diff.ts"),
  },
  {
    path: ["explain"],
    summary: "say what a diagnostic, an exit code or a node type means",
    args: [{ name: "word", summary: "FLOW1001, 3, http.request…; without one, every diagnostic" }],
    flags: [],
    output: "query",
    examples: [{ line: "millrace explain FLOW1003", says: "what it means, wrong and right" }],
    load: () => import("./commands/explain.ts"),
  },
  {
    path: ["serve"],
    summary: "serve flows over HTTP",
    args: [],
    flags: [
      { long: "host", value: "<host>", summary: "address to listen on (default 127.0.0.1)" },
      { long: "port", value: "<port>", summary: "port; 0 for any free one (default 6455)" },
      {
        long: "token-file",
        value: "<file>",
        summary: "bearer tokens, one a line: token or id:role:token",
      },
      { long: "allow-open", summary: "serve other machines without a token" },
      { long: "webhooks", summary: "let webhooks be called: POST /hooks/<token>" },
      {
        long: "allow-host",
        value: "<host>",
        multiple: true,
        summary: "a further Host name to answer to",
      },
      {
        long: "allow-origin",
        value: "<origin>",
        multiple: true,
        summary: "a further browser origin to answer to",
      },
    ],
    output: "stream",
    examples: [{ line: "millrace serve --port 0 --json", says: "any free port, told on stdout" }],
    load: () => import("./commands/serve.ts"),
  },
  {
    path: ["connect"],
    summary: "connect a service: ask a person for consent, keep the credential",
    args: [{ name: "slug", summary: "name of the connection", required: true }],
    flags: [
      {
        long: "service",
        value: "<slug>",
        summary: "what it connects to (default: what it is of, else its own name)",
      },
      { long: "client-id", value: "<id>", summary: "store this OAuth client of the service" },
      { long: "secret-stdin", summary: "read the secret from stdin instead of a hidden prompt" },
      { long: "scope", value: "<scope>", multiple: true, summary: "ask for this scope" },
      { long: "port", value: "<port>", summary: "port that receives the redirect" },
      { long: "no-browser", summary: "only print the address to open" },
      { long: "timeout", value: "<duration>", summary: "how long to wait (default and most 5m)" },
      ...REMOTE_FLAGS,
    ],
    output: "query",
    examples: [
      {
        line: "millrace connect tracker --client-id my-app",
        says: "asks for the client's secret, then for consent in a browser",
      },
      { line: "millrace connect tracker --no-browser", says: "on a machine without a screen" },
    ],
    load: () => import("./commands/connect.ts"),
  },
  {
    path: ["connections", "list"],
    summary: "list connections and how they stand",
    args: [],
    flags: REMOTE_FLAGS,
    output: "query",
    examples: [{ line: "millrace connections list --json", says: "never a token" }],
    load: () => import("./commands/connections.ts").then(({ list }) => ({ run: list })),
  },
  {
    path: ["connections", "show"],
    summary: "show one connection",
    args: [{ name: "slug", summary: "name of the connection", required: true }],
    flags: REMOTE_FLAGS,
    output: "query",
    examples: [{ line: "millrace connections show tracker", says: "scopes, expiry, store" }],
    load: () => import("./commands/connections.ts").then(({ show }) => ({ run: show })),
  },
  {
    path: ["connections", "remove"],
    summary: "revoke and delete a connection",
    args: [{ name: "slug", summary: "name of the connection", required: true }],
    flags: REMOTE_FLAGS,
    output: "query",
    examples: [{ line: "millrace connections remove tracker", says: "the grant ends" }],
    load: () => import("./commands/connections.ts").then(({ remove }) => ({ run: remove })),
  },
  {
    path: ["secrets", "set"],
    summary: "store a secret, from stdin or a hidden prompt",
    args: [{ name: "name", summary: "ai:<name> or ext:<NAME>", required: true }],
    flags: [],
    output: "query",
    examples: [{ line: "millrace secrets set ai:openai < key.txt", says: "from a file" }],
    load: () => import("./commands/secrets.ts").then(({ set }) => ({ run: set })),
  },
  {
    path: ["secrets", "list"],
    summary: "list the names of stored secrets",
    args: [],
    flags: [],
    output: "query",
    examples: [{ line: "millrace secrets list", says: "names only" }],
    load: () => import("./commands/secrets.ts").then(({ list }) => ({ run: list })),
  },
  {
    path: ["secrets", "remove"],
    summary: "delete a stored secret",
    args: [{ name: "name", summary: "ai:<name> or ext:<NAME>", required: true }],
    flags: [],
    output: "query",
    examples: [{ line: "millrace secrets remove ai:openai", says: "for good" }],
    load: () => import("./commands/secrets.ts").then(({ remove }) => ({ run: remove })),
  },
  {
    path: ["services", "import"],
    summary: "turn an OpenAPI document (JSON) into the descriptor of a service",
    args: [{ name: "spec", summary: "the document; - for stdin", required: true }],
    flags: [
      { long: "slug", value: "<slug>", summary: "name of the service (default from its title)" },
      { long: "base-url", value: "<url>", summary: "where it is (default the first server)" },
      {
        long: "only",
        value: "<filter>",
        summary: "operations to take, such as tag:contacts,op:list_*",
      },
      { long: "check", summary: "write nothing; exit 1 where the file would change" },
      {
        long: "out",
        short: "o",
        value: "<file>",
        summary: "file to write, - for stdout (default services/<slug>.json)",
      },
    ],
    output: "check",
    examples: [
      { line: "millrace services import openapi.json", says: "writes services/<slug>.json" },
      { line: "millrace services import openapi.json --check", says: "for continuous integration" },
    ],
    load: () => import("./commands/services.ts").then(({ importSpec }) => ({ run: importSpec })),
  },
  {
    path: ["services", "list"],
    summary: "list the services that flows can call here",
    args: [],
    flags: [],
    output: "query",
    examples: [{ line: "millrace services list", says: "slug, title, scheme, operations" }],
    load: () => import("./commands/services.ts").then(({ list }) => ({ run: list })),
  },
];

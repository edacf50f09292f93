/** Commands on connections, secrets, providers and services. */

import { arg, entry, local, option } from "../../argv/flags.ts";
import type { ArgSpec, CliCommand } from "../../argv/spec.ts";

const CONNECTION: ArgSpec = arg("slug", "name of the connection", "connection");

export const SERVICES_COMMANDS: readonly CliCommand[] = [
  entry("connect", "connect a service: ask a person for consent, keep the credential", {
    args: [CONNECTION],
    flags: [
      option(
        "service",
        "<slug>",
        "what it connects to (default: what it is of, else its own name)",
      ),
      option("client-id", "<id>", "store this OAuth client of the service"),
      { long: "secret-stdin", summary: "read the secret from stdin instead of a hidden prompt" },
      option("scope", "<scope>", "ask for this scope", { multiple: true }),
      option("port", "<port>", "port that receives the redirect"),
      { long: "no-browser", summary: "only print the address to open" },
      option("timeout", "<duration>", "how long to wait (default and most 5m)"),
    ],
    examples: [
      [
        "connect tracker --client-id my-app",
        "asks for the client's secret, then for consent in a browser",
      ],
      ["connect tracker --no-browser", "on a machine without a screen"],
    ],
    load: () => import("../connect.ts"),
  }),
  entry("connections list", "list connections and how they stand", {
    examples: [["connections list --json", "never a token"]],
    load: () => import("../connections.ts").then(({ list }) => ({ run: list })),
  }),
  entry("connections show", "show one connection", {
    args: [CONNECTION],
    examples: [["connections show tracker", "scopes, expiry, store"]],
    load: () => import("../connections.ts").then(({ show }) => ({ run: show })),
  }),
  entry("connections remove", "revoke and delete a connection", {
    args: [CONNECTION],
    examples: [["connections remove tracker", "the grant ends"]],
    load: () => import("../connections.ts").then(({ remove }) => ({ run: remove })),
  }),
  local("secrets set", "store a secret, from stdin or a hidden prompt", {
    args: [arg("name", "ai:<name> or ext:<NAME>")],
    examples: [["secrets set ai:openai < key.txt", "from a file"]],
    load: () => import("../secrets.ts").then(({ set }) => ({ run: set })),
  }),
  local("secrets list", "list the names of stored secrets", {
    examples: [["secrets list", "names only"]],
    load: () => import("../secrets.ts").then(({ list }) => ({ run: list })),
  }),
  local("secrets remove", "delete a stored secret", {
    args: [arg("name", "ai:<name> or ext:<NAME>")],
    examples: [["secrets remove ai:openai", "for good"]],
    load: () => import("../secrets.ts").then(({ remove }) => ({ run: remove })),
  }),
  local("providers list", "list the AI providers, and whether there is a key for each", {
    examples: [["providers list", "nobody is asked anything"]],
    load: () => import("../providers.ts").then(({ list }) => ({ run: list })),
  }),
  local("providers test", "ask a provider for its models, which costs nothing", {
    args: [arg("id", "name of the provider")],
    examples: [["providers test mock", "needs no key"]],
    load: () => import("../providers.ts").then(({ test }) => ({ run: test })),
  }),
  local("services import", "turn an OpenAPI document (JSON) into the descriptor of a service", {
    args: [arg("spec", "the document; - for stdin")],
    flags: [
      option("slug", "<slug>", "name of the service (default from its title)"),
      option("base-url", "<url>", "where it is (default the first server)"),
      option("only", "<filter>", "operations to take, such as tag:contacts,op:list_*"),
      { long: "check", summary: "write nothing; exit 1 where the file would change" },
      option("out", "<file>", "file to write, - for stdout (default services/<slug>.json)", {
        short: "o",
      }),
    ],
    output: "check",
    examples: [
      ["services import openapi.json", "writes services/<slug>.json"],
      ["services import openapi.json --check", "for continuous integration"],
    ],
    load: () => import("../services.ts").then(({ importSpec }) => ({ run: importSpec })),
  }),
  local("services list", "list the services that flows can call here", {
    examples: [["services list", "slug, title, scheme, operations"]],
    load: () => import("../services.ts").then(({ list }) => ({ run: list })),
  }),
];

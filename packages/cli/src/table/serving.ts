/** Commands that serve. */
import type { CliCommand } from "../command.ts";

export const SERVING_COMMANDS: readonly CliCommand[] = [
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
      { long: "stdio", summary: "no HTTP: commands and events as lines on stdin and stdout" },
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
    examples: [
      { line: "millrace serve --port 0 --json", says: "any free port, told on stdout" },
      { line: "millrace serve --stdio", says: "the sidecar of a desktop shell" },
    ],
    load: () => import("../commands/serve.ts"),
  },
];

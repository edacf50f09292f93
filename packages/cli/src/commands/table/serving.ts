/** Commands that serve. */

import { local, option } from "../../argv/flags.ts";
import type { CliCommand } from "../../argv/spec.ts";

export const SERVING_COMMANDS: readonly CliCommand[] = [
  local("serve", "serve flows over HTTP", {
    flags: [
      option("host", "<host>", "address to listen on (default 127.0.0.1)"),
      option("port", "<port>", "port; 0 for any free one (default 6455)"),
      option("token-file", "<file>", "bearer tokens, one a line: token or id:role:token"),
      { long: "allow-open", summary: "serve other machines without a token" },
      { long: "stdio", summary: "no HTTP: commands and events as lines on stdin and stdout" },
      { long: "webhooks", summary: "let webhooks be called: POST /hooks/<token>" },
      option("allow-host", "<host>", "a further Host name to answer to", { multiple: true }),
      option("allow-origin", "<origin>", "a further browser origin to answer to", {
        multiple: true,
      }),
    ],
    output: "stream",
    examples: [
      ["serve --port 0 --json", "any free port, told on stdout"],
      ["serve --stdio", "the sidecar of a desktop shell"],
    ],
    load: () => import("../serve.ts"),
  }),
];

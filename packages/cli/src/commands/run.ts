/** `millrace run`: a flow, in this process or on the server that was named. */
import { ENV_FLAG, option, serverCommand } from "../argv/flags.ts";
import type { CliCommand } from "../argv/spec.ts";
import { ANSWER_FLAGS, EVENTS_FLAG, GRACE_FLAG } from "../run/flags.ts";

export const commands: readonly CliCommand[] = [
  serverCommand("run", "run a flow and show what happens", {
    args: [
      {
        name: "flow",
        summary: "a .flow file, a graph as JSON, - for stdin, or the slug of a template",
        required: true,
        complete: "template",
        orFile: true,
      },
    ],
    flags: [
      option("input", "<k=v>", "an input; v may be @file, @-, @env:NAME", {
        short: "i",
        multiple: true,
      }),
      option("input-json", "<file>", "all inputs as one JSON object; - for stdin"),
      option("timeout", "<duration>", "cancel the run after this long"),
      GRACE_FLAG,
      ...ANSWER_FLAGS,
      option("only", "<node>", "run these nodes and what they need", { multiple: true }),
      option(
        "fixtures",
        "<dir>",
        "answers recorded in this folder in place of models, network and clock",
      ),
      EVENTS_FLAG,
      ENV_FLAG,
      option("tag", "<k=v>", "a tag of the run", { multiple: true }),
      { long: "save", summary: "keep the run: it can be resumed, replayed, and answered later" },
      { long: "watch", summary: "run again at every save of the flow or of a file of its inputs" },
      { long: "detach", summary: "leave the run to the server and print its id" },
    ],
    output: "stream",
    examples: [
      ["run hello.flow -i name=Ada", "run with an input"],
      ["run hello.flow --json", "every event, one a line"],
    ],
    run: async (input, io) => (await import("../run/start.ts")).run(input, io),
  }),
];

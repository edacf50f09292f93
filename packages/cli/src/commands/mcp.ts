/** `millrace mcp`: flows as tools of an agent, on standard input and output, until the input ends. */

import { toCliError } from "../api/errors.ts";
import { openApi } from "../api/open.ts";
import { serverCommand } from "../argv/flags.ts";
import { type CliCommand, type CommandIo, type Input, isOn } from "../argv/spec.ts";

export const commands: readonly CliCommand[] = [
  serverCommand("mcp", "answer an agent: flows as tools, on stdin and stdout", {
    flags: [{ long: "read-only", summary: "no flows as tools, and nothing that runs one" }],
    output: "text",
    examples: [["mcp", "what an agent starts; see the guide about agents"]],
    run,
  }),
];

/** Serves one client until it leaves. Calls that are at work then are cancelled. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const api = await openApi(input, io, { write: true, actor: "mcp" });
  try {
    const { caller } = await api.invoke("get_meta", {});
    const { serveMcpStdio } = await import("@millrace/server/mcp");
    const { stdin, stdout, signal } = io;
    const role = isOn(input, "read-only") ? "read" : (caller?.role ?? "admin");
    await serveMcpStdio({ client: api, role }, { input: stdin, output: stdout, signal });
    return 0;
  } catch (error) {
    throw toCliError(error);
  } finally {
    await api.close();
  }
}

/** Runs one wired command: from checked arguments to an answer. */
import type { CommandDef } from "@millrace/contracts";
import type { CommandCall } from "../ports.ts";
import { fromStore } from "../store-problem.ts";
import { Answer, notWired } from "./command.ts";

/** Whether results are checked; a server in production trusts its handlers. Read once: the environment is slow to ask. */
const CHECKS_RESULTS: boolean = /^(?:test|development)$/.test(process.env["NODE_ENV"] ?? "");

/**
 * Calls the handler of a command with parsed arguments. Throws `ProblemError`; what the store refuses becomes one, and anything
 * else that is thrown is a fault.
 * In tests and development the result is checked against the command's schema, so a handler cannot drift from it.
 */
export async function runCommand(
  command: CommandDef,
  args: unknown,
  call: CommandCall,
): Promise<Answer> {
  const handler = call.host.commands.get(command.name);
  if (handler === undefined) throw notWired(command.name);
  let given: unknown;
  try {
    given = await handler(args as never, call);
  } catch (error) {
    throw fromStore(error);
  }
  const answer = given instanceof Answer ? given : new Answer(given ?? null);
  if (CHECKS_RESULTS) command.result.parse(answer.value);
  return answer;
}

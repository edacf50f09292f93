/**
 * The invoke bridge: every command by its name, with one body and one answer.
 *   I1  The order of checks: shape of the body, wired, role, draining, arguments.
 *   I2  Success is 200 with the result verbatim; a command without an answer gives null.
 */
import type { CommandDef } from "@millrace/contracts";
import { escapeSegment } from "../args/index.ts";
import { ProblemError } from "../errors.ts";
import type { CommandCall } from "../ports.ts";
import {
  type Answer,
  checkArgs,
  checkDraining,
  checkRole,
  checkStore,
  notWired,
} from "./command.ts";
import { runCommand } from "./run-command.ts";

/** The body of `POST /api/invoke`. */
export interface Invocation {
  readonly command: string;
  readonly args: unknown;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const COMMAND_NAME = /^[^\x00-\x1f\x7f-\x9f]{1,128}$/;

/** Reads the body. Throws `invalid_args` with a pointer for each member that does not fit. */
export function readInvocation(body: unknown): Invocation {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw refused("", "invalid_type", "the body must be an object with command and args");
  }
  const { command, args, ...others } = body as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw refused(`/${escapeSegment(unknown)}`, "unrecognized_key", "is not known");
  if (typeof command !== "string" || !COMMAND_NAME.test(command)) {
    throw refused("/command", "invalid_format", "must be a name of 1 to 128 characters");
  }
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw refused("/args", "invalid_type", "must be an object");
  }
  return { command, args };
}

function refused(pointer: string, code: string, message: string): ProblemError {
  return new ProblemError("invalid_args", { errors: [{ pointer, code, message }] });
}

/** Invokes a command by name. Throws `ProblemError`. */
export async function invokeCommand(
  commands: ReadonlyMap<string, CommandDef>,
  invocation: Invocation,
  call: CommandCall,
): Promise<Answer> {
  const command = commands.get(invocation.command);
  if (command === undefined || !call.app.isWired(command.name)) throw notWired();
  checkRole(command, call.caller);
  checkDraining(command, call.app);
  checkStore(command, call.host);
  const args = checkArgs(command, invocation.args);
  if (!call.host.commands.has(command.name)) {
    throw new ProblemError("stream_only", {
      headers: { Link: `<${command.http?.path ?? ""}>; rel="alternate"` },
    });
  }
  return runCommand(command, args, call);
}

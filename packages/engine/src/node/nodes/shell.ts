/** The `shell` adapter: one program of the operator's list, by arguments. It uses `ctx.shell` alone; there is no shell in it. */
import {
  type ActionAdapterDefinition,
  type ActionDefinition,
  defineAction,
  defineActionAdapter,
  jsonSchema,
  NodeError,
  type SpawnEnd,
} from "@millrace/contracts";
import { OUT_PORT } from "../../nodes/entry.ts";

const DEFAULT_MAX_BYTES = 1_048_576; // a page of output, not a file: those are read by `file.read`
const MOST_BYTES = 16_777_216; // as much as one output may hold
const TIMEOUT_MS = 60_000; // what a person would wait for at a terminal
const TOLD_UNITS = 2_048; // of stderr in the log, when a program failed

/** Fields of `shell.exec`. */
interface ExecFields {
  readonly program: string;
  readonly args?: readonly string[];
  readonly stdin?: string;
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
  readonly okExit?: readonly number[];
  readonly maxBytes?: number;
}

/** Output of `shell.exec`. */
interface ExecRecord {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
}

const text = { type: "string", pattern: "^[^\\u0000]*$" }; // the system ends text at NUL

const output = {
  type: "string",
  description: "Bytes that are not UTF-8 are replaced by U+FFFD; the log says so.",
  "x-millrace": { untrusted: true },
};

const exec: ActionDefinition = defineAction<ExecFields, ExecRecord>({
  name: "exec",
  title: "Run program",
  summary: "Runs one program that the operator allows, without a shell, and reads what it writes.",
  fields: jsonSchema<ExecFields>({
    type: "object",
    required: ["program"],
    additionalProperties: false,
    properties: {
      program: {
        type: "string",
        minLength: 1,
        description: "Name in the operator's list, such as git; no path.",
        "x-millrace": { literal: true, sink: "command" },
      },
      args: {
        type: "array",
        items: text,
        default: [],
        description: "One argument each; nothing in them is special.",
      },
      stdin: { type: "string", description: "What the program reads; default nothing." },
      env: {
        type: "object",
        additionalProperties: text,
        default: {},
        description: "Variables beside those that the operator passes on; there are no others.",
      },
      cwd: {
        type: "string",
        minLength: 1,
        maxLength: 1024,
        default: ".",
        description: "Relative to the operator's folder, with / between the parts.",
        "x-millrace": { sink: "path" },
      },
      okExit: {
        type: "array",
        minItems: 1,
        items: { type: "integer", minimum: 0 },
        default: [0],
        description: "Exit codes that succeed.",
      },
      maxBytes: {
        type: "integer",
        minimum: 0,
        maximum: MOST_BYTES,
        default: DEFAULT_MAX_BYTES,
        description: "Bytes kept of each of stdout and stderr; the rest is dropped.",
      },
    },
  }),
  output: jsonSchema<ExecRecord>({
    type: "object",
    required: ["exitCode", "stdout", "stderr", "truncated"],
    properties: {
      exitCode: {
        type: "integer",
        "x-millrace": { aliases: ["code", "exit_code", "status", "returncode"] },
      },
      stdout: { ...output, "x-millrace": { untrusted: true, aliases: ["output", "out", "text"] } },
      stderr: output,
      truncated: { type: "boolean", description: "Whether a stream was longer than maxBytes." },
    },
  }),
  effect: "write",
  ports: [OUT_PORT],
  defaults: { policy: { timeoutMs: TIMEOUT_MS, delivery: "atMostOnce" } },
  tags: ["command", "program", "process"],
  examples: [
    {
      title: "The commit that is checked out",
      fields: { program: "git", args: ["rev-parse", "HEAD"] },
      output: { exitCode: 0, stdout: "6ccbfe9\n", stderr: "", truncated: false },
    },
  ],
  async run(fields, ctx) {
    const { program, okExit = [0], maxBytes = DEFAULT_MAX_BYTES, args, stdin, env, cwd } = fields;
    const end = await ctx.shell.run(program, {
      maxBytes,
      ...(args !== undefined && { args }),
      ...(stdin !== undefined && { stdin }),
      ...(env !== undefined && { env }),
      ...(cwd !== undefined && { cwd }),
    });
    const { truncated } = end;
    const stdout = decode(end.stdout, truncated);
    const stderr = decode(end.stderr, truncated);
    if (stdout.lossy || stderr.lossy) {
      const which = [stdout.lossy && "stdout", stderr.lossy && "stderr"].filter(Boolean);
      ctx.log("warn", `${which.join(" and ")} of ${program} is not UTF-8; bytes were replaced`);
    }
    const { exitCode } = end;
    if (exitCode === null || !okExit.includes(exitCode)) {
      const last = stderr.text.trimEnd().slice(-TOLD_UNITS);
      if (last !== "") ctx.log("warn", last);
      throw new NodeError("exit_status", `${program} ${ending(end)}`, {
        reason: "output",
        sent: true,
      });
    }
    return { exitCode, stdout: stdout.text, stderr: stderr.text, truncated };
  },
});

/** Programs. Errors: `program_denied spawn_failed exit_status`. */
export const shellAdapter: ActionAdapterDefinition = defineActionAdapter({
  id: "shell",
  title: "Programs",
  actions: [exec],
});

function ending({ exitCode, signal }: SpawnEnd): string {
  return exitCode === null ? `was ended by ${signal}` : `exited with ${exitCode}`;
}

/** Output as text. A character that the limit cut in two is dropped, not replaced. */
function decode(bytes: Uint8Array, cut: boolean): { text: string; lossy: boolean } {
  const stream = { stream: cut };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes, stream), lossy: false };
  } catch {
    return { text: new TextDecoder().decode(bytes, stream), lossy: true };
  }
}

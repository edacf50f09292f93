/** Questions to the person at the keyboard: secrets without echo, the fields of an answer, yes or no. */
import { createInterface } from "node:readline";
import type { Json, JsonSchema } from "@millrace/contracts";
import type { CommandIo } from "./argv/spec.ts";
import { CliError, interruptible, usage } from "./errors.ts";
import { readInput } from "./files.ts";
import { clean } from "./output/text.ts";

/** Longest secret that is taken; tokens have some thousand characters. */
const MAX_SECRET_CHARACTERS = 16_384;

const INTERRUPT = "\u0003";
const END = "\u0004";

/** The content of stdin, without the line end that a shell adds. Throws a usage error when it is empty or too long. */
export async function secretFromStdin(io: CommandIo, what: string): Promise<string> {
  return secretFromFile("-", io, what);
}

/** The content of a file, without the line end. Throws a usage error that names the file. */
export async function secretFromFile(path: string, io: CommandIo, what: string): Promise<string> {
  const text = new TextDecoder().decode(await readInput(path, io)).replace(/\r?\n$/, "");
  return checked(text, what);
}

/** Asks at the keyboard without echo. */
export async function askSecret(io: CommandIo, what: string): Promise<string> {
  return checked(await askHidden(io, what), what);
}

/** A secret from the person at the keyboard, else from stdin, unless that is a terminal where it would be seen. */
export async function readSecret(io: CommandIo, what: string): Promise<string> {
  if (io.interactive) return askSecret(io, what);
  if (!io.isTTY.stdin) return secretFromStdin(io, what);
  throw usage(`nobody can be asked for ${what} here`, "give it on stdin");
}

function checked(text: string, what: string): string {
  if (text === "") throw usage(`${what} is empty`, "give it on stdin, or at the prompt");
  if (text.length > MAX_SECRET_CHARACTERS || /[\r\n\0]/.test(text)) {
    throw usage(`${what} must be one line of at most ${MAX_SECRET_CHARACTERS} characters`);
  }
  return text;
}

/** Characters up to Enter, in raw mode, so that the terminal echoes none. */
async function askHidden(io: CommandIo, what: string): Promise<string> {
  const stdin = io.stdin as NodeJS.ReadStream;
  await io.err.write(`${what}: `);
  stdin.setRawMode?.(true);
  stdin.resume();
  try {
    return await new Promise<string>((resolve, reject) => {
      let typed = "";
      const end = (act: () => void): void => {
        stdin.off("data", onData);
        io.signal.removeEventListener("abort", onAbort);
        act();
      };
      const onAbort = (): void => {
        end(() => reject(new CliError("cancelled", `ended by ${String(io.signal.reason)}`)));
      };
      const onData = (chunk: Buffer | string): void => {
        for (const key of String(chunk)) {
          if (key === INTERRUPT) process.kill(process.pid, "SIGINT");
          else if (key === "\r" || key === "\n" || key === END) {
            end(() => resolve(typed));
            return;
          } else if (key === "\u007f" || key === "\b") typed = [...typed].slice(0, -1).join("");
          else typed += key;
        }
      };
      stdin.on("data", onData);
      io.signal.addEventListener("abort", onAbort, { once: true });
    });
  } finally {
    stdin.setRawMode?.(false);
    stdin.pause();
    await io.err.write("\n");
  }
}

/** The keywords of a schema that say what its members are. */
export interface ObjectSchema {
  readonly items?: JsonSchema;
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
}

/** Asks for every field. Undefined: the schema names none, so there is nothing to ask. Enter omits an optional field. */
export async function askFields(
  schema: JsonSchema,
  io: CommandIo,
): Promise<{ readonly [field: string]: Json } | undefined> {
  const { properties = {}, required = [] } = Object(schema) as ObjectSchema;
  if (Object.keys(properties).length === 0) return undefined;
  const input = createInterface({ input: io.stdin, terminal: false });
  const lines = input[Symbol.asyncIterator]();
  const value: { [field: string]: Json } = {};
  try {
    for (const [field, of] of Object.entries(properties)) {
      const { type, enum: choices } = Object(of) as { type?: unknown; enum?: readonly unknown[] };
      const kind = choices?.join(", ") ?? String(type ?? "any value");
      const isRequired = required.includes(field);
      await io.err.write(clean(`${field} (${kind}${isRequired ? "" : ", optional"}): `));
      const { value: line = "" } = await interruptible(io.signal, lines.next());
      if (line !== "") value[field] = toField(field, line, type);
      else if (isRequired)
        throw usage(`${clean(field)} is needed`, "give it, or --value-json FILE");
    }
  } finally {
    input.close();
    io.stdin.pause();
  }
  return value;
}

/** Text as it is, any other type as JSON. */
function toField(field: string, text: string, type: unknown): Json {
  if (type === "string") return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    if (type === undefined) return text;
    throw usage(`${clean(field)} takes ${String(type)}, written as JSON`);
  }
}

/** Whether the answer begins with `y`; Enter alone means no, and so does the end of stdin. Ends with `cancelled` on a signal. */
export async function askYes(io: CommandIo, question: string): Promise<boolean> {
  const lines = createInterface({ input: io.stdin, terminal: false });
  try {
    // Text typed ahead counts, too.
    const answer = new Promise<string>((resolve) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(""));
    });
    await io.err.write(`${question} [y/N] `);
    return /^\s*y/i.test(await interruptible(io.signal, answer));
  } finally {
    lines.close();
    io.stdin.pause();
  }
}

/** One run of `code.run`: its limits, its schemas, and what its answer means for the node. */
import {
  cutText,
  type FieldFinding,
  type Json,
  type JsonObject,
  type NodeContext,
  NodeError,
} from "@millrace/contracts";
import { misfitOf } from "./check-schema.ts";
import {
  type Answer,
  type CallLimits,
  MAX_MEMORY,
  MAX_RECORD,
  MIN_MEMORY,
  Sandbox,
  Stopped,
  type Thrown,
} from "./sandbox.ts";

const MIB = 1_048_576;

/** How far a limit goes: `usual` where a step says nothing, at most `ceiling` where the operator says nothing, never above `most`. */
export interface LimitRange {
  readonly least: number;
  readonly usual: number;
  readonly ceiling: number;
  readonly most: number;
}

/** The limits of a call by their field. */
export const LIMITS: { readonly [limit in keyof CallLimits]: LimitRange } = {
  timeoutMs: { least: 1, usual: 1_000, ceiling: 10_000, most: 60_000 },
  memoryBytes: { least: MIN_MEMORY, usual: 64 * MIB, ceiling: 256 * MIB, most: MAX_MEMORY },
};

/** Fields of `code.run`. */
export interface CodeFields {
  readonly source: string;
  readonly input?: Json;
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly timeoutMs?: number;
  readonly memoryBytes?: number;
}

/** Answers at once when a sandbox is ready. */
export function runCode(
  fields: CodeFields,
  ctx: NodeContext,
): { readonly value: Json } | Promise<{ readonly value: Json }> {
  const allowed = limitsOf(fields, ctx.config);
  const { source, input, inputSchema, outputSchema } = fields;
  const misfit = { code: "code_input", what: "the input", name: "inputSchema", allowed } as const;
  refuseMisfit(input, inputSchema, misfit);
  const text = input === undefined ? undefined : JSON.stringify(input);
  return withSandbox((sandbox) => {
    const answer = stopped(allowed, () => sandbox.run(source, text, allowed.limits));
    writeLines(answer, ctx);
    const value = returned(answer);
    refuseMisfit(value, outputSchema, {
      code: "code_output",
      what: "the returned value",
      name: "outputSchema",
      allowed,
    });
    return { value };
  });
}

/** What is wrong with a source before it runs. */
export function checkSource(
  source: string,
): readonly FieldFinding[] | Promise<readonly FieldFinding[]> {
  const limits = { timeoutMs: LIMITS.timeoutMs.usual, memoryBytes: LIMITS.memoryBytes.usual };
  return withSandbox((sandbox) => {
    try {
      const found = sandbox.parse(source, limits);
      return found === undefined ? [] : [finding(syntaxText(found))];
    } catch (error) {
      if (error instanceof Stopped)
        return [finding("cannot be parsed within the limits of a step")];
      throw error;
    }
  });
}

function finding(message: string): FieldFinding {
  return {
    pointer: "/source",
    code: "code_syntax",
    message,
    severity: "error",
  };
}

let ready: Sandbox | undefined;
let opening: Promise<void> | undefined;

/** A sandbox that is not worn. There is one in a process, because a call holds the thread as long as it runs. */
function withSandbox<T>(use: (sandbox: Sandbox) => T): T | Promise<T> {
  if (ready !== undefined) {
    try {
      return use(ready);
    } finally {
      if (ready.isWorn) ready = undefined; // at once: it may have grown
    }
  }
  opening ??= Sandbox.open()
    .then((sandbox) => {
      ready = sandbox;
    })
    .finally(() => {
      opening = undefined;
    });
  return opening.then(() => withSandbox(use));
}

/** The limits of a call, and how far a step may raise them. */
interface Allowed {
  readonly limits: CallLimits;
  readonly ceilings: CallLimits;
}

function limitsOf(fields: CodeFields, config: JsonObject): Allowed {
  const number = (name: string, otherwise: number) => {
    const value = config[name];
    return typeof value === "number" ? value : otherwise;
  };
  const one = (name: "timeoutMs" | "memoryBytes") => {
    const { usual, ceiling } = LIMITS[name];
    const most = `max${name[0]?.toUpperCase()}${name.slice(1)}`;
    const top = number(most, ceiling);
    const value = fields[name] ?? Math.min(number(name, usual), top);
    if (value <= top) return { value, top };
    const text = `${name} ${value} is above ${top}, the ${most} in the configuration of "code"`;
    throw new NodeError("field_invalid", text, { reason: "input", sent: false });
  };
  const time = one("timeoutMs");
  const memory = one("memoryBytes");
  return {
    limits: { timeoutMs: time.value, memoryBytes: memory.value },
    ceilings: { timeoutMs: time.top, memoryBytes: memory.top },
  };
}

/** Does `work`; a call that was stopped fails with the limit, and with what raises it. */
function stopped<T>({ limits, ceilings }: Allowed, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Stopped)) {
      throw new NodeError("code_crashed", "QuickJS broke off; the next call gets another one", {
        cause: error,
      });
    }
    const { limit } = error;
    const texts = {
      timeoutMs: `the code ran longer than ${limits.timeoutMs} ms`,
      memoryBytes: `the code needed more than ${limits.memoryBytes} bytes`,
      stack: "its calls are nested too deep; a loop with a list of what is left needs no stack",
      output: `what it returns and logs has more than ${MAX_RECORD / MIB} MiB`,
    };
    const isField = limit === "timeoutMs" || limit === "memoryBytes";
    throw exceeded(limit, texts[limit], isField ? ceilings[limit] : undefined);
  }
}

function exceeded(limit: Stopped["limit"], text: string, ceiling?: number): NodeError {
  const raise = ceiling === undefined ? "" : `; the field ${limit} raises it up to ${ceiling}`;
  return new NodeError("limit_exceeded", `limit code.${limit}: ${text}${raise}`, {
    reason: "limit",
  });
}

const LEVELS = { log: "info", info: "info", debug: "debug", warn: "warn", error: "error" } as const;

function writeLines({ lines, dropped }: Answer, ctx: NodeContext): void {
  for (const { level, text } of lines) ctx.log(LEVELS[level], text);
  if (dropped > 0) ctx.log("warn", `${dropped} more lines of console were dropped`);
}

function returned(answer: Answer): Json {
  const { error, problem, pending, isSyntax = false } = answer;
  if (isSyntax) throw new NodeError("code_syntax", syntaxText(answer));
  if (error !== undefined) throw new NodeError("code_threw", thrownText(error));
  if (pending) throw new NodeError("code_output", "the returned promise is never settled");
  if (problem === undefined) return answer.value as Json;
  const [pointer, what] = problem;
  const advice = pointer === "" && what === "is undefined" ? "; end the code with `return …`" : "";
  const where =
    pointer === "" ? "the returned value" : `the returned value at ${cutText(pointer, 64).text}`;
  throw new NodeError("code_output", `${where} ${what}, which is not JSON${advice}`, {
    reason: "output",
  });
}

function syntaxText({ error = {} }: Answer): string {
  return `${error.message ?? error.text}${placeOf(error)}`;
}

function thrownText(error: Thrown): string {
  const { name, message, text } = error;
  return message === undefined ? `threw ${text}` : `${name}: ${message}${placeOf(error)}`;
}

/** ` (line 2, column 7 of source)`: the innermost place that is in the source. */
function placeOf({ stack = "" }: Thrown): string {
  const [, line, column] = /\bsource:(\d+):(\d+)/.exec(stack) ?? [];
  return line === undefined ? "" : ` (line ${Number(line) - 1}, column ${column} of source)`;
}

interface Misfit {
  readonly code: "code_input" | "code_output";
  readonly what: string;
  readonly name: "inputSchema" | "outputSchema";
  readonly allowed: Allowed;
}

/** What the validator says with a number of the value in it, which is data and belongs in no message. */
const OF_VALUE: ReadonlySet<string> = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
]);

function refuseMisfit(
  value: unknown,
  schema: JsonObject | undefined,
  { code, what, name, allowed: { limits, ceilings } }: Misfit,
): void {
  if (schema === undefined) return;
  let misfit: ReturnType<typeof misfitOf>;
  try {
    misfit = misfitOf(value, schema, limits);
  } catch (error) {
    if (!(error instanceof Stopped)) {
      throw new NodeError("field_invalid", `${name} is not a JSON Schema`, { reason: "input" });
    }
    const { limit } = error;
    const text = {
      timeoutMs: `${name} took longer than ${limits.timeoutMs} ms`,
      memoryBytes: `${name} needed more than ${limits.memoryBytes} bytes, or half of what this process has`,
      stack: `${name} goes too deep for ${what}`,
    }[limit as "timeoutMs" | "memoryBytes" | "stack"];
    throw exceeded(limit, text, limit === "stack" ? undefined : ceilings[limit as "timeoutMs"]);
  }
  if (misfit === undefined) return;
  const { instanceLocation, error, keyword } = misfit;
  const why = OF_VALUE.has(keyword) ? keyword : error;
  const at = instanceLocation === "#" ? "" : ` at ${instanceLocation.slice(1)}`;
  throw new NodeError(code, `${what}${at} does not fit ${name}: ${why}`, {
    reason: code === "code_input" ? "input" : "output",
  });
}

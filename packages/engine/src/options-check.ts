/**
 * What callers say, looked at before anything begins: code without types must not leave a run that never ends. Everything
 * here throws `EngineError` `input_invalid` with the name of the option.
 */
import { EVENT_KINDS, EVENT_LIMITS } from "@millrace/contracts";
import { type OptionNames, unknownOption } from "@millrace/contracts/options";
import type { AiOptions, CircuitOptions } from "./ai/options.ts";
import { Plan } from "./compile/plan.ts";
import { EngineError } from "./errors.ts";
import type { EgressPolicy, FilePolicy, ShellPolicy } from "./host.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import type { CloseOptions, EngineOptions, RunCancelOptions, RunOptions } from "./options.ts";
import type { EventsOptions } from "./run/cursor.ts";

/** True for a value that an option may have. */
type Test = (value: unknown) => boolean;

const isObject: Test = (value) => typeof value === "object" && value !== null;
export const isRecord: Test = (value) => isObject(value) && !Array.isArray(value);
const isText: Test = (value) => typeof value === "string";
const isFunction: Test = (value) => typeof value === "function";
/** Infinity is a number without a bound. */
const isAmount: Test = (value) => typeof value === "number" && value >= 0;
const isCount: Test = (value) => isAmount(value) && (value as number) >= 1;
export const oneOf =
  (...values: readonly unknown[]): Test =>
  (value) =>
    values.includes(value);
export const has =
  (...methods: readonly string[]): Test =>
  (value) =>
    isObject(value) &&
    methods.every((name) => typeof (value as { [name: string]: unknown })[name] === "function");

const isProviders: Test = (value) =>
  Array.isArray(value) &&
  value.every((one) => has("capabilities", "languageModel")(one) && isText(one.id)) &&
  new Set(value.map(({ id }) => id)).size === value.length;

/** A test, and what the value must be. */
export type Rules<T> = { readonly [K in keyof Required<T>]: readonly [Test, string] };

const HOST = ["now", "random", "setTimer", "yield", "sha256"];
const JOURNAL = "create append read putValue getValue load lease release".split(" ");
export const RECORD: readonly [Test, string] = [isRecord, "an object"];
export const TEXT: readonly [Test, string] = [isText, "text"];
const MILLISECONDS: readonly [Test, string] = [isAmount, "milliseconds, 0 or more"];

const ENGINE: Rules<EngineOptions> = {
  host: [has(...HOST), `a host, with ${HOST.join(", ")}`],
  journal: [has(...JOURNAL), `a journal, with ${JOURNAL.join(", ")}`],
  credentials: [isObject, "a port with resolve, renew, secret"],
  services: [has("get"), "a port with get"],
  providers: [
    isProviders,
    "a list of providers, each with another id, capabilities and languageModel",
  ],
  ai: RECORD,
  cache: [has("get", "set"), "a port with get and set"],
  egress: RECORD,
  files: RECORD,
  shell: RECORD,
  config: RECORD,
  concurrency: RECORD,
  limits: RECORD,
  onError: [isFunction, "a function"],
  freeze: [oneOf(true, false), "true or false"],
};

const RUN: Rules<RunOptions> = {
  runId: [
    (value) => isText(value) && /^[A-Za-z0-9_-]{1,64}$/.test(value as string),
    "1 to 64 of A-Z a-z 0-9 _ -",
  ],
  signal: [has("addEventListener", "removeEventListener"), "an AbortSignal"],
  confirm: [isFunction, "a function"],
  onFailure: [oneOf("stop", "finish"), "stop or finish"],
  timeoutMs: MILLISECONDS,
  concurrency: [(value) => isAmount(value) && (value as number) >= 1, "1 or more"],
  trigger: [
    oneOf("cli", "api", "schedule", "webhook", "desktop", "embed"),
    "cli, api, schedule, webhook, desktop or embed",
  ],
  template: TEXT,
  tags: RECORD,
  limits: RECORD,
  only: [(value) => Array.isArray(value) && value.every(isText), "a list of ids of nodes"],
  pins: [
    (value) => isRecord(value) && Object.values(value as object).every(isRecord),
    "an object of results such as { fetch: { output: {} } }",
  ],
  created: [
    (value) => isRecord(value) && isAmount((value as { epoch?: unknown }).epoch),
    "an object with the epoch of the journal",
  ],
};

const CANCEL: Rules<RunCancelOptions> = {
  reason: [
    oneOf("user", "timeout", "sigint", "sigterm", "shutdown", "disconnect"),
    "user, timeout, sigint, sigterm, shutdown or disconnect",
  ],
  by: TEXT,
  note: TEXT,
  graceMs: MILLISECONDS,
};

const CLOSE: Rules<CloseOptions> = {
  graceMs: MILLISECONDS,
  leave: [oneOf(true, false), "true or false"],
};

const EVENTS: Rules<EventsOptions> = {
  after: [(value) => typeof value === "number", "a number, the `seq` of an event"],
  kinds: [
    (value) => Array.isArray(value) && value.every((kind) => EVENT_KINDS.includes(kind)),
    "a list of kinds, each of EVENT_KINDS",
  ],
  holds: [oneOf(true, false), "true or false"],
};

/** Names alone: a misspelt member of a policy would be a policy that does not hold. */
const CONCURRENCY: OptionNames<NonNullable<EngineOptions["concurrency"]>> = { run: 1, types: 1 };
const EGRESS: OptionNames<EgressPolicy> = {
  ...{ allow: 1, deny: 1, only: 1, selfOrigins: 1, maxRedirects: 1, connectMs: 1, idleMs: 1 },
  ...{ totalMs: 1, maxResponseBytes: 1, maxRequestBytes: 1, perHost: 1 },
};
const FILES: OptionNames<FilePolicy> = { root: 1, readOnly: 1, maxBytes: 1 };
const SHELL: OptionNames<ShellPolicy> = { programs: 1, env: 1, cwdRoot: 1 };

const isKey: Test = (value) => value instanceof Uint8Array && value.length >= MIN_KEY_BYTES;
const MIN_KEY_BYTES = 32; // of an HMAC-SHA-256 that nobody can guess

const isOrigins: Test = (value) =>
  Array.isArray(value) && value.every((each) => isText(each) && /^https?:\/\/[^/]+$/.test(each));

const AI: Rules<AiOptions> = {
  defaultProvider: TEXT,
  defaultModels: RECORD,
  credentials: [has("resolve"), "a port with resolve"],
  tools: [has("list", "call"), "a port with list and call"],
  origins: [isOrigins, "a list of origins such as http://127.0.0.1:8080"],
  circuit: RECORD,
  prices: RECORD,
  hmacKey: [isKey, `at least ${MIN_KEY_BYTES} bytes`],
};

const CIRCUIT: Rules<CircuitOptions> = {
  failures: [isCount, "a number from 1"],
  windowMs: MILLISECONDS,
  coolDownMs: MILLISECONDS,
};

/** Options of an engine. */
export function checkEngineOptions(options: EngineOptions): void {
  check(options, ENGINE);
  check(options.ai ?? {}, AI, "ai.");
  check(options.ai?.circuit ?? {}, CIRCUIT, "ai.circuit.");
  checkLimits(options.limits);
  checkNames(options.concurrency, CONCURRENCY, "concurrency.");
  checkNames(options.egress, EGRESS, "egress.");
  checkNames(options.files, FILES, "files.");
  checkNames(options.shell, SHELL, "shell.");
  const { run, types } = options.concurrency ?? {};
  if (run !== undefined && !isCount(run)) throw invalid("concurrency.run", "a number from 1");
  if (types !== undefined && !isRecord(types)) throw invalid("concurrency.types", "an object");
  for (const [type, most] of Object.entries(types ?? {})) {
    if (!isCount(most)) throw invalid(`concurrency.types["${type}"]`, "a number from 1");
  }
}

/** Options of one run. */
export function checkRunOptions(options: RunOptions): void {
  check(options, RUN);
  checkLimits(options.limits);
  const { tags: most, tagText } = EVENT_LIMITS;
  const pairs = Object.entries(options.tags ?? {});
  if (pairs.length > most || pairs.flat().some((text) => !isText(text) || text.length > tagText)) {
    throw invalid("tags", `at most ${most} texts of ${tagText} units each`);
  }
}

/** Options of `Engine.close`. */
export function checkCloseOptions(options: CloseOptions): void {
  check(options, CLOSE);
}

/** Options of `Run.events`. */
export function checkEventsOptions(options: EventsOptions): void {
  check(options, EVENTS);
}

/** Options of a cancel. */
export function checkCancelOptions(options: RunCancelOptions): void {
  check(options, CANCEL);
}

/** A plan that this copy of the package has compiled. */
export function checkPlan(plan: Plan): void {
  if (plan instanceof Plan) return;
  const { plan: inner, diagnostics } = Object(plan) as { plan?: unknown; diagnostics?: unknown };
  if (inner instanceof Plan) {
    throw invalid("plan", "`compiled.plan`; this is the whole result of compileFlow");
  }
  if (Array.isArray(diagnostics) || plan === undefined) {
    throw invalid("plan", "a plan; the flow was not valid, and `compiled.diagnostics` says why");
  }
  throw invalid("plan", "what `compileFlow` of this very copy of the package has made");
}

export function check<T extends object>(options: T, rules: Rules<T>, at = ""): void {
  if (!isObject(options)) throw new EngineError("input_invalid", "options must be an object");
  checkNames(options, rules, at);
  for (const name of Object.keys(rules) as (keyof T & string)[]) {
    const [test, what] = rules[name] as readonly [Test, string];
    if (options[name] !== undefined && !test(options[name])) throw invalid(at + name, what);
  }
}

function checkNames(options: object | undefined, known: object, at: string): void {
  const problem = unknownOption(options ?? {}, known, at);
  if (problem !== undefined) throw new EngineError("input_invalid", problem);
}

function checkLimits(limits: object | undefined): void {
  for (const [name, value] of Object.entries(limits ?? {})) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) {
      const known = Object.keys(DEFAULT_LIMITS).join(", ");
      throw new EngineError("input_invalid", `options.limits: no "${name}"; there are ${known}`);
    }
    if (value !== undefined && !isAmount(value)) throw invalid(`limits.${name}`, "0 or more");
  }
}

function invalid(name: string, what: string): EngineError {
  return new EngineError("input_invalid", `options.${name} must be ${what}`);
}

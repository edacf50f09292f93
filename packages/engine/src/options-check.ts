/**
 * What callers say, looked at before anything begins: code without types must not leave a run that never ends. Everything
 * here throws `EngineError` `input_invalid` with the name of the option.
 */
import { EVENT_KINDS, EVENT_LIMITS } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { faultsOf, fn, list, must, object, optional, rule } from "@millrace/contracts/shape";
import { Plan } from "./compile/plan.ts";
import { EngineError } from "./errors.ts";
import type { EgressPolicy, FilePolicy, ShellPolicy } from "./host.ts";
import {
  AMOUNT,
  COUNT,
  checkOptions,
  FLAG,
  has,
  isAmount,
  isText,
  LIMITS,
  MILLISECONDS,
  optionsOf,
  RECORD,
  TEXT,
} from "./option-rules.ts";
import type {
  CloseOptions,
  EngineOptions,
  LeaveOptions,
  ResumeOptions,
  RunCancelOptions,
  RunOptions,
} from "./options.ts";
import type { BatchOptions } from "./run/event-log.ts";
import { Setting } from "./shared.ts";

const HOST = ["now", "random", "setTimer", "yield", "sha256"];
const JOURNAL = "create append read putValue getValue load lease release".split(" ");

const NONE = optional(must(() => false, ""));
const TARGETS = [
  object({ cidr: TEXT, host: NONE, port: NONE }),
  object({ host: TEXT, port: optional(AMOUNT), cidr: NONE }),
];
/** A member that is passed over would be a policy that does not hold: `{ cidr, port }` would permit every port. */
const TARGET = must(
  (value) => TARGETS.some((shape) => faultsOf(value, shape).length === 0),
  'a rule such as { cidr: "10.0.0.0/8" } or { host: "db.example", port: 5432 }',
);
const TEXTS = list(TEXT);
const EGRESS = optionsOf<EgressPolicy>({
  ...{ allow: list(TARGET), deny: list(TARGET), only: TEXTS, selfOrigins: TEXTS },
  ...{ maxRedirects: AMOUNT, connectMs: MILLISECONDS, idleMs: MILLISECONDS, totalMs: MILLISECONDS },
  ...{ maxResponseBytes: AMOUNT, maxRequestBytes: AMOUNT, perHost: COUNT },
});
const FILES = optionsOf<FilePolicy>({ root: TEXT, readOnly: FLAG, maxBytes: AMOUNT });
const SHELL = optionsOf<ShellPolicy>({ programs: RECORD, env: TEXTS, cwdRoot: TEXT });
const CONCURRENCY = optionsOf<NonNullable<EngineOptions["concurrency"]>>({
  run: COUNT,
  types: RECORD,
});

const ENGINE = optionsOf<EngineOptions>({
  host: must(has(...HOST), `a host, with ${HOST.join(", ")}`),
  journal: must(has(...JOURNAL), `a journal, with ${JOURNAL.join(", ")}`),
  credentials: must(
    (value) => typeof value === "object" && value !== null,
    "a port with resolve, renew, secret",
  ),
  services: must(has("get"), "a port with get"),
  settings: must(
    (value) =>
      Array.isArray(value) &&
      value.every((one) => one instanceof Setting) &&
      new Set(value.map(({ key }) => key)).size === value.length,
    "a list of settings of packs, each pack once, such as [aiSettings({ providers })]",
  ),
  cache: must(has("get", "set"), "a port with get and set"),
  keys: must(has("claim", "resume"), "a port with claim and resume"),
  egress: EGRESS,
  files: FILES,
  shell: SHELL,
  config: RECORD,
  concurrency: CONCURRENCY,
  limits: LIMITS,
  onError: fn,
  trace: must(has("request"), "a port with request"),
  freeze: FLAG,
  fastLane: FLAG,
});

const word = (words: readonly string[], what: string) =>
  must((value) => words.includes(value as string), what);

const RUN = optionsOf<RunOptions>({
  runId: must(
    (value) => isText(value) && /^[A-Za-z0-9_-]{1,64}$/.test(value),
    "1 to 64 of A-Z a-z 0-9 _ -",
  ),
  signal: must(has("addEventListener", "removeEventListener"), "an AbortSignal"),
  confirm: fn,
  onFailure: word(["stop", "finish"], "stop or finish"),
  timeoutMs: MILLISECONDS,
  concurrency: must((value) => isAmount(value) && value >= 1, "1 or more"),
  trigger: word(
    ["cli", "api", "schedule", "webhook", "desktop", "embed", "notify", "mcp"],
    "cli, api, schedule, webhook, desktop, embed, notify or mcp",
  ),
  template: TEXT,
  tags: rule((value) => {
    if (!isObject(value)) return "must be an object";
    const { tags: most, tagText } = EVENT_LIMITS;
    const texts = Object.entries(value).flat();
    const fits = texts.every((text) => isText(text) && text.length <= tagText);
    if (fits && texts.length <= 2 * most) return undefined;
    return `must be at most ${most} texts of ${tagText} units each`;
  }),
  vars: RECORD,
  environment: TEXT,
  limits: LIMITS,
  only: must((value) => Array.isArray(value) && value.every(isText), "a list of ids of nodes"),
  pins: must(
    (value) => isObject(value) && Object.values(value).every((pin) => isObject(pin)),
    "an object of results such as { fetch: { output: {} } }",
  ),
  created: must(
    (value) => isObject(value) && isAmount(value["epoch"]),
    "an object with the epoch of the journal",
  ),
});

const RESUME = optionsOf<ResumeOptions>({ wakes: FLAG });

const CANCEL = optionsOf<RunCancelOptions>({
  reason: word(
    ["user", "timeout", "sigint", "sigterm", "shutdown", "disconnect"],
    "user, timeout, sigint, sigterm, shutdown or disconnect",
  ),
  by: TEXT,
  note: TEXT,
  graceMs: MILLISECONDS,
});

const CLOSE = optionsOf<CloseOptions>({ graceMs: MILLISECONDS, leave: FLAG });

const LEAVE = optionsOf<LeaveOptions>({ graceMs: MILLISECONDS });

const BATCHES = optionsOf<BatchOptions>({
  after: must((value) => typeof value === "number", "a number, the `seq` of an event"),
  kinds: must(
    (value) => Array.isArray(value) && value.every((kind) => EVENT_KINDS.includes(kind)),
    "a list of kinds, each of EVENT_KINDS",
  ),
  holds: FLAG,
});

/** Options of an engine. */
export function checkEngineOptions(options: EngineOptions): void {
  checkOptions(options, ENGINE);
  for (const [type, most] of Object.entries(options.concurrency?.types ?? {})) {
    if (!isAmount(most) || most < 1)
      throw invalid(`concurrency.types["${type}"]`, "a number from 1");
  }
}

/** Options of one run. */
export function checkRunOptions(options: RunOptions): void {
  checkOptions(options, RUN);
}

/** Options of `Engine.resume` besides those of the run. */
export function checkResumeOptions(options: ResumeOptions): void {
  checkOptions(options, RESUME);
}

/** Options of `Engine.close`. */
export function checkCloseOptions(options: CloseOptions): void {
  checkOptions(options, CLOSE);
}

/** Options of `Run.leave`. */
export function checkLeaveOptions(options: LeaveOptions): void {
  checkOptions(options, LEAVE);
}

/** Options of `Run.batches`. */
export function checkBatchOptions(options: BatchOptions): void {
  checkOptions(options, BATCHES);
}

/** Options of a cancel. */
export function checkCancelOptions(options: RunCancelOptions): void {
  checkOptions(options, CANCEL);
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

function invalid(name: string, what: string): EngineError {
  return new EngineError("input_invalid", `options.${name} must be ${what}`);
}

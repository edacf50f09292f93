/**
 * What callers say, looked at before anything begins: code without types must not leave a run that never ends. Everything
 * here throws `EngineError` `input_invalid` with the name of the option.
 */
import { EVENT_KINDS, EVENT_LIMITS } from "@millrace/contracts";
import type { OptionNames } from "@millrace/contracts/options";
import { Plan } from "./compile/plan.ts";
import { EngineError } from "./errors.ts";
import type { EgressPolicy, FilePolicy, ShellPolicy } from "./host.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import {
  checkNames,
  checkRules,
  has,
  invalid,
  isAmount,
  isCount,
  isFunction,
  isObject,
  isRecord,
  isText,
  MILLISECONDS,
  oneOf,
  RECORD,
  type Rules,
  TEXT,
} from "./option-rules.ts";
import type { CloseOptions, EngineOptions, RunCancelOptions, RunOptions } from "./options.ts";
import type { BatchOptions } from "./run/event-log.ts";
import { Setting } from "./shared.ts";

const HOST = ["now", "random", "setTimer", "yield", "sha256"];
const JOURNAL = "create append read putValue getValue load lease release".split(" ");

const ENGINE: Rules<EngineOptions> = {
  host: [has(...HOST), `a host, with ${HOST.join(", ")}`],
  journal: [has(...JOURNAL), `a journal, with ${JOURNAL.join(", ")}`],
  credentials: [isObject, "a port with resolve, renew, secret"],
  services: [has("get"), "a port with get"],
  settings: [
    (value) =>
      Array.isArray(value) &&
      value.every((one) => one instanceof Setting) &&
      new Set(value.map(({ key }) => key)).size === value.length,
    "a list of settings of packs, each pack once, such as [aiSettings({ providers })]",
  ],
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

const BATCHES: Rules<BatchOptions> = {
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

/** Options of an engine. */
export function checkEngineOptions(options: EngineOptions): void {
  checkRules(options, ENGINE);
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
  checkRules(options, RUN);
  checkLimits(options.limits);
  const { tags: most, tagText } = EVENT_LIMITS;
  const pairs = Object.entries(options.tags ?? {});
  if (pairs.length > most || pairs.flat().some((text) => !isText(text) || text.length > tagText)) {
    throw invalid("tags", `at most ${most} texts of ${tagText} units each`);
  }
}

/** Options of `Engine.close`. */
export function checkCloseOptions(options: CloseOptions): void {
  checkRules(options, CLOSE);
}

/** Options of `Run.batches`. */
export function checkBatchOptions(options: BatchOptions): void {
  checkRules(options, BATCHES);
}

/** Options of a cancel. */
export function checkCancelOptions(options: RunCancelOptions): void {
  checkRules(options, CANCEL);
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

function checkLimits(limits: object | undefined): void {
  for (const [name, value] of Object.entries(limits ?? {})) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) {
      const known = Object.keys(DEFAULT_LIMITS).join(", ");
      throw new EngineError("input_invalid", `options.limits: no "${name}"; there are ${known}`);
    }
    if (value !== undefined && !isAmount(value)) throw invalid(`limits.${name}`, "0 or more");
  }
}

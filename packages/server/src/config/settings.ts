/**
 * The settings document. What was set is kept by path, as `run.timeoutMs`; everything else is the default of this version.
 *   D1  What is read has every member and fits the schema, whatever an earlier version has kept.
 *   D2  A patch is written whole or not at all.
 */
import { isDeepStrictEqual } from "node:util";
import type {
  FlowGraph,
  Json,
  JsonObject,
  JsonSchema,
  Problem,
  RunSpec,
  Settings,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { settingsSchema } from "@millrace/contracts/schemas";
import type { SettingsTable } from "@millrace/store";
import { checkConditions, inTurn, tagged, wire } from "../dispatch/index.ts";
import { MAX_ERRORS, ProblemError, problemOfIssue } from "../errors.ts";
import type { HandlerList, SecretStore, ServerHost } from "../ports.ts";

/** Paths of all single settings, each as the list of its names. */
const PATHS: readonly (readonly string[])[] = leavesOf(settingsSchema.parse({}) as unknown as Json);

const SETTINGS_SCHEMA: JsonSchema = settingsSchema.toJSONSchema({
  io: "input",
}) as JsonSchema;

/** By what is stored, which is another object when it has changed. */
const read = new WeakMap<Kept, Settings>();

type Kept = Awaited<ReturnType<SettingsTable["all"]>>;

/** The settings in force: what was set, else the defaults. What is stored is parsed when it has changed. */
export async function readSettings(table: Pick<SettingsTable, "all">): Promise<Settings> {
  return settingsOf(await table.all());
}

function settingsOf(kept: Kept): Settings {
  const known = read.get(kept);
  if (known !== undefined) return known;
  const settings = settingsSchema.parse(fitting(kept));
  read.set(kept, settings);
  return settings;
}

/**
 * Applies a merge patch; null goes back to the default. Only paths that change are written: another server may change others. Throws
 * `precondition_required` and `etag_mismatch` as every change does, and `value_invalid` with the places that do not fit.
 */
function updateSettings(
  { store: { settings: table, templates }, secrets }: Pick<ServerHost, "store" | "secrets">,
  { patch, ifMatch, tokenId }: SettingsPatch,
): Promise<Settings> {
  return inTurn(table, async () => {
    const kept = await table.allNow();
    const before = settingsOf(kept);
    checkConditions(before, { ifMatch });
    const next = mergePatch(fitting(kept), patch);
    const parsed = settingsSchema.safeParse(next);
    if (!parsed.success) {
      const problems = parsed.error.issues.flatMap(problemsOf);
      throw refused(problems.slice(0, MAX_ERRORS));
    }
    if (tokenId !== null && parsed.data.revokedTokens.includes(tokenId)) {
      throw wrong(
        "/revokedTokens",
        "holds the token of this request; use another one to revoke it",
      );
    }
    const { to } = parsed.data.notify;
    if (to !== before.notify.to && to !== null && !/^https?:/.test(to)) {
      if ((await templates.get(to)) === null)
        throw wrong("/notify/to", "there is no such template");
    }
    const isSet = await keepSecret(before, parsed.data, secrets);
    const shown = isSet ? mergePatch(next, { notify: { secret: SET } }) : next;
    const changed = PATHS.map((path) => [path.join("."), valueAt(shown, path)] as const).filter(
      ([name, value]) => !isDeepStrictEqual(value, kept[name]),
    );
    await table.set(Object.fromEntries(changed));
    return settingsSchema.parse(shown);
  });
}

interface SettingsPatch {
  readonly patch: JsonObject;
  readonly ifMatch?: string;
  /** Of who asks; null: the server is open. */
  readonly tokenId: string | null;
}

/** The stored settings that are still valid: a value that this version does not take counts as not set. */
function fitting(kept: Kept): Json {
  const patches = PATHS.flatMap((path) => {
    const value = kept[path.join(".")];
    if (value === undefined) return [];
    return [path.reduceRight<Json>((inner, name) => ({ [name]: inner }), value)];
  });
  const whole = patches.reduce(mergePatch, {});
  if (settingsSchema.safeParse(whole).success) return whole;
  const add = (document: Json, patch: Json): Json => {
    const next = mergePatch(document, patch);
    return settingsSchema.safeParse(next).success ? next : document;
  };
  return patches.reduce(add, patches.reduce(add, {})); // one may fit only with a later one
}

function leavesOf(value: Json, path: readonly string[] = []): readonly (readonly string[])[] {
  const members = isObject(value) ? Object.entries(value) : [];
  if (members.length === 0) return [path];
  return members.flatMap(([name, member]) => leavesOf(member as Json, [...path, name]));
}

function valueAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
    value,
  );
}

/** Unknown members one by one. */
function problemsOf(
  issue: Parameters<typeof problemOfIssue>[0] & { readonly keys?: readonly string[] },
) {
  const { keys, path } = issue;
  if (keys === undefined) return [problemOfIssue(issue)];
  return keys.map((key) =>
    problemOfIssue({ ...issue, path: [...path, key], message: "is not known" }),
  );
}

/** The target with the patch applied: null removes a member, an object goes into the one that is there, all else replaces. */
function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else if (value !== undefined) merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged); // defines members: no name of a prototype is special
}

/** Where the key of webhooks is: what is stored with the settings says only that there is one. */
const SECRET_ACCOUNT = "setting:notify.secret";
const SET = { $secret: true } as const;

/** The key of the webhooks that tell of failed runs; null: none was set. Rejects when the credential store cannot be read. */
export async function notifySecret(secrets: Pick<SecretStore, "get">): Promise<string | null> {
  const secret = await secrets.get(SECRET_ACCOUNT);
  return typeof secret === "string" ? secret : null;
}

/**
 * Puts the key of webhooks where keys are; whether there is one now. Throws `credential_store_unavailable`, and `value_invalid` for
 * settings that say so of one that was never set.
 */
async function keepSecret(
  { notify: before }: Settings,
  { notify: { secret } }: Settings,
  secrets: SecretStore,
): Promise<boolean> {
  if (secret !== null && typeof secret !== "string" && before.secret === null) {
    throw wrong("/notify/secret", "no key was set");
  }
  try {
    if (typeof secret === "string") await secrets.set(SECRET_ACCOUNT, secret);
    else if (secret === null && before.secret !== null) await secrets.delete(SECRET_ACCOUNT);
    return secret !== null;
  } catch (cause) {
    throw new ProblemError("credential_store_unavailable", { cause });
  }
}

function refused(errors: readonly Problem[]): ProblemError {
  return new ProblemError("value_invalid", { detail: "The settings are refused", errors });
}

function wrong(pointer: string, message: string): ProblemError {
  return refused([{ pointer, code: "invalid", message }]);
}

/** Defaults for a run of `graph`. The policy of the flow and the options of the request come first. */
export function runDefaults(
  { policy = {} }: Pick<FlowGraph, "policy">,
  { run }: Settings,
): Pick<RunSpec, "timeoutMs" | "onFailure" | "concurrency" | "confirm"> {
  const { timeoutMs, onFailure, concurrency, confirm } = run;
  return {
    timeoutMs: policy.timeoutMs === undefined ? (timeoutMs ?? undefined) : undefined,
    onFailure: policy.onFailure === undefined ? onFailure : undefined,
    concurrency: policy.concurrency === undefined ? concurrency : undefined,
    confirm: confirm === "ask" ? undefined : confirm,
  };
}

export const settingsHandlers: HandlerList = [
  wire("get_settings", async (_args, { host }) => tagged(await readSettings(host.store.settings))),
  wire("get_settings_schema", () => tagged(SETTINGS_SCHEMA)),
  wire("update_settings", async (args, { host, caller: { tokenId } }) =>
    tagged(await updateSettings(host, { ...args, tokenId })),
  ),
];

/**
 * One try to tell of a failed run.
 *   T1  A template runs once for a message: the id of its run is that of the message.
 *   T2  A webhook is signed as Standard Webhooks says, goes where the operator lets requests go, and follows no redirect.
 *   T3  The key is the operator's: it signs nothing for an origin that the settings do not name.
 */
import { createHmac } from "node:crypto";
import type { FetchLike, RunSpec } from "@millrace/contracts";
import type { Store } from "@millrace/store";
import { readSettings } from "../config/settings.ts";
import { specOfTemplate } from "../flows/stored-flows.ts";
import type { ServerHost } from "../ports.ts";
import type { Message } from "./windows.ts";

export interface SendParts {
  readonly store: Pick<Store, "templates" | "settings">;
  readonly executor: Pick<ServerHost["executor"], "start">;
  readonly egress: FetchLike;
  /** The key of signatures; null: none was set. Rejects when the credential store cannot be read. */
  readonly secret: () => Promise<string | null>;
}

/** A notice to send. `id` is the same in every try. */
export interface Sending {
  readonly id: string;
  readonly to: string;
  readonly message: Message;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Why a try has failed. `isFinal`: another one would fail as well. */
export interface SendFault {
  readonly reason: string;
  readonly isFinal: boolean;
  /** The problem of the template. */
  readonly text?: string;
}

/** How long a receiver may take. */
export const SEND_MS = 15_000;
const MAX_ANSWER_BYTES = 65_536;
const GONE = 410;
const SECRET_PREFIX = "whsec_";

/** Refusals that last until somebody changes the flow, the settings or the policy. */
const FINAL: ReadonlySet<unknown> = new Set(["flow_invalid", "input_invalid", "egress_denied"]);
/** Reasons of the network policy that may be different in the next try: they depend on the answer or on DNS. */
const PASSING = /^(?:redirects|redirect-downgrade|private-address|address-changed):/;

export function kindOf(to: string): "webhook" | "template" {
  return /^https?:/.test(to) ? "webhook" : "template";
}

/** Sends it; null: it was received. Never rejects. */
export async function send(sending: Sending, parts: SendParts): Promise<SendFault | null> {
  try {
    return await (kindOf(sending.to) === "webhook" ? post : runTemplate)(sending, parts);
  } catch (error) {
    const { code, message, diagnostics } = error as {
      readonly code?: unknown;
      readonly message?: unknown;
      readonly diagnostics?: readonly { readonly message: string }[];
    };
    if (code === "run_exists") return null;
    const text = diagnostics?.[0]?.message;
    const reason = typeof code === "string" ? code : "failed";
    const isFinal = FINAL.has(code) && !(code === "egress_denied" && PASSING.test(`${message}`));
    return { reason, isFinal, ...(text !== undefined && { text }) };
  }
}

/** The run that tells a message has its id. */
async function runTemplate(
  { id, to, message }: Sending,
  { store, executor }: SendParts,
): Promise<SendFault | null> {
  const template = await store.templates.get(to);
  if (template === null) return { reason: "not_found", isFinal: true };
  // The template takes what it has inputs for.
  const names = new Set(template.graph.inputs.map(({ name }) => name));
  const inputs = Object.fromEntries(Object.entries(message).filter(([name]) => names.has(name)));
  const source = { failedRunId: message.runId };
  const spec = await specOfTemplate(store, { slug: to }, { inputs, trigger: "notify", source });
  await executor.start({ ...(spec as RunSpec), runId: id.replace(/^msg_/, "run_") });
  return null;
}

async function post(
  { id, to, message, now, signal }: Sending,
  { egress, secret, store }: SendParts,
): Promise<SendFault | null> {
  const { notify } = await readSettings(store.settings);
  const origin = originOf(to);
  if (origin === null || origin !== originOf(notify.to))
    return { reason: "not_allowed", isFinal: true };
  const key = await secret();
  if (key === null) return { reason: "no_secret", isFinal: true };
  const body = JSON.stringify({ type: "run.failed", timestamp: message.time, data: message });
  const time = `${Math.floor(now / 1_000)}`;
  const done = new AbortController();
  try {
    const { ok, status } = await egress(to, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": time,
        "webhook-signature": signatureOf(key, `${id}.${time}.${body}`),
      },
      body,
      maxRedirects: 0,
      maxBytes: MAX_ANSWER_BYTES,
      signal: AbortSignal.any([signal, done.signal, AbortSignal.timeout(SEND_MS)]),
    });
    return ok ? null : { reason: `http_${status}`, isFinal: status === GONE };
  } finally {
    done.abort(); // nothing of the answer is read
  }
}

function originOf(url: string | null): string | null {
  return url !== null && kindOf(url) === "webhook" && URL.canParse(url)
    ? new URL(url).origin
    : null;
}

/** @see https://www.standardwebhooks.com */
function signatureOf(secret: string, signed: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}

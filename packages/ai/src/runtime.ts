/** State that the `ai` nodes of one engine share: providers, settings, circuits, and recently read keys. */
import {
  type AbortSignalLike,
  type AiCredentials,
  type AiProvider,
  type AiToolSource,
  type FetchLike,
  NodeError,
  type PricePerMillion,
} from "@millrace/contracts";
import { type EgressPolicy, SharedKey, type SharedParts } from "@millrace/engine";
import { Circuits } from "./circuit.ts";
import type { AiOptions } from "./options.ts";

const KEY_BYTES = 32; // of HMAC-SHA-256
const CREDENTIAL_MS = 60_000; // a key that was revoked is used no longer than this
const MOST_CREDENTIALS = 256;
const MOST_REQUEST_BYTES = 48 * 1024 * 1024; // a file of the largest size as base64, and messages around it
const MOST_MS = 3_600_000; // the most that `firstTokenMs`, `idleMs` and `totalMs` of a node may say

export class AiRuntime {
  readonly options: AiOptions;
  readonly circuits: Circuits;
  readonly hmacKey: Uint8Array;
  readonly sha256: (bytes: Uint8Array) => string;
  /** For calls of models; null: the host has no network. */
  readonly fetch: FetchLike | null;
  readonly #providers: ReadonlyMap<string, AiProvider>;
  readonly #credentials: Map<string, { readonly value: AiCredentials; readonly until: number }> =
    new Map();
  readonly #now: () => number;
  /** Runs that have used tools of servers. */
  readonly #runs: Set<string> = new Set();

  constructor({ host, egress, settings = {} }: SharedParts<AiOptions>) {
    const { providers = [] } = settings;
    this.options = settings;
    this.fetch = host.openFetch?.(policyOf(settings, egress)) ?? null;
    this.circuits = new Circuits(settings.circuit);
    this.hmacKey = settings.hmacKey ?? randomKey(host.random);
    this.sha256 = (bytes) => host.sha256(bytes);
    this.#providers = new Map(providers.map((provider) => [provider.id, provider]));
    this.#now = () => host.now();
  }

  /** Throws `NodeError` `provider_unavailable`. */
  provider(id: string): AiProvider {
    const provider = this.#providers.get(id);
    if (provider !== undefined) return provider;
    const known = [...this.#providers.keys()].join(", ") || "none";
    const text = `there is no provider "${id.slice(0, 64)}"; there are: ${known}`;
    throw new NodeError("provider_unavailable", text, { reason: "unavailable", sent: false });
  }

  /** The operator's price of a model, else the provider's. */
  price(
    { provider, modelId }: { readonly provider: string; readonly modelId: string },
    own?: PricePerMillion,
  ): PricePerMillion | undefined {
    const prices = this.options.prices ?? {};
    const name = `${provider}/${modelId}`;
    return Object.hasOwn(prices, name) ? prices[name] : own;
  }

  /** The credential of a target; `life` ends the wait for it. Throws what the port throws, and `credentials_missing` where a named one cannot be had. */
  async credentials(
    provider: string,
    reference: string | undefined,
    life: { readonly signal: AbortSignalLike },
  ): Promise<AiCredentials> {
    const port = this.options.credentials;
    if (port === undefined) {
      if (reference === undefined) return {};
      const text = `the credential ${reference} cannot be had: this engine has no credentials for providers`;
      throw new NodeError("credentials_missing", text, { reason: "auth" });
    }
    const key = credentialKey(provider, reference);
    const known = this.#credentials.get(key);
    if (known !== undefined && known.until > this.#now()) return known.value;
    const { signal } = life;
    const asked = { provider, ...(reference !== undefined && { reference }), signal };
    const value = await port.resolve(asked);
    this.#credentials.delete(key);
    this.#credentials.set(key, { value, until: this.#now() + CREDENTIAL_MS });
    for (const oldest of this.#credentials.keys()) {
      if (this.#credentials.size <= MOST_CREDENTIALS) break;
      this.#credentials.delete(oldest);
    }
    return value;
  }

  /** A credential that was refused is read anew. */
  forget(provider: string, reference: string | undefined): void {
    this.#credentials.delete(credentialKey(provider, reference));
  }

  /** The tools of servers, for a run; undefined: there are none. */
  toolSource(runId: string): AiToolSource | undefined {
    const source = this.options.tools;
    if (source?.endRun !== undefined) this.#runs.add(runId);
    return source;
  }

  endRun(runId: string): void {
    if (!this.#runs.delete(runId)) return;
    const { tools } = this.options;
    const end = async () => tools?.endRun?.(runId);
    void end().catch(() => undefined); // the source's own affair: the run has ended
  }
}

/** Key of the state that the `ai` nodes of an engine share. */
export const AI: SharedKey<AiRuntime, AiOptions> = new SharedKey((parts) => new AiRuntime(parts));

/** The policy, with the origins of models. A model may think for long: its node has limits of its own for that. */
function policyOf({ origins = [] }: AiOptions, egress: EgressPolicy): EgressPolicy {
  const allowed = origins.map((origin) => {
    const { hostname, port, protocol } = new URL(origin);
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    return { host, port: Number(port) || (protocol === "https:" ? 443 : 80) };
  });
  return {
    idleMs: MOST_MS,
    totalMs: MOST_MS,
    maxRequestBytes: MOST_REQUEST_BYTES,
    ...egress,
    allow: [...(egress.allow ?? []), ...allowed],
  };
}

function credentialKey(provider: string, reference: string | undefined): string {
  return `${provider} ${reference ?? ""}`;
}

function randomKey(random: () => number): Uint8Array {
  return Uint8Array.from({ length: KEY_BYTES }, () => Math.floor(random() * 256));
}

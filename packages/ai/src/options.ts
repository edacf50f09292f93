/** Settings of the operator for the `ai` nodes of an engine. */
import type {
  AiCredentialsPort,
  AiProvider,
  AiToolSource,
  PricePerMillion,
} from "@millrace/contracts";

/** Settings of `ai` nodes; every one may be absent. */
export interface AiOptions {
  /** Models that `ai` nodes may name by their provider; absent: none (`provider_unavailable`). */
  readonly providers?: readonly AiProvider[];
  /** Provider of a node that names none. */
  readonly defaultProvider?: string;
  /** Model by provider, for a node that names none. */
  readonly defaultModels?: { readonly [provider: string]: string };
  /** Where keys come from; absent: providers get none, and a node that names a credential fails with `credentials_missing`. */
  readonly credentials?: AiCredentialsPort;
  /** Tools of servers; absent: there are none. */
  readonly tools?: AiToolSource;
  /**
   * Origins that models may be called at beside what the egress policy permits, such as a server on this very machine:
   * `http://127.0.0.1:8080`. What the policy denies stays denied.
   */
  readonly origins?: readonly string[];
  readonly circuit?: CircuitOptions;
  /** Prices by `provider/modelId`, before those that providers know. */
  readonly prices?: { readonly [model: string]: PricePerMillion };
  /** 32 random bytes of the installation, under which prompts are digested; default new ones for each engine. */
  readonly hmacKey?: Uint8Array;
}

/** When a model that keeps failing is left alone for a while. */
export interface CircuitOptions {
  /** Failures within `windowMs` that open it; default 5. */
  readonly failures?: number;
  /** Default 60,000. */
  readonly windowMs?: number;
  /** How long it stays open before one call may try; default 30,000. */
  readonly coolDownMs?: number;
}

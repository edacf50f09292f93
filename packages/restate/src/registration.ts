/** Tells Restate where the servers are. */
import { DispatcherError } from "@millrace/contracts";
import { sleep } from "@millrace/contracts/kit";
import type { Settings } from "./options.ts";
import { VERSION_PATH } from "./service.ts";

const ANSWER_MS = 10_000; // the admin asks the endpoint before it answers
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 5_000;

export class Registration {
  readonly #settings: Settings;
  readonly #stopped = new AbortController();
  #isDone = false;
  #attempt: Promise<void> | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Whether an admin took it the last time. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Registers in the background, until an admin takes it. */
  start(): void {
    void this.#persist();
  }

  /** Registers now, once for all that ask at the same time. Rejects with `dispatcher_unavailable`. */
  now(): Promise<void> {
    this.#attempt ??= this.#register().finally(() => {
      this.#attempt = undefined;
    });
    return this.#attempt;
  }

  /** Ends what `start` began. */
  stop(): void {
    this.#stopped.abort();
  }

  async #persist(): Promise<void> {
    const { log, endpoint } = this.#settings;
    for (let failures = 0; !this.#stopped.signal.aborted; failures += 1) {
      try {
        return await this.now();
      } catch (error) {
        if (failures === 0) log?.warn({ endpoint, err: error }, "restate.not_registered");
      }
      const ms = Math.min(FIRST_RETRY_MS * 2 ** failures, MAX_RETRY_MS);
      await sleep(ms, this.#stopped.signal).catch(() => {});
    }
  }

  async #register(): Promise<void> {
    const causes: string[] = [];
    for (const admin of this.#settings.admin) {
      const problem = await this.#ask(admin);
      if (problem === undefined) {
        this.#isDone = true;
        return;
      }
      causes.push(problem);
    }
    this.#isDone = false;
    const text = `no admin of Restate took the endpoint: ${causes.join("; ")}`;
    throw new DispatcherError("dispatcher_unavailable", text);
  }

  /** The problem, undefined: none. */
  async #ask(admin: string): Promise<string | undefined> {
    const { fetch, endpoint } = this.#settings;
    const signals = [AbortSignal.timeout(ANSWER_MS), this.#stopped.signal];
    try {
      const response = await fetch(`${admin}/deployments`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ uri: `${endpoint}${VERSION_PATH}`, force: false }),
        redirect: "error",
        signal: AbortSignal.any(signals),
      });
      const text = await response.text();
      // 409: the address is registered, by another server or by this one in its life before.
      if (response.ok || response.status === 409) return undefined;
      return `${admin} answered ${response.status} ${messageOf(text)}`;
    } catch (error) {
      return `${admin}: ${(error as Error).message}`;
    }
  }
}

const MAX_MESSAGE = 300;

function messageOf(body: string): string {
  try {
    const { message } = JSON.parse(body) as { readonly message?: unknown };
    return String(message).slice(0, MAX_MESSAGE);
  } catch {
    return "";
  }
}

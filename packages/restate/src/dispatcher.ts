/**
 * Restate as the dispatcher of several servers: one virtual object for each run, which Restate calls at one server at a time.
 *   R1  Nothing of a run but its id goes to Restate.
 *   R2  A ring is taken when an ingress has stored it; Restate keeps it through the death of any server.
 *   R3  The journal of a call holds its begin and its end: a drive that is repeated depends on nothing that Restate replays.
 */
import {
  Again,
  type Dispatcher,
  DispatcherError,
  type Drive,
  type DriveResult,
  type RingOptions,
} from "@millrace/contracts";
import { Drives } from "./drives.ts";
import { type Endpoint, openEndpoint } from "./endpoint.ts";
import { Ingress } from "./ingress.ts";
import { type RestateDispatcherOptions, readSettings, type Settings } from "./options.ts";
import { Registration } from "./registration.ts";

/**
 * The dispatcher over a cluster of Restate. `ring` sends the id of the run to an ingress; `serve` listens for calls and registers
 * the endpoint in the background. Throws `TypeError` for options that are wrong. Restate's SDK is loaded by `serve`.
 */
export function createRestateDispatcher(options: RestateDispatcherOptions): Dispatcher {
  return new RestateDispatcher(readSettings(options));
}

class RestateDispatcher implements Dispatcher {
  readonly #settings: Settings;
  readonly #ingress: Ingress;
  readonly #registration: Registration;
  #unwatch = (): void => {};
  #drives: Drives | undefined;
  #endpoint: Promise<Endpoint> | undefined;
  #closed: Promise<void> | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#ingress = new Ingress(settings);
    this.#registration = new Registration(settings);
  }

  get condition(): "ok" | "degraded" {
    const isRegistered = this.#drives === undefined || this.#registration.isDone;
    return isRegistered && this.#ingress.takes ? "ok" : "degraded";
  }

  async ring(runId: string, { delayMs = 0 }: RingOptions = {}): Promise<void> {
    this.#checkOpen();
    await this.#send(runId, delayMs);
  }

  async serve(drive: Drive): Promise<void> {
    this.#checkOpen();
    if (this.#drives !== undefined) {
      throw new DispatcherError("dispatcher_serves", "the dispatcher serves a drive already");
    }
    const drives = new Drives(drive, this.#settings.maxDrives);
    this.#drives = drives;
    this.#endpoint = openEndpoint(this.#settings, (runId, lost) => this.#call(drives, runId, lost));
    await this.#endpoint;
    this.#registration.start();
    this.#unwatch = this.#ingress.watch();
  }

  close({ graceMs = 0 }: { readonly graceMs?: number | undefined } = {}): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<void> {
    this.#unwatch();
    this.#registration.stop();
    const endpoint = await this.#endpoint?.catch(() => undefined);
    endpoint?.leave();
    await this.#drives?.close(graceMs);
    await endpoint?.close();
  }

  /** One drive; a time that it names is stored as a ring before the call ends. */
  async #call(drives: Drives, runId: string, lost: AbortSignal): Promise<DriveResult> {
    try {
      const result = await drives.call(runId, lost);
      if (result !== "done") await this.#send(runId, result.again);
      return result;
    } catch (error) {
      if (!lost.aborted && !Again.isInstance(error)) {
        this.#settings.log?.warn({ runId, err: error }, "run.drive_failed");
      }
      throw error;
    }
  }

  #send(runId: string, delayMs: number): Promise<void> {
    return this.#ingress.send(runId, { delayMs, register: () => this.#registration.now() });
  }

  #checkOpen(): void {
    if (this.#closed === undefined) return;
    throw new DispatcherError("dispatcher_closed", "the dispatcher is closed");
  }
}

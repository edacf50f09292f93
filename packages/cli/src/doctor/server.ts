/** Checks of the server that was named. Its public state is asked for, so that no token travels. */

import { serverBase } from "../api/server-url.ts";
import { CliError } from "../errors.ts";
import { clean } from "../output/text.ts";
import { type Check, type DoctorContext, fail, ok, warn } from "./check.ts";

const PATIENCE_MS = 5_000;
/** Beyond this, schedules and deadlines of the server are not what a person here reads. */
const MAX_SKEW_MS = 30_000;
const API_VERSION = "1";

/** An answer of the server, asked for once. */
interface Answer {
  readonly origin: string;
  readonly status: number;
  readonly version: string | null;
  readonly isState: boolean;
  /** Epoch milliseconds of the server, undefined where it does not say. */
  readonly date: number | undefined;
  /** Epoch milliseconds here, in the middle of the request. */
  readonly here: number;
}

const asked = new WeakMap<DoctorContext, Promise<Answer | CliError>>();

export const serverReachable: Check = {
  name: "server",
  async look(context) {
    if (context.server === "") return [];
    const answer = await ask(context);
    if (answer instanceof CliError) {
      return fail(answer.message, "start it, or name another with --server or server.url");
    }
    const { origin, status, version, isState } = answer;
    if (!isState) {
      return fail(
        `${origin} answered ${status}, and not as a Millrace server does`,
        "look at the address: another program answers there",
      );
    }
    if (version !== null && version !== API_VERSION) {
      return fail(
        `${origin} speaks version ${clean(version.slice(0, 20))} of the API`,
        "install the version of millrace that the server has",
      );
    }
    return ok(`${origin} answers`);
  },
};

export const clockSkew: Check = {
  name: "clock",
  async look(context) {
    if (context.server === "") return [];
    const answer = await ask(context);
    if (answer instanceof CliError || answer.date === undefined) return [];
    const skew = answer.date - answer.here;
    if (Math.abs(skew) <= MAX_SKEW_MS) return ok("the clocks agree");
    const seconds = Math.round(Math.abs(skew) / 1_000);
    return warn(
      `the clock of ${answer.origin} is ${seconds} s ${skew > 0 ? "ahead" : "behind"}`,
      "set both clocks by the network: schedules, deadlines and tokens go by them",
    );
  },
};

function ask(context: DoctorContext): Promise<Answer | CliError> {
  const before = asked.get(context);
  if (before !== undefined) return before;
  const answer = request(context).catch((error: unknown) => {
    if (error instanceof CliError) return error;
    throw error;
  });
  asked.set(context, answer);
  return answer;
}

async function request({ server, io }: DoctorContext): Promise<Answer> {
  const base = serverBase(server);
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(PATIENCE_MS)]);
  const start = io.now();
  try {
    const response = await io.fetch(new URL("api/health", base).href, {
      redirect: "manual",
      signal,
    });
    const here = (start + io.now()) / 2;
    const text = await response.text();
    const date = Date.parse(response.headers.get("date") ?? "");
    return {
      origin: base.origin,
      status: response.status,
      version: response.headers.get("millrace-api-version"),
      isState: response.status < 300 && isState(text),
      date: Number.isNaN(date) ? undefined : date,
      here,
    };
  } catch (error) {
    const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
    const why = signal.aborted
      ? `did not answer within ${PATIENCE_MS / 1_000} s`
      : `cannot be reached (${cause?.code ?? "no connection"})`;
    throw new CliError("unavailable", `${base.origin} ${why}`);
  }
}

function isState(text: string): boolean {
  try {
    return typeof (JSON.parse(text) as { readonly status?: unknown }).status === "string";
  } catch {
    return false;
  }
}

/** Checks of what answers here and elsewhere: the server that was named, the credential store, the providers of models. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { serverBase } from "../../api/server-url.ts";
import { readCredentials } from "../../config/sections.ts";
import { CliError } from "../../errors.ts";
import { clean } from "../../output/text.ts";
import { BIN } from "../../self.ts";
import {
  type Check,
  type DoctorContext,
  type Finding,
  fail,
  ok,
  once,
  orCliError,
  usableConfig,
  warn,
} from "./check.ts";

const ANSWER_MS = 5_000;
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

const ask = once((context) => request(context).catch(orCliError));

/** Whether the server that is configured answers; nothing where none is. */
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

/** Whether the clock of that server and the one here agree. */
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

async function request({ server, io }: DoctorContext): Promise<Answer> {
  const base = serverBase(server);
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(ANSWER_MS)]);
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
      ? `did not answer within ${ANSWER_MS / 1_000} s`
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

/** With the start of a process, which takes seconds on a machine that does much else. */
const STORE_MS = 10_000;
const OTHERS =
  "millrace config set credentials.store file --user keeps them in an encrypted file; credentials.key names its key";

/** Problem found by a try: "" for none, undefined when it did not end in time. */
type Told = string | undefined;

const tries = new WeakMap<DoctorContext, Promise<Told>>();

/** Whether the store was tried and did not answer: later checks must not wait for it again. */
async function storeHangs(context: DoctorContext): Promise<boolean> {
  const told = tries.get(context);
  return told !== undefined && (await told) === undefined;
}

/** Whether the store of credentials that is chosen can be opened, and where its key is. */
export const credentialStore: Check = {
  name: "credentials",
  async look(context) {
    const { sources, io, data } = context;
    if (sources instanceof Error) return [];
    const chosen = sources.value("credentials.store");
    const isChosen = sources.origins("credentials.store")[0]?.source !== "default";
    const bad = isChosen ? fail : warn;
    if (!isChosen && sources.value("store.url") !== undefined) {
      return ok("the store that servers share has them"); // another place would be each server's own
    }
    try {
      const key = sources.value("credentials.key");
      const folder = sources.project === undefined ? io.cwd : dirname(sources.project.file.path);
      const section = { store: chosen, ...(key !== undefined && { key }) };
      const { store, keyPlace } = readCredentials(section, { home: data, folder }, io);
      if (store === "file" && isAbsolute(keyPlace) && !existsSync(keyPlace)) {
        const file = join(data, "credentials.json");
        if (!existsSync(file)) return ok(`file: empty; the first entry makes its key ${keyPlace}`);
        return fail(
          `${file} is there, and its key is not: ${keyPlace}`,
          "put the key back, set MILLRACE_CREDENTIAL_KEY, or let credentials.key name it",
        );
      }
      if (store === "memory") {
        return warn(
          "memory: what is stored ends with the process",
          "set credentials.store to os or file",
        );
      }
      const attempt = tryInChild([store, data, String(key ?? ""), folder], io);
      tries.set(context, attempt);
      const told = await attempt;
      if (told === undefined) {
        return fail(
          `the store "${store}" did not answer within ${STORE_MS / 1_000} s`,
          `unlock it; or ${OTHERS}`,
        );
      }
      return told === ""
        ? ok(
            `${store}: written, read and deleted a probe${store === "file" ? `; its key: ${keyPlace}` : ""}`,
          )
        : bad(`${store}: ${told}`, OTHERS);
    } catch (error) {
      if (error instanceof CliError) return fail(error.message, OTHERS);
      throw error;
    }
  },
};

function tryInChild(words: readonly string[], io: DoctorContext["io"]): Promise<Told> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, "__probe-credentials", ...words], {
      env: { ...io.env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let told = "";
    let killed = false;
    const timer = setTimeout(() => {
      killed = true;
      child.kill("SIGKILL");
    }, STORE_MS);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      told += text;
    });
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve(
        killed ? undefined : code === 0 ? "" : told.trim().replace(/^error: /, "") || "it failed",
      );
    });
  });
}

/** Whether each provider of the configuration has its key; no key is read out. */
export const providerKeys: Check = {
  name: "providers",
  async look(context) {
    if (await storeHangs(context)) {
      return warn("not looked at, since keys are in the credential store", "mend that store first");
    }
    const config = await usableConfig(context);
    if (config === undefined) return [];
    const { io } = context;
    const [{ openAi, aiSettings }, { runCredentials }, { createNodeHost }, { keyState, modelsOf }] =
      await Promise.all([
        import("../../ai/open-ai.ts"),
        import("../../run/credentials.ts"),
        import("@millrace/engine/node"),
        import("../../ai/keys.ts"),
      ]);
    const named = Object.keys(aiSettings(config).providers);
    if (named.length === 0) return ok("none is configured");
    const credentials = runCredentials({ ...config, services: [] }, () => io.now());
    const setup = openAi(config, credentials.port, io, createNodeHost());
    try {
      const found: Finding[] = [];
      for (const id of named) {
        const provider = setup.providers.find((each) => each.id === id);
        if (provider === undefined) continue;
        found.push(
          await finding(id, async () => {
            const key = await keyState(setup, id, io);
            if (key === "missing" || !context.live) return key;
            return (await modelsOf(provider, setup, config, io)).length;
          }),
        );
      }
      return found;
    } finally {
      await setup.close();
      await credentials.close();
    }
  },
};

async function finding(id: string, look: () => Promise<string | number>): Promise<Finding> {
  try {
    const found = await look();
    if (found === "missing") {
      return {
        status: "warn",
        says: `${id} has no key`,
        fix: `millrace secrets set ai:${id}, or set providers.${id}.credential to env:NAME and the variable`,
      };
    }
    const says =
      typeof found === "number"
        ? `answers and has ${found} models`
        : found === "none"
          ? "needs no key"
          : "has a key";
    return { status: "ok", says: `${id} ${says}` };
  } catch (error) {
    return {
      status: "fail",
      says: `${id}: ${(error as Error).message}`,
      fix: `millrace providers test ${id}`,
    };
  }
}

// The credential store of the system: a first get, which starts the helper process, beside one that finds it running. On
// Linux in a session of its own with an unlocked keyring, elsewhere in the user's store under a service name of the bench.
import { channel } from "node:diagnostics_channel";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { osCredentialStore } from "@millrace/oauth/store/os";

const service = "millrace-bench";
const ACCOUNT = "service:tracker";
const VALUE = JSON.stringify({ access_token: "a".repeat(900), token_type: "Bearer", scope: "" });
const UNLOCK =
  'printf %s bench | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1; exec "$@"';
const isLinux = process.platform === "linux";

/** Command line and environment in which the cell finds a store; `missing` says why there is none. */
function session(command) {
  if (!isLinux) return { command, env: process.env, end: () => {} };
  const isThere = (program) =>
    (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
  const missing = ["dbus-run-session", "gnome-keyring-daemon"].filter((name) => !isThere(name));
  if (missing.length > 0) return { missing: `no ${missing.join(", no ")} on this machine` };
  const home = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  mkdirSync(join(home, "run"), { mode: 0o700 });
  const { DISPLAY: _screen, WAYLAND_DISPLAY: _other, ...rest } = process.env;
  const env = { ...rest, HOME: home, XDG_RUNTIME_DIR: join(home, "run"), XDG_DATA_HOME: home };
  return {
    command: ["dbus-run-session", "--", "sh", "-c", UNLOCK, "sh", ...command],
    env,
    end: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** How many child processes were started since it was made. */
function startedProcesses() {
  let count = 0;
  channel("child_process").subscribe(() => {
    count += 1;
  });
  return () => count;
}

async function timedGet(store) {
  const from = performance.now();
  const value = await store.get(ACCOUNT);
  const ms = performance.now() - from;
  if (value !== VALUE) throw new Error("the store gives another value");
  return ms;
}

async function prepare() {
  const store = osCredentialStore({ service });
  await store.set(ACCOUNT, VALUE);
  let mostForAbsent = 0;
  const started = startedProcesses();
  const cold = async () => {
    const another = osCredentialStore({ service });
    const before = started();
    await another.get("service:absent");
    mostForAbsent = Math.max(mostForAbsent, started() - before);
    const ms = await timedGet(another);
    if (started() === before) throw new Error("a first get started no helper");
    await another[Symbol.asyncDispose]();
    return ms;
  };
  const warm = async () => {
    await store.get(ACCOUNT); // an idle helper may have ended
    return timedGet(store);
  };
  return {
    contenders: { "cold get": cold, millrace: warm },
    facts: () =>
      isLinux ? { "processes started for an absent entry": { value: mostForAbsent, bar: 0 } } : {},
    close: async () => {
      await store.delete(ACCOUNT);
      await store[Symbol.asyncDispose]();
    },
  };
}

export const osStoreCases = {
  "OS store": {
    what: "a get that finds the helper process running; `cold get`: one that starts it",
    bars: { "cold get": 0.2 },
    samples: 9,
    session,
    prepare,
  },
};

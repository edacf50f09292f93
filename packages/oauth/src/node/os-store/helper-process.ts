/**
 * The process in which native credential libraries run, seen from the process that must not hang, block or crash with them.
 *   P1  A secret travels over stdin and stdout only; the helper gets no argument and an environment of known names.
 *   P2  Every request settles: answered, or failed when the helper answered nothing for the time limit, ended, or wrote what is
 *       no answer. Then the helper is killed, and the next request starts another.
 *   P3  An idle helper does not keep this process alive; a pending request does.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { credentialFailure, MAX_VALUE_BYTES, OTHER_STORE } from "../credential-failure.ts";

/** The native libraries: `keytar` is the package of that name, `napi` is `@napi-rs/keyring`. */
export type BackendName = "keytar" | "napi";

/** A request to the helper. `value` is never written anywhere else. */
export interface HelperRequest {
  readonly op: "open" | "get" | "set" | "delete" | "list";
  readonly backend?: BackendName;
  readonly service?: string;
  readonly account?: string;
  readonly value?: string;
  readonly resolveFrom?: string | undefined;
}

/** For each library null when it can be used, else why not. */
export type Loaded = Readonly<Partial<Record<BackendName, string | null>>>;

/** A native library said no; `message` is its own, and not for display. */
export class NativeError extends Error {
  override readonly name = "NativeError";
}

/** Without a request for so long the helper ends: a flow that asks again soon finds it warm. */
const IDLE_MS = 5_000;
/** Longest answer: a value whose every byte is escaped. */
const MAX_ANSWER_CHARACTERS = 8 * MAX_VALUE_BYTES;

/**
 * What the libraries need to find the user's session and keychain. Not among them: `NODE_OPTIONS` and whatever else changes
 * what the helper runs, and everybody's secrets.
 */
const ENVIRONMENT = [
  "PATH HOME USER LOGNAME LANG LC_ALL TMPDIR",
  "DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR XDG_DATA_HOME XDG_CONFIG_HOME XDG_CURRENT_DESKTOP",
  "DISPLAY WAYLAND_DISPLAY XAUTHORITY", // where the desktop asks for a password
  "SystemRoot windir USERPROFILE APPDATA LOCALAPPDATA USERNAME USERDOMAIN TEMP TMP",
].flatMap((names) => names.split(" "));

interface Waiting {
  readonly id: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** One running helper and the requests that it has not answered, oldest first. */
interface Session {
  readonly child: Child;
  readonly waiting: Waiting[];
  readonly ended: Promise<void>;
  loaded: Promise<unknown>;
  last: Promise<unknown>;
  buffer: string;
  timer: NodeJS.Timeout | undefined;
}

/** Which helper is started; `resolveFrom`: a folder where the libraries are looked for first. */
interface HelperOptions {
  readonly script: URL;
  readonly timeoutMs: number;
  readonly resolveFrom?: string | undefined;
}

/** Starts the helper for the first request and ends it when it is idle. */
export class HelperProcess {
  readonly #options: HelperOptions;
  #session: Session | undefined;
  #lastId = 0;

  constructor(options: HelperOptions) {
    this.#options = options;
  }

  /** Which libraries the helper could load. */
  async loaded(): Promise<Loaded> {
    this.#session ??= this.#start();
    return ((await this.#session.loaded) ?? {}) as Loaded;
  }

  /** The `value` of the answer. Throws `NativeError`, or `OAuthError` of kind `Credential` when there is no answer. */
  request(request: HelperRequest): Promise<unknown> {
    this.#session ??= this.#start();
    return this.#send(this.#session, request);
  }

  /** Waits for pending requests, then ends the helper. */
  async close(): Promise<void> {
    const session = this.#session;
    if (!session) return;
    await session.last.catch(() => {});
    for (const handle of handlesOf(session)) handle.ref();
    this.#end(session);
    await session.ended;
  }

  #send(session: Session, request: HelperRequest): Promise<unknown> {
    const id = ++this.#lastId;
    session.last = new Promise((resolve, reject) => {
      session.waiting.push({ id, resolve, reject });
    });
    session.child.stdin.write(`${JSON.stringify({ id, ...request })}\n`);
    if (session.waiting.length === 1) this.#watch(session);
    return session.last;
  }

  #start(): Session {
    const { script, resolveFrom } = this.#options;
    const child = spawnHelper(fileURLToPath(script));
    const ended = new Promise<void>((resolve) => {
      child.once("close", resolve);
      child.once("error", () => resolve());
    });
    const none = Promise.resolve();
    const session: Session = {
      child,
      waiting: [],
      ended,
      loaded: none,
      last: none,
      buffer: "",
      timer: undefined,
    };
    child.stdin.on("error", () => {}); // the helper ended; that is told below
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text: string) => this.#read(session, text));
    void ended.then(() => this.#fail(session, existsSync(script) ? crashed() : missing(script)));
    session.loaded = this.#send(session, { op: "open", resolveFrom });
    session.loaded.catch(() => {}); // every reader of `loaded` gets the error
    return session;
  }

  #read(session: Session, text: string): void {
    session.buffer += text;
    for (let end = session.buffer.indexOf("\n"); end >= 0; end = session.buffer.indexOf("\n")) {
      const line = session.buffer.slice(0, end);
      session.buffer = session.buffer.slice(end + 1);
      if (!this.#settle(session, line)) {
        this.#fail(session, crashed());
        return;
      }
    }
    if (session.buffer.length > MAX_ANSWER_CHARACTERS) this.#fail(session, crashed());
  }

  /** Settles the oldest request with its answer; false when the line is not an answer to it. */
  #settle(session: Session, line: string): boolean {
    const answer = parseAnswer(line);
    if (!answer || answer.id !== session.waiting[0]?.id) return false;
    const { resolve, reject } = session.waiting.shift() as Waiting;
    if (answer.error === undefined) resolve(answer.value);
    else reject(new NativeError(answer.error));
    this.#watch(session);
    return true;
  }

  /** While something is asked: a limit until the next answer. Else: a while, then the end. */
  #watch(session: Session): void {
    clearTimeout(session.timer);
    const oldest = session.waiting[0];
    for (const handle of handlesOf(session)) {
      if (oldest) handle.ref();
      else handle.unref();
    }
    if (!oldest) {
      session.timer = setTimeout(() => this.#end(session), IDLE_MS).unref();
      return;
    }
    const { timeoutMs } = this.#options;
    const giveUp = () => {
      if (session.waiting[0] === oldest) this.#fail(session, timedOut(timeoutMs));
    };
    // An answer that came while this process was busy itself is read before the limit counts.
    session.timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
  }

  #fail(session: Session, error: Error): void {
    this.#end(session);
    for (const { reject } of session.waiting.splice(0)) reject(error);
  }

  #end(session: Session): void {
    clearTimeout(session.timer);
    if (this.#session === session) this.#session = undefined;
    session.child.kill("SIGKILL");
  }
}

/** Starts it. Throws when the system has no room for another process, or for its pipes. */
function spawnHelper(path: string): Child {
  try {
    const child = spawn(process.execPath, [path], {
      cwd: dirname(path), // ours may be gone
      env: environment(),
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    });
    child.on("error", () => {}); // "close" rejects the requests
    // Out of files Node gives a child without pipes, whatever its type says.
    if ((child.stdin as Writable | undefined) && (child.stdout as Readable | undefined))
      return child;
  } catch {
    // Without memory, for one: the next request tries again.
  }
  throw crashed();
}

/** The handles that keep this process alive while a helper runs. */
function handlesOf({ child }: Session): { ref(): void; unref(): void }[] {
  return [child, child.stdin as Socket, child.stdout as Socket];
}

function environment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ELECTRON_RUN_AS_NODE: "1" };
  for (const name of ENVIRONMENT) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

function parseAnswer(line: string): { id: number; value?: unknown; error?: string } | undefined {
  try {
    const { id, value, error } = JSON.parse(line);
    if (typeof id !== "number" || (error !== undefined && typeof error !== "string"))
      return undefined;
    return { id, value, error };
  } catch {
    return undefined; // and never its text: it may be a secret
  }
}

function timedOut(timeoutMs: number): Error {
  return credentialFailure(
    `the credential store of the system did not answer within ${timeoutMs / 1000} s`,
    `Unlock it, or answer what the desktop asks, and try again; ${OTHER_STORE}`,
    { reason: "helper_timeout" },
  );
}

function missing(script: URL): Error {
  return credentialFailure(
    `the program that asks the credential store of the system is missing: ${fileURLToPath(script)}`,
    `In a bundle, put helper.js of @millrace/oauth beside it and give its place as \`helperUrl\`; ${OTHER_STORE}`,
    { reason: "helper_crash" },
  );
}

function crashed(): Error {
  return credentialFailure(
    "the process that asks the credential store of the system broke down",
    `Try again; ${OTHER_STORE}`,
    { reason: "helper_crash" },
  );
}

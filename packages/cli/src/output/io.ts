/** Streams, environment, clock and network of one invocation. All are injected, so that a test can replace them. */

import type { Readable, Writable } from "node:stream";
import { isReaderGone } from "./stdout.ts";

/** The variables that the command itself reads. Of npm_command, `exec` is npx. */
type Variable =
  | ("APPDATA" | "LOCALAPPDATA" | "HOME" | "XDG_CONFIG_HOME" | "XDG_DATA_HOME")
  | ("CI" | "FORCE_COLOR" | "NO_COLOR" | "TERM" | "LANG" | "LC_ALL" | "LC_CTYPE" | "npm_command")
  | `MILLRACE_${"HOME" | "DEBUG" | "PORT" | "SERVER_URL" | "TOKEN" | "TRUST_PROJECT"}`
  | `MILLRACE_${"CREDENTIAL_KEY" | "MODELS_DIR"}`;

/** The environment; the variables that the command itself reads are named. */
export type Environment = { readonly [name: string]: string | undefined } & {
  readonly [name in Variable]?: string | undefined;
};

/** Where a process stands, for whatever reads files. */
export interface Surroundings {
  readonly env: Environment;
  /** Absolute working directory. */
  readonly cwd: string;
}

/** Streams, environment and clock of one invocation. */
export interface CliIo extends Surroundings {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether each stream is a terminal. */
  readonly isTTY: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** Size of the terminal behind a stream, by default stderr; 0 or undefined (as under `script`) counts as 80 by 24. */
  size(stream?: "stdout" | "stderr"): {
    readonly columns: number | undefined;
    readonly rows: number | undefined;
  };
  /** Epoch milliseconds. */
  now(): number;
  /** Asks the server that was named. What a flow reaches goes through the egress client instead. */
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** Aborts on the first SIGINT or SIGTERM; its `reason` is `"sigint"` or `"sigterm"`. */
  readonly signal: AbortSignal;
}

/** Where a command's data goes: one stream, awaited, and quiet after the reader has left. */
export interface Output {
  /** Resolves when the text is handed over; false once the reader is gone (EPIPE). */
  write(text: string | Uint8Array): Promise<boolean>;
  readonly closed: boolean;
  /** Why text was lost, such as a full disk; undefined after EPIPE, which loses nothing. */
  readonly failure: NodeJS.ErrnoException | undefined;
  /** Called once when the reader leaves. */
  onClose(listener: () => void): void;
}

/** Wraps a stream so that nothing is lost under back-pressure and nothing is thrown after EPIPE. */
export function createOutput(stream: Writable): Output {
  const listeners: (() => void)[] = [];
  let closed = false;
  let failure: NodeJS.ErrnoException | undefined;
  const close = (error?: NodeJS.ErrnoException | null): void => {
    if (error && !isReaderGone(error)) failure ??= error;
    if (closed) return;
    closed = true;
    for (const listener of listeners) listener();
  };
  stream.on("error", close);
  stream.on("close", () => close());
  return {
    get closed() {
      return closed;
    },
    get failure() {
      return failure;
    },
    onClose(listener) {
      if (closed) listener();
      else listeners.push(listener);
    },
    write(text) {
      if (closed) return Promise.resolve(false);
      return new Promise((resolve) => {
        stream.write(text, (error) => {
          if (error) close(error);
          resolve(!error);
        });
      });
    },
  };
}

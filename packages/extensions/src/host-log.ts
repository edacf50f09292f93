/** What an extension tells outside of any run: warnings alone, without the secrets it has seen, and not without end. */
import type { HostContext } from "@millrace/contracts";
import { Redactor } from "@millrace/engine/pack";

const LINES_A_SECOND = 100; // a log is read by people
const MAX_TEXT = 2_048; // characters of a line; what is longer is data

/** The log of one extension. */
export interface HostLog {
  readonly log: HostContext["log"];
  /** A secret that no line shows from here on. */
  learn(secret: string): void;
  /** A text without them. */
  clean(text: string): string;
}

export function createHostLog(warn: (code: string, text: string) => void): HostLog {
  const redactor = new Redactor();
  let second = 0;
  let lines = 0;
  return {
    learn: (secret) => redactor.add(secret),
    clean: (text) => redactor.clean(text),
    log(level, text: unknown) {
      if ((level !== "warn" && level !== "error") || typeof text !== "string") return;
      const now = Math.floor(Date.now() / 1_000);
      if (now !== second) lines = 0;
      second = now;
      lines += 1;
      if (lines > LINES_A_SECOND) return;
      const isLast = lines === LINES_A_SECOND;
      warn(
        "extension_log",
        isLast ? "more lines of this second are dropped" : redactor.clean(text).slice(0, MAX_TEXT),
      );
    },
  };
}

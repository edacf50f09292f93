/** Log of an extension outside of any run: warnings only, at a limited rate, without the secrets it has seen. */
import type { HostContext } from "@millrace/contracts";
import { Redactor } from "@millrace/engine/pack";
import { limitLines } from "./output-lines.ts";

const LINES_A_SECOND = 100; // a log is read by people
const MAX_TEXT = 2_048; // characters of a line; what is longer is data

export interface HostLog {
  readonly log: HostContext["log"];
  /** A secret that no line shows from here on. */
  learn(secret: string): void;
  /** A text without them. */
  clean(text: string): string;
}

export function createHostLog(warn: (code: string, text: string) => void): HostLog {
  const redactor = new Redactor();
  const limit = limitLines(LINES_A_SECOND);
  return {
    learn: (secret) => redactor.add(secret),
    clean: (text) => redactor.clean(text),
    log(level, text: unknown) {
      if ((level !== "warn" && level !== "error") || typeof text !== "string") return;
      const shown = limit(text);
      if (shown !== undefined) warn("extension_log", redactor.clean(shown).slice(0, MAX_TEXT));
    },
  };
}

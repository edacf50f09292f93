/** What handlers of a window throw is told, and stops nobody. */
import type { OptionNames } from "../options.ts";

/** Options of every transport. */
export interface TransportOptions {
  /** Told what a handler has thrown. Default: `reportError` where there is one, else it is an uncaught exception. */
  readonly report?: (error: unknown) => void;
}

export const TRANSPORT_OPTIONS: OptionNames<TransportOptions> = { report: true };

/** Calls a handler of somebody else. */
export type CallHandler = <T>(handler: (value: T) => void, value: T) => void;

/** Makes the caller of handlers. */
export function createCaller({ report = reportUncaught }: TransportOptions): CallHandler {
  return (handler, value) => {
    try {
      handler(value);
    } catch (error) {
      report(error);
    }
  };
}

function reportUncaught(error: unknown): void {
  const { reportError } = globalThis as { reportError?: (error: unknown) => void };
  if (reportError !== undefined) reportError(error);
  else
    queueMicrotask(() => {
      throw error;
    });
}

/**
 * A server on the standard streams: one JSON value a line, each way, and nothing else on stdout.
 *   S1  The end of stdin is the end of the window: its calls are cancelled, its runs are drained.
 *   S2  A window that does not read makes its own subscriptions wait, not this process grow.
 */

import type { Readable, Writable } from "node:stream";
import { whenAborted } from "@millrace/contracts/kit";
import {
  type ChannelHost,
  createLineWire,
  type HostMessage,
  type LineEnds,
  serveWire,
} from "@millrace/desktop";

/** Serves a host to the client of these streams. Resolves when the client is gone, or at the signal. */
export function serveStdio(
  host: ChannelHost,
  streams: { readonly stdin: Readable; readonly stdout: Writable },
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const wire = createLineWire<HostMessage, unknown>(lineEnds(streams));
    wire.onEnd(resolve);
    const stop = serveWire(wire, host);
    whenAborted(signal, stop);
  });
}

function lineEnds({
  stdin,
  stdout,
}: {
  readonly stdin: Readable;
  readonly stdout: Writable;
}): LineEnds {
  /** One promise for all writers that wait for room in the pipe. */
  let room: Promise<void> | undefined;
  return {
    write(text) {
      if (stdout.write(text)) return;
      room ??= new Promise((resolve) => {
        const go = (): void => {
          room = undefined;
          stdout.off("drain", go);
          stdout.off("close", go);
          resolve();
        };
        stdout.once("drain", go);
        stdout.once("close", go);
      });
      return room;
    },
    onText: (handler) => void stdin.setEncoding("utf8").on("data", handler),
    onEnd(handler) {
      stdin.once("end", handler);
      stdin.once("close", handler);
      stdout.once("close", handler);
      stdout.once("error", handler);
    },
    close: () => void stdin.pause(),
  };
}

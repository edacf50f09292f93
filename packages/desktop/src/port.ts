/** A transport through a `MessagePort`: a worker, a frame, or a window of a shell. The messages are objects. */

import { checkOptions } from "@millrace/contracts/options";
import { connectWire } from "./connect-wire.ts";
import { TRANSPORT_OPTIONS, type TransportOptions } from "./handlers.ts";
import { serveWire } from "./serve-wire.ts";
import type { ChannelHost, Transport } from "./transport.ts";
import type { Wire } from "./wire.ts";

/** The part of `MessagePort` that is used; that of Node, of browsers and of Electron's main process all have it. */
export interface PortLike {
  postMessage(message: unknown): void;
  // biome-ignore lint/suspicious/noExplicitAny: the events of Node, of browsers and of Electron are different types
  addEventListener(type: "message" | "close", listener: (event: any) => void): void;
  start(): void;
  close(): void;
}

/** Where the host's end is told that the window is gone: ports of some browsers do not say it. */
const BYE = "millrace:bye";

/** The window's end of a port. `closed` when either end closes. */
export function createPortTransport(port: PortLike, options: TransportOptions = {}): Transport {
  checkOptions("createPortTransport", options, TRANSPORT_OPTIONS);
  return connectWire(portWire(port), { ...options, isOpen: true });
}

/** Serves a host at the other end of a port, until either end closes; the answer ends it at once. */
export function servePort(port: PortLike, host: ChannelHost): () => void {
  return serveWire(portWire(port), host);
}

function portWire<Out>(port: PortLike): Wire<Out, unknown> {
  const handlers = new Set<() => void>();
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    for (const handler of handlers) handler();
  };
  port.addEventListener("close", end);
  return {
    send(message) {
      if (!ended) port.postMessage(message);
    },
    receive(handler) {
      port.addEventListener("message", ({ data }) => {
        if (ended) return;
        if (data === BYE) end();
        else handler(data);
      });
      port.start();
    },
    onEnd: (handler) => void handlers.add(handler),
    close() {
      if (!ended) port.postMessage(BYE);
      end();
      port.close();
    },
  };
}

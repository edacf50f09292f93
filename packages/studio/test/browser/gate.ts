/** A server on loopback that answers when a test says so: a node that asks it runs until then. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A gate; it is closed at first. */
export interface Gate extends AsyncDisposable {
  readonly url: string;
  /** Answers everybody who waits, and everybody who comes. */
  open(): void;
}

/** Starts a gate. */
export async function startGate(): Promise<Gate> {
  const waiting = new Set<ServerResponse>();
  let isOpen = false;
  const server = createServer((_, response) => {
    if (isOpen) response.end("open");
    else waiting.add(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    open() {
      isOpen = true;
      for (const response of waiting) response.end("open");
      waiting.clear();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What a server needs so that its flows reach a gate. */
export const GATE_OPTIONS = { egress: { allow: [{ host: "127.0.0.1" }] } } as const;

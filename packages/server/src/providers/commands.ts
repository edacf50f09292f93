/** The command on AI providers. */
import { notWired, wire } from "../dispatch/index.ts";
import type { HandlerList } from "../ports.ts";

export const providerHandlers: HandlerList = [
  wire("list_providers", async (_args, { host, signal }) => {
    if (host.providers === undefined) throw notWired("list_providers");
    return [...(await host.providers(signal))];
  }),
];

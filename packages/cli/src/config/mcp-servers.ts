/** The key `mcpServers`: its folders are taken from that of the configuration, as all folders of it are. */
import { resolve } from "node:path";
import { isRecord } from "./record.ts";

/** The servers, with each `cwd` as a whole path. What is none is left as it is: it is refused where it is used. */
export function readMcpServers(servers: unknown, folder: string): unknown {
  if (!isRecord(servers)) return servers;
  const placed = Object.entries(servers).map(([name, server]) => {
    const { cwd } = (isRecord(server) ? server : {}) as { readonly cwd?: unknown };
    if (!isRecord(server) || typeof cwd !== "string") return [name, server];
    return [name, { ...server, cwd: resolve(folder, cwd) }];
  });
  return Object.fromEntries(placed);
}

/**
 * Where the runtime does not deny the network, the modules that open it throw. This catches what happens by accident; code
 * that wants to gets around it, and the catalog says so (`enforcement: "tripwire"`).
 */
import dgram from "node:dgram";
// biome-ignore lint/style/noRestrictedImports: it is taken away here, not used
import http2 from "node:http2";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import tls from "node:tls";
import { NodeError } from "@millrace/contracts";

/** Puts a refusal in the place of everything that opens a connection or listens. */
export function closeNetwork(): void {
  const refuse = (): never => {
    const text = "code of an extension reaches the network by ctx.fetch alone";
    throw new NodeError("permission_denied", text, { reason: "denied", sent: false });
  };
  const replace = (holder: object, names: readonly string[]) => {
    for (const name of names) {
      Object.defineProperty(holder, name, { value: refuse, configurable: false, writable: false });
    }
  };
  replace(net, ["connect", "createConnection", "createServer"]);
  replace(net.Socket.prototype, ["connect"]);
  replace(net.Server.prototype, ["listen"]);
  replace(tls, ["connect", "createServer"]);
  replace(dgram, ["createSocket"]);
  replace(http2, ["connect", "createServer", "createSecureServer"]);
  replace(globalThis, ["fetch", "WebSocket", "EventSource"]);
  syncBuiltinESMExports();
}

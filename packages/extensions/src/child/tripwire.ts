/**
 * Where the runtime does not deny the network, the modules that open it throw. This catches what happens by accident; code
 * that wants to gets around it, and the catalog says so (`enforcement: "tripwire"`). With sockets granted a connection is made to
 * the addresses that the host answers for it, and to no other.
 */
import dgram from "node:dgram";
// biome-ignore lint/style/noRestrictedImports: it is taken away here, not used
import http2 from "node:http2";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import tls from "node:tls";
import { NodeError } from "@millrace/contracts";

/** Asks the host for the addresses that a connection may use; rejects where it may not be made. */
export type AskAddresses = (host: string, port: number) => Promise<readonly string[]>;

/** Puts a refusal in the place of everything that opens a connection or listens; `ask`: but for TCP connections. */
export function closeNetwork(ask?: AskAddresses): void {
  replace(net.Server.prototype, ["listen"], refuse);
  replace(net, ["createServer"], refuse);
  replace(tls, ["createServer"], refuse);
  replace(dgram, ["createSocket"], refuse);
  replace(http2, ["connect", "createServer", "createSecureServer"], refuse);
  replace(globalThis, ["fetch", "WebSocket", "EventSource"], refuse);
  if (ask === undefined) {
    replace(net, ["connect", "createConnection"], refuse);
    replace(net.Socket.prototype, ["connect"], refuse);
    replace(tls, ["connect"], refuse);
  } else {
    // What `net.connect` and `tls.connect` make connects by this method.
    replace(net.Socket.prototype, ["connect"], asking(net.Socket.prototype.connect, ask));
  }
  syncBuiltinESMExports();
}

function replace(holder: object, names: readonly string[], value: unknown): void {
  for (const name of names) {
    Object.defineProperty(holder, name, { value, configurable: false, writable: false });
  }
}

function refuse(): never {
  const text =
    'code of an extension reaches the network by ctx.fetch; TCP connections need the permission "sockets" of its manifest';
  throw new NodeError("permission_denied", text, { reason: "denied", sent: false });
}

/** Taken for an address, which would be connected to without a look-up. */
const ANY_NAME = "host.invalid";

type Connect = typeof net.Socket.prototype.connect;

/** `connect` of a socket, whose look-up of the name is the question to the host. */
function asking(connect: Connect, ask: AskAddresses): (...args: unknown[]) => net.Socket {
  return function (this: net.Socket, ...args) {
    const { options, listener } = connectionOf(args);
    const { host = "localhost", port } = options;
    if (options.path !== undefined || port === undefined) return refuse();
    const lookup: net.LookupFunction = (_, { all, family }, done) => {
      ask(host, Number(port)).then(
        (addresses) => {
          const found = addresses
            .map((address) => ({ address, family: net.isIP(address) }))
            .filter((one) => !family || one.family === family);
          const [first] = found;
          if (all === true) done(null, found);
          else if (first === undefined) done(new Error(`no address of ${host} is fit`), []);
          else done(null, first.address, first.family);
        },
        (error: unknown) => done(error as Error, []),
      );
    };
    const pinned = { ...options, port: Number(port), host: ANY_NAME, lookup };
    return Reflect.apply(connect, this, [pinned, listener]);
  };
}

interface Connection {
  readonly options: Partial<net.TcpNetConnectOpts> & { readonly path?: string };
  readonly listener?: () => void;
}

/** The ways to call `connect`: with options, with a port and a host, with a path; a list is what `net.connect` hands on. */
function connectionOf(args: readonly unknown[]): Connection {
  const [first, ...rest] = Array.isArray(args[0]) ? args[0] : args;
  const listener = rest.find((one) => typeof one === "function") as Connection["listener"];
  const more = listener === undefined ? {} : { listener };
  if (typeof first === "object" && first !== null) return { options: first, ...more };
  if (typeof first === "string" && !/^\d+$/.test(first))
    return { options: { path: first }, ...more };
  const host = typeof rest[0] === "string" ? { host: rest[0] } : {};
  return { options: { port: Number(first), ...host }, ...more };
}

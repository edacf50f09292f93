/** Desktop channels: what every transport shares, and those that need nothing of a shell. */
export { type Coalescer, createCoalescer } from "./coalescer.ts";
export {
  CommandError,
  type CommandErrorCode,
  type CommandProblem,
  commandError,
} from "./command-error.ts";
export { connectWire } from "./connect-wire.ts";
export { createEmitterHost, type EmitterHost } from "./emitter-host.ts";
export type { TransportOptions } from "./handlers.ts";
export { createInProcessTransport } from "./in-process.ts";
export { createLineWire, type LineEnds, MAX_LINE_BYTES } from "./line-wire.ts";
export { serveWire } from "./serve-wire.ts";
export {
  CHANNELS,
  type ChannelHost,
  type CommandBus,
  isChannel,
  type ListenOptions,
  type Transport,
  type TransportState,
  type TypedTransport,
  typed,
} from "./transport.ts";
export type { HostMessage, HostWire, WindowMessage, WindowWire, Wire } from "./wire.ts";

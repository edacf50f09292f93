/** Desktop channels: what every transport shares, and those that need nothing of a shell. */
export { type Coalescer, createCoalescer } from "./coalescer.ts";
export {
  CommandError,
  type CommandErrorCode,
  type CommandProblem,
  commandError,
} from "./command-error.ts";
export { connectWire } from "./connect.ts";
export { createEmitterHost, type EmitterHost } from "./emitter.ts";
export { CHANNELS, type ChannelHost, isChannel, type ListenOptions } from "./host.ts";
export { createInProcessTransport } from "./in-process.ts";
export { createLineWire, type LineEnds, MAX_LINE_BYTES } from "./lines.ts";
export type { TransportOptions } from "./report.ts";
export { serveWire } from "./serve.ts";
export { type TypedTransport, typed } from "./typed.ts";
export type { HostMessage, HostWire, WindowMessage, WindowWire, Wire } from "./wire.ts";

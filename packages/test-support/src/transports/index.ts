/** The suite of transports, and the logs that its host must hold. */
export { DELTAS, recordTransportLogs } from "./recordings.ts";
export { type TransportSubject, transportConformance } from "./suite.ts";

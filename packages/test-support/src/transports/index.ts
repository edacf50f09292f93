/** The suite of transports, and the logs that its host must hold. */
export { recordTransportLogs } from "./recordings.ts";
export { type TransportSubject, transportConformance } from "./suite.ts";

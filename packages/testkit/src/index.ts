/** Suites that any implementation of a seam can be put through. */
export type { ConformanceCase } from "./conformance-case.ts";
export { recordTransportLogs } from "./transports/recordings.ts";
export { type TransportSubject, transportConformance } from "./transports/suite.ts";

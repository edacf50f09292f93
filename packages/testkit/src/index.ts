/** A host for tests, and suites that any implementation of a seam can be put through. */
export { createSimClock, type SimClock, type SimClockOptions } from "@millrace/engine/testing";
export { conformance } from "./conformance.ts";
export type { ConformanceCase } from "./conformance-case.ts";
export type { ConformanceOptions, Fixture, ProviderFixture } from "./fixtures.ts";
export {
  createRecordingFetch,
  type HttpExchange,
  type RecordedRequest,
  type RecordingFetch,
} from "./host/recording-fetch.ts";
export {
  createTestHost,
  type StartedNode,
  type TestHost,
  type TestHostOptions,
} from "./host/test-host.ts";
export type { Call } from "./host/watched-types.ts";
export {
  type ConformanceSetup,
  createScriptedProvider,
  providerConformance,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedFetch,
  type ScriptedProvider,
  type ScriptedProviderOptions,
  scriptedFetch,
  WIRES,
  type Wire,
  type WireText,
  type WireWriter,
} from "./providers/index.ts";
export {
  type CredentialsSetup,
  type CredentialsUnderTest,
  credentialsConformance,
} from "./services/credentials-conformance.ts";
export { isolationConformance } from "./suites/isolation.ts";

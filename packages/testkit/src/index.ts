/** A host for tests, and suites that any implementation of a seam can be put through. */
export { createSimClock, type SimClock, type SimClockOptions } from "@millrace/engine/testing";
export { conformance } from "./conformance.ts";
export type { ConformanceCase, ConformanceOptions, Fixture, ProviderFixture } from "./fixtures.ts";
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
export { type ConformanceSetup, providerConformance } from "./providers/conformance.ts";
export type { ScriptedAnswer, ScriptedFetch } from "./providers/scripted-fetch.ts";
export {
  createScriptedProvider,
  type ScriptedCall,
  type ScriptedProvider,
  type ScriptedProviderOptions,
} from "./providers/scripted-provider.ts";
export { WIRES, type Wire, type WireText, type WireWriter } from "./providers/wires.ts";
export {
  type CredentialsSetup,
  type CredentialsUnderTest,
  credentialsConformance,
} from "./services/credentials-conformance.ts";
export { isolationConformance } from "./suites/isolation.ts";

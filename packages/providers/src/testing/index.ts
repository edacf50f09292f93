/** For tests of providers: a suite that each passes, a `fetch` without a network, and the wires that models speak. */
export { type ConformanceCase, type ConformanceSetup, providerConformance } from "./conformance.ts";
export { type ScriptedAnswer, type ScriptedFetch, scriptedFetch } from "./scripted-fetch.ts";
export { WIRES, type Wire, type WireText, type WireWriter } from "./wires.ts";

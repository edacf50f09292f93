/** For tests of providers of models: a suite that each passes, a `fetch` without a network, and the wires that models speak. */
export { type ConformanceSetup, providerConformance } from "./conformance.ts";
export { type ScriptedAnswer, type ScriptedFetch, scriptedFetch } from "./scripted-fetch.ts";
export {
  createScriptedProvider,
  type ScriptedCall,
  type ScriptedProvider,
  type ScriptedProviderOptions,
} from "./scripted-provider.ts";
export { WIRES, type Wire, type WireText, type WireWriter } from "./wires.ts";

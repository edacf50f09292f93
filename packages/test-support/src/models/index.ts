/** Models of tests that answer from a script. */
export {
  type AiSetup,
  type AskStarted,
  ask,
  flowOf,
  HMAC_KEY,
  lines,
  resultsOf,
  startAsk,
  toolType,
} from "./run.ts";
export {
  apiError,
  type Entry,
  type Scripted,
  type ScriptedOptions,
  scripted,
} from "./scripted-model.ts";
export {
  joined,
  type ScriptedAnswer,
  type Sequence,
  type SequenceRun,
  testSequences,
} from "./sequences.ts";

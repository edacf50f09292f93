/** Building blocks of packs of node types: values, schemas, connections and catalog entries. */
export { fromBase64, toBase64 } from "./base64.ts";
export { toolRefs } from "./compile/tools.ts";
export { authorize, percentEncode } from "./connections/authorize.ts";
export { mustReconnect, offOrigin, scopesMissing } from "./connections/refusals.ts";
export { type ServiceEntry, typesOf } from "./definitions.ts";
export { FailureError, toFailure } from "./failures.ts";
export { checkInputs } from "./inputs.ts";
export { EXTENSION_BYTES } from "./limits.ts";
export { coreEntry, OUT_PORT } from "./nodes/entry.ts";
export {
  COUNT,
  checkOptions,
  has,
  isText,
  MILLISECONDS,
  optionsOf,
  RECORD,
  TEXT,
} from "./option-rules.ts";
export { takesLine, takesProgress } from "./run/notes.ts";
export { Redactor } from "./run/redact.ts";
export { schemaProblems, unreadable } from "./schema-check.ts";
export { isPromise, sizeOf, toOutput, valueAt } from "./values.ts";

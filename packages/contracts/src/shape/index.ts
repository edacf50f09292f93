/** The one kernel of checks for data that others write. */
export { also, type Fault, faultsOf, optionsProblem, problemsOf } from "./faults.ts";
export { jsonSchemaOf } from "./json-schema.ts";
export {
  amount,
  type Fields,
  flag,
  fn,
  type Infer,
  integer,
  list,
  must,
  nullable,
  type ObjectShape,
  object,
  oneOf,
  open,
  optional,
  optionals,
  type Problem,
  record,
  rule,
  type Shape,
  text,
  variant,
} from "./shape.ts";

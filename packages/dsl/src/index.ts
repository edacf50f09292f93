export {
  DIAGNOSTICS,
  type DiagnosticCode,
  type DiagnosticRule,
} from "./diagnostics.ts";
export {
  DslError,
  type DslErrorCode,
  ExpressionError,
  type ExpressionErrorCode,
} from "./errors.ts";
export type { Expression } from "./expression/ast.ts";
export {
  DEFAULT_EXPRESSION_LIMITS,
  type ExpressionLimits,
  type Scope,
} from "./expression/budget.ts";
export type { FunctionInfo } from "./expression/functions/define.ts";
export { listFunctions } from "./expression/functions/table.ts";
export {
  findReferences,
  nodeReference,
  type Reference,
  type ReferencePlace,
} from "./expression/references.ts";

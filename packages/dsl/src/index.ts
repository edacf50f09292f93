export type { Diagnostic, Position, Range } from "@millrace/contracts";
export type { CatalogFlow, FlowCatalog } from "./check/catalog.ts";
export { type ImpliedEdge, impliedEdges } from "./check/implied-edges.ts";
export { completeGraph } from "./check/model/bodies.ts";
export {
  checkFlow,
  mergeDiagnostics,
  type ValidateOptions,
  validateFlow,
} from "./check/validate-flow.ts";
export {
  DIAGNOSTICS,
  type DiagnosticCode,
  type DiagnosticRule,
} from "./diagnostics/table.ts";
export { type ReconcileOptions, reconcile } from "./edit/reconcile.ts";
export {
  DslError,
  type DslErrorCode,
  type EditErrorCode,
  ExpressionError,
  type ExpressionErrorCode,
} from "./errors.ts";
export {
  DEFAULT_EXPRESSION_LIMITS,
  type ExpressionLimits,
  type Scope,
  type Slots,
} from "./expression/budget.ts";
export {
  type CompiledExpression,
  type CompileOptions,
  compileExpression,
  type SlotOptions,
} from "./expression/compile.ts";
export { type CompiledValue, compileValue } from "./expression/compile-value.ts";
export type { FunctionInfo } from "./expression/functions/define.ts";
export { listFunctions } from "./expression/functions/list.ts";
export {
  findReferences,
  nodeReference,
  type Reference,
  type ReferencePlace,
} from "./expression/references.ts";
export type { FlowDocument } from "./read/document.ts";
export { locate, pointerAt } from "./read/locate.ts";
export { type ParseOptions, type ParseResult, parseFlow } from "./read/parse-flow.ts";
export { isOtherDocument } from "./read/slips.ts";
export { type CompiledSchema, compileSchema } from "./schema/check.ts";
export type { SchemaProblem } from "./schema/compile.ts";
export {
  compilePattern,
  MAX_PATTERN_LENGTH,
  MAX_PATTERN_STATES,
  MAX_PATTERN_STEPS,
  type Pattern,
  type PatternBudget,
} from "./schema/pattern.ts";
export { maskSecrets, SECRET as SECRET_PATTERN } from "./secret-pattern.ts";
export type { Expression } from "./syntax/ast.ts";
export { type ParsedExpression, parseExpression } from "./syntax/parse-expression.ts";
export { printExpression } from "./syntax/print-expression.ts";
export { type Fit, fits } from "./types/fits.ts";
export { describeType, type FlowType, type ObjectType } from "./types/flow-type.ts";
export { typeFromSchema } from "./types/from-schema.ts";
export { inferType } from "./types/infer.ts";
export type { TypeEnv } from "./types/scope.ts";
export { digest } from "./write/digest.ts";
export { normalizeGraph } from "./write/normalize.ts";
export { type FormatResult, formatFlow, printFlow } from "./write/print-flow.ts";

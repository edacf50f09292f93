export type { Diagnostic, Position, Range } from "@millrace/contracts";
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
export {
  type CompiledExpression,
  type CompileOptions,
  compileExpression,
} from "./expression/compile.ts";
export type { FunctionInfo } from "./expression/functions/define.ts";
export { listFunctions } from "./expression/functions/table.ts";
export { type ParsedExpression, parseExpression } from "./expression/parse.ts";
export { printExpression } from "./expression/print.ts";
export {
  findReferences,
  nodeReference,
  type Reference,
  type ReferencePlace,
} from "./expression/references.ts";
export { type CompiledValue, compileValue } from "./expression/value.ts";
export { type ImpliedEdge, impliedEdges } from "./implied-edges.ts";
export { completeGraph } from "./model/complete.ts";
export { type CompiledSchema, compileSchema } from "./schema/check.ts";
export type { SchemaProblem } from "./schema/compile.ts";
export {
  compilePattern,
  MAX_PATTERN_LENGTH,
  MAX_PATTERN_STATES,
  type Pattern,
} from "./schema/pattern.ts";
export { MAX_PATTERN_STEPS, type PatternBudget } from "./schema/pattern-run.ts";
export { maskSecrets, SECRET as SECRET_PATTERN } from "./secret-pattern.ts";
export { sha256Hex } from "./sha256.ts";
export { canonicalJson } from "./text/canonical-json.ts";
export { digest } from "./text/digest.ts";
export type { FlowDocument } from "./text/document.ts";
export { type FormatResult, formatFlow } from "./text/format.ts";
export { locate, pointerAt } from "./text/locate.ts";
export { normalizeGraph } from "./text/normalize.ts";
export { type ParseOptions, type ParseResult, parseFlow } from "./text/parse.ts";
export { printFlow } from "./text/print.ts";
export { type ReconcileOptions, reconcile } from "./text/reconcile.ts";
export { type Fit, fits } from "./types/fits.ts";
export { describeType, type FlowType, type ObjectType } from "./types/flow-type.ts";
export { typeFromSchema } from "./types/from-schema.ts";
export { inferType } from "./types/infer.ts";
export type { TypeEnv } from "./types/scope.ts";
export type { CatalogFlow, FlowCatalog } from "./validate/catalog.ts";
export { checkFlow, mergeDiagnostics } from "./validate/check-flow.ts";
export { type ValidateOptions, validateFlow } from "./validate/validate-flow.ts";

export {
  DslError,
  type DslErrorCode,
  ExpressionError,
  type ExpressionErrorCode,
} from "./errors.ts";
export type { Expression } from "./expression/ast.ts";

/** Services for editors: analysis, completion, rename, fixes, structural edits. Pure functions of text and catalog. */

export { NODE_POLICY_NAMES } from "../language/blocks.ts";
export { createAnalyser, editFlow } from "./analysis.ts";
export { applyEdits } from "./apply-edits.ts";
export { certainFixes, fixText, type JudgedText, type MadeFix } from "./fixes.ts";
export {
  type Analyser,
  type Analysis,
  type Completion,
  type CompletionKind,
  type ConnectionInfo,
  type FlowChange,
  type Fold,
  type Hover,
  type InterfaceTypes,
  type Link,
  type Occurrence,
  type Project,
  type QuickFix,
  type RenameResult,
  type Signature,
  type SymbolNode,
  type Target,
  type TextEdit,
  TOKEN_MODIFIERS,
  TOKEN_TYPES,
} from "./types.ts";

/** Answers of an analysis as the protocol has them: positions instead of offsets, numbers instead of words. */

import type { Diagnostic as FlowDiagnostic } from "@millrace/contracts";
import {
  type Analysis,
  type Completion,
  type CompletionKind,
  type TextEdit as FlowEdit,
  type Fold,
  type SymbolNode,
  TOKEN_MODIFIERS,
  TOKEN_TYPES,
} from "@millrace/dsl/editor";
import {
  type CompletionItem,
  CompletionItemKind,
  CompletionItemTag,
  type Diagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  type DocumentSymbol,
  type FoldingRange,
  FoldingRangeKind,
  InsertTextFormat,
  type Range,
  type SelectionRange,
  type SemanticTokensLegend,
  SymbolKind,
  type TextEdit,
} from "vscode-languageserver/node";
import type { TextDocument } from "vscode-languageserver-textdocument";
import type { FileProblem } from "./documents.ts";

/** Names of semantic tokens, in the order of their numbers. */
export const LEGEND: SemanticTokensLegend = {
  tokenTypes: [...TOKEN_TYPES],
  tokenModifiers: [...TOKEN_MODIFIERS],
};

/** The range of a stretch of a text. */
export function toRange(text: TextDocument, start: number, end: number): Range {
  return { start: text.positionAt(start), end: text.positionAt(end) };
}

/** Edits with positions. */
export function toEdits(text: TextDocument, edits: readonly FlowEdit[]): TextEdit[] {
  return edits.map(({ from, to, text: newText }) => ({ range: toRange(text, from, to), newText }));
}

const SEVERITIES: { readonly [severity in FlowDiagnostic["severity"]]: DiagnosticSeverity } = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
};
/** Tags of findings that editors grey out or strike through. */
const TAGS: { readonly [code: string]: DiagnosticTag } = {
  FLOW4011: DiagnosticTag.Unnecessary,
  FLOW3009: DiagnosticTag.Deprecated,
};

/** A finding; one without a place is about the first line. */
export function toDiagnostic(finding: FlowDiagnostic, text: TextDocument): Diagnostic {
  const { code, severity, message, hint, range, related = [] } = finding;
  const tag = TAGS[code];
  const at = (found: typeof range): Range =>
    toRange(text, found?.start.offset ?? 0, found?.end.offset ?? 0);
  return {
    range: at(range),
    severity: SEVERITIES[severity],
    code,
    source: "millrace",
    message: hint === undefined ? message : `${message}; ${hint}`,
    ...(tag !== undefined && { tags: [tag] }),
    ...(related.length > 0 && {
      relatedInformation: related.map((other) => ({
        location: { uri: text.uri, range: at(other.range) },
        message: other.message,
      })),
    }),
  };
}

/** A problem in a file of a project, as a diagnostic. */
export function problemDiagnostic({ line, character, message }: FileProblem): Diagnostic {
  const at = { line, character };
  const range = { start: at, end: at };
  return { range, severity: DiagnosticSeverity.Error, source: "millrace", message };
}

const COMPLETION_KINDS: { readonly [kind in CompletionKind]: CompletionItemKind } = {
  keyword: CompletionItemKind.Keyword,
  type: CompletionItemKind.Class,
  node: CompletionItemKind.Variable,
  local: CompletionItemKind.Variable,
  input: CompletionItemKind.Variable,
  property: CompletionItemKind.Property,
  field: CompletionItemKind.Field,
  policy: CompletionItemKind.Keyword,
  value: CompletionItemKind.EnumMember,
  function: CompletionItemKind.Function,
  port: CompletionItemKind.EnumMember,
  flow: CompletionItemKind.Module,
  connection: CompletionItemKind.Interface,
};

/** A completion; `index`: its place in the list, which keeps the order. Its documentation is asked for later. */
export function toCompletion(
  { label, kind, from, to, insert, snippet, detail, deprecated }: Completion,
  index: number,
  text: TextDocument,
  takesSnippets: boolean,
): CompletionItem {
  const isSnippet = takesSnippets && snippet !== undefined;
  return {
    label,
    kind: COMPLETION_KINDS[kind],
    ...(detail !== undefined && { detail }),
    ...(deprecated && { tags: [CompletionItemTag.Deprecated] }),
    sortText: String(index).padStart(5, "0"),
    textEdit: { range: toRange(text, from, to), newText: isSnippet ? snippet : insert },
    ...(isSnippet && { insertTextFormat: InsertTextFormat.Snippet }),
    data: { uri: text.uri, index },
  };
}

const SYMBOL_KINDS: { readonly [kind in SymbolNode["kind"]]: SymbolKind } = {
  flow: SymbolKind.Module,
  input: SymbolKind.Variable,
  connection: SymbolKind.Interface,
  schedule: SymbolKind.Event,
  node: SymbolKind.Function,
  body: SymbolKind.Namespace,
  output: SymbolKind.Property,
  layout: SymbolKind.Object,
};

/** A row of the outline with the rows in it. */
export function toSymbol(symbol: SymbolNode, text: TextDocument): DocumentSymbol {
  const { name, detail, kind, whole, selection, children } = symbol;
  return {
    name: name === "" ? kind : name,
    ...(detail !== undefined && { detail }),
    kind: SYMBOL_KINDS[kind],
    range: toRange(text, whole.start, whole.end),
    selectionRange: toRange(text, selection.start, selection.end),
    children: children.map((child) => toSymbol(child, text)),
  };
}

/** A stretch that folds. */
export function toFold({ kind, start, end }: Fold, text: TextDocument): FoldingRange {
  const startLine = text.positionAt(start).line;
  const endLine = text.positionAt(end).line;
  return { startLine, endLine, ...(kind === "comment" && { kind: FoldingRangeKind.Comment }) };
}

/** Stretches that a selection grows through, as a chain from the smallest. */
export function toSelection(
  analysis: Analysis,
  offset: number,
  text: TextDocument,
): SelectionRange {
  let parent: SelectionRange | undefined;
  for (const { start, end } of [...analysis.selections(offset)].reverse()) {
    parent = { range: toRange(text, start, end), ...(parent && { parent }) };
  }
  return parent ?? { range: toRange(text, offset, offset) };
}

/** Semantic tokens as the protocol packs them: line and character relative to the token before. */
export function toTokens(tokens: Uint32Array, text: TextDocument): number[] {
  const packed: number[] = [];
  let line = 0;
  let character = 0;
  for (let at = 0; at + 3 < tokens.length; at += 4) {
    const start = text.positionAt(tokens[at] as number);
    const isSameLine = start.line === line;
    packed.push(start.line - line, isSameLine ? start.character - character : start.character);
    packed.push(tokens[at + 1] as number, tokens[at + 2] as number, tokens[at + 3] as number);
    line = start.line;
    character = start.character;
  }
  return packed;
}

/** Answers to the requests of a client, each from the analysis of the newest text. */

import type { Analysis, Completion } from "@millrace/dsl/editor";
import { EXPLANATIONS } from "@millrace/dsl/explain";
import {
  type CancellationToken,
  type CodeAction,
  CodeActionKind,
  type CompletionItem,
  type Connection,
  DocumentHighlightKind,
  ErrorCodes,
  LSPErrorCodes,
  MarkupKind,
  MessageType,
  type Position,
  type Range,
  ResponseError,
  ShowMessageNotification,
} from "vscode-languageserver/node";
import type { TextDocument } from "vscode-languageserver-textdocument";
import {
  toCompletion,
  toDiagnostic,
  toEdits,
  toFold,
  toRange,
  toSelection,
  toSymbol,
  toTokens,
} from "./answers.ts";
import type { Documents } from "./documents.ts";

/** Mends all that is certain in a text. */
export const FIX_ALL: string = `${CodeActionKind.SourceFixAll}.millrace`;

/** A typed blank asks for completions behind these; behind any other it would only be in the way. */
const BEFORE_BLANK = /(?:->|:) $/;

/** The document of a request. */
interface OfDocument {
  readonly textDocument: { readonly uri: string };
}
interface AtPosition extends OfDocument {
  readonly position: Position;
}

/** Registers an answer for every request that the server offers. `takesSnippets`: the client can fill in the places of a snippet. */
export function answerRequests(
  connection: Connection,
  documents: Documents,
  takesSnippets: () => boolean,
): void {
  /** The list that was offered last, for its documentation. */
  let offered: { readonly uri: string; readonly list: readonly Completion[] } | undefined;

  /** An answer from the analysis of a text that is open; null for others, and an error once the client does not wait. */
  const of =
    <P extends OfDocument, R>(answer: (analysis: Analysis, text: TextDocument, params: P) => R) =>
    async (params: P, token: CancellationToken): Promise<R | null> => {
      const document = documents.get(params.textDocument.uri);
      if (document === undefined) return null;
      const analysis = await document.analysis();
      if (token.isCancellationRequested) {
        throw new ResponseError(LSPErrorCodes.RequestCancelled, "the request was cancelled");
      }
      return answer(analysis, document.text, params);
    };
  const at = <P extends AtPosition, R>(
    answer: (analysis: Analysis, text: TextDocument, offset: number, params: P) => R,
  ) =>
    of<P, R>((analysis, text, params) =>
      answer(analysis, text, text.offsetAt(params.position), params),
    );

  connection.onCompletion(
    at<AtPosition & { context?: { triggerCharacter?: unknown } | null }, CompletionItem[]>(
      (analysis, text, offset, { context }) => {
        const isBlank = context?.triggerCharacter === " ";
        if (isBlank && !BEFORE_BLANK.test(text.getText().slice(Math.max(0, offset - 3), offset)))
          return [];
        const list = analysis.completions(offset);
        offered = { uri: text.uri, list };
        return list.map((each, index) => toCompletion(each, index, text, takesSnippets()));
      },
    ),
  );
  connection.onCompletionResolve((item) => {
    const from = item.data as { readonly uri: string; readonly index: number } | undefined;
    const completion = from && offered?.uri === from.uri ? offered.list[from.index] : undefined;
    const value = completion?.label === item.label ? completion.documentation?.() : undefined;
    return value ? { ...item, documentation: { kind: MarkupKind.PlainText, value } } : item;
  });
  connection.onHover(
    at((analysis, text, offset) => {
      const hover = analysis.hover(offset);
      if (hover === undefined) return null;
      const contents = { kind: MarkupKind.Markdown, value: hover.markdown };
      return { contents, range: toRange(text, hover.start, hover.end) };
    }),
  );
  connection.onSignatureHelp(
    at((analysis, _text, offset) => {
      const found = analysis.signature(offset);
      if (found === undefined) return null;
      const { label, documentation, parameters, active } = found;
      const infos = parameters.map(([start, end]) => ({ label: [start, end] as [number, number] }));
      const signatures = [{ label, documentation, parameters: infos }];
      return { signatures, activeSignature: 0, activeParameter: active };
    }),
  );
  connection.onDefinition(
    at((analysis, text, offset) => {
      const target = analysis.definition(offset);
      if (target === undefined) return null;
      const start = { line: 0, character: 0 };
      return target.uri === undefined
        ? { uri: text.uri, range: toRange(text, target.name.start, target.name.end) }
        : { uri: target.uri, range: { start, end: start } };
    }),
  );
  connection.onReferences(
    at<AtPosition & { context?: { includeDeclaration?: boolean } }, unknown>(
      (analysis, text, offset, { context }) =>
        analysis
          .references(offset)
          .filter(({ isDeclaration }) => context?.includeDeclaration === true || !isDeclaration)
          .map(({ start, end }) => ({ uri: text.uri, range: toRange(text, start, end) })),
    ) as never,
  );
  connection.onDocumentHighlight(
    at((analysis, text, offset) =>
      analysis.references(offset).map(({ start, end, isDeclaration }) => ({
        range: toRange(text, start, end),
        kind: isDeclaration ? DocumentHighlightKind.Write : DocumentHighlightKind.Read,
      })),
    ),
  );
  connection.onPrepareRename(
    at((analysis, text, offset) => {
      const found = analysis.renamable(offset);
      if (found === undefined) return null;
      const { span, name } = found;
      return { range: toRange(text, span.start, span.end), placeholder: name };
    }),
  );
  connection.onRenameRequest(
    at<AtPosition & { newName: string }, unknown>((analysis, text, offset, { newName }) => {
      const result = analysis.rename(offset, newName);
      if ("refused" in result) {
        throw new ResponseError(LSPErrorCodes.RequestFailed, result.message);
      }
      const { uri, version } = text;
      const edits = toEdits(text, result.edits);
      return { documentChanges: [{ textDocument: { uri, version }, edits }] };
    }) as never,
  );
  connection.onDocumentSymbol(
    of((analysis, text) => analysis.symbols().map((symbol) => toSymbol(symbol, text))),
  );
  connection.onFoldingRanges(
    of((analysis, text) => analysis.folds().map((fold) => toFold(fold, text))),
  );
  connection.onSelectionRanges(
    of<OfDocument & { positions: Position[] }, unknown>((analysis, text, { positions }) =>
      positions.map((position) => toSelection(analysis, text.offsetAt(position), text)),
    ) as never,
  );
  connection.onDocumentFormatting(of((analysis, text) => toEdits(text, analysis.format())));
  connection.onDocumentLinks(
    of((analysis, text) =>
      analysis
        .links()
        .map(({ start, end, target }) => ({ range: toRange(text, start, end), target })),
    ),
  );
  connection.languages.semanticTokens.on(
    of((analysis, text) => ({ data: toTokens(analysis.tokens(), text) })) as never,
  );
  connection.languages.semanticTokens.onRange(
    of<OfDocument & { range: Range }, unknown>((analysis, text, { range }) => {
      const { start, end } = range;
      return { data: toTokens(analysis.tokens(text.offsetAt(start), text.offsetAt(end)), text) };
    }) as never,
  );
  connection.onExecuteCommand(({ command, arguments: given }) => {
    if (command !== EXPLAIN) {
      throw new ResponseError(
        ErrorCodes.InvalidParams,
        `there is no command ${command}; this server has ${EXPLAIN}`,
      );
    }
    const code: unknown = given?.[0];
    if (!isExplained(code)) {
      throw new ResponseError(
        ErrorCodes.InvalidParams,
        `${EXPLAIN} takes the code of a finding, such as FLOW3001`,
      );
    }
    const { why, wrong, right } = EXPLANATIONS[code];
    const message = `${code}: ${why}\n\nwrong:\n${wrong}\n\nright:\n${right}`;
    // Not as a request, which a client may refuse.
    void connection.sendNotification(ShowMessageNotification.type, {
      type: MessageType.Info,
      message,
    });
    return null;
  });
  connection.onCodeAction(
    of<OfDocument & { range: Range; context: { only?: string[] | null } }, CodeAction[]>(
      (analysis, text, { range, context }) => {
        const isWanted = (kind: string): boolean =>
          context.only?.some((only) => kind === only || kind.startsWith(`${only}.`)) ?? true;
        const actions = isWanted(CodeActionKind.QuickFix) ? quickFixes(analysis, text, range) : [];
        const isAsked = context.only != null && isWanted(FIX_ALL);
        return isAsked ? [...actions, ...fixAll(analysis, text)] : actions;
      },
    ),
  );
}

/** The fixes of the findings in a range, and what each finding means. */
function quickFixes(analysis: Analysis, text: TextDocument, { start, end }: Range): CodeAction[] {
  const [from, to] = [text.offsetAt(start), text.offsetAt(end)];
  const fixes = analysis.fixesAt(from, to).map(({ title, diagnostic, edits }) => ({
    ...action(title, CodeActionKind.QuickFix, text, toEdits(text, edits)),
    diagnostics: [toDiagnostic(diagnostic, text)],
    isPreferred: diagnostic.fixes?.[0]?.title === title,
  }));
  const codes = new Set(
    analysis
      .diagnostics()
      .filter(({ range }) => range && range.start.offset <= to && from <= range.end.offset)
      .map(({ code }) => code),
  );
  return [...fixes, ...[...codes].filter(isExplained).map(explanation)];
}

type ExplainedCode = keyof typeof EXPLANATIONS;

const isExplained = (code: unknown): code is ExplainedCode =>
  typeof code === "string" && Object.hasOwn(EXPLANATIONS, code);

function fixAll(analysis: Analysis, text: TextDocument): CodeAction[] {
  const edits = toEdits(text, analysis.fixAll());
  return edits.length === 0 ? [] : [action("Fix all that is certain", FIX_ALL, text, edits)];
}

function action(
  title: string,
  kind: string,
  { uri, version }: TextDocument,
  edits: ReturnType<typeof toEdits>,
): CodeAction {
  return { title, kind, edit: { documentChanges: [{ textDocument: { uri, version }, edits }] } };
}

/** Shows what a code means, through the command `millrace.explain` that the server runs. */
function explanation(code: ExplainedCode): CodeAction {
  const title = `Explain ${code}`;
  const command = { title, command: EXPLAIN, arguments: [code] };
  return { title, kind: CodeActionKind.QuickFix, command };
}

/** Command that shows what a code means. */
export const EXPLAIN = "millrace.explain";

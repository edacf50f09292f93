/** `createLanguageServer`: the Language Server Protocol over the analysis of `@millrace/dsl/editor`. No code of a project runs. */

import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import { createConnection } from "vscode-languageserver";
import {
  CodeActionKind,
  createProtocolConnection,
  type Diagnostic,
  DidChangeWatchedFilesNotification,
  type InitializeResult,
  type Message,
  MessageType,
  TextDocumentSyncKind,
} from "vscode-languageserver/node";
import { LEGEND, problemDiagnostic, toDiagnostic } from "./answers.ts";
import {
  Documents,
  type FileProblem,
  type OpenDocument,
  type ProjectFor,
  type Timers,
} from "./documents.ts";
import { type ByteSink, type ByteSource, FrameReader, FrameWriter } from "./frames.ts";
import { answerRequests, EXPLAIN, FIX_ALL } from "./requests.ts";

/** Options of a language server. */
export interface LanguageServerOptions {
  /** Bytes of the client. */
  readonly reader: ByteSource;
  /** Takes the bytes of the answers, and nothing else. */
  readonly writer: ByteSink;
  /** The project of the file's folder, an address that ends with `/`. */
  readonly projectFor: ProjectFor;
  /** Version that the client is told. */
  readonly version?: string;
  /** Takes lines about the server itself; default: nobody. */
  readonly log?: (line: string) => void;
  /** Default: those of the host. */
  readonly timers?: Timers;
}

const OPTIONS: OptionNames<LanguageServerOptions> = {
  ...{ reader: true, writer: true, projectFor: true, version: true, log: true, timers: true },
};

/** A server that runs. */
export interface LanguageServer {
  /** Resolves when the client is done: 0 after `shutdown`, else 1. Nothing is read or written any more. */
  readonly ended: Promise<number>;
}

/** How often it is looked whether the process that started the server is still there. */
const PARENT_CHECK_MS = 3000;

/** Diagnostics are found for this long before requests take their turn: nobody feels it in an answer. */
const SLICE_MS = 10;

const HOST_TIMERS: Timers = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/** Files whose change is a change of a project. */
const WATCHED = ["**/millrace.json", "**/millrace.lock.json", "**/services/*.json", "**/*.flow"];

const CAPABILITIES: InitializeResult["capabilities"] = {
  positionEncoding: "utf-16",
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
  completionProvider: {
    triggerCharacters: [".", "@", '"', ":", "$", "{", ">", " "],
    resolveProvider: true,
  },
  hoverProvider: true,
  signatureHelpProvider: { triggerCharacters: ["(", ","] },
  definitionProvider: true,
  referencesProvider: true,
  documentHighlightProvider: true,
  renameProvider: { prepareProvider: true },
  documentSymbolProvider: true,
  foldingRangeProvider: true,
  selectionRangeProvider: true,
  documentFormattingProvider: true,
  documentLinkProvider: {},
  codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, FIX_ALL] },
  executeCommandProvider: { commands: [EXPLAIN] },
  semanticTokensProvider: { legend: LEGEND, full: true, range: true },
};

/** Serves one client until it leaves. */
export function createLanguageServer(options: LanguageServerOptions): LanguageServer {
  checkOptions("createLanguageServer", options, OPTIONS);
  const { reader, writer, projectFor, version, log = () => {}, timers = HOST_TIMERS } = options;
  let stopParentCheck = (): void => {};
  let end: (code: number) => void = () => {};
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const frames = new FrameWriter(writer);
  let isTalking = false;
  /** A line for the log, and for the log that the client shows. */
  const say = (line: string): void => {
    log(line);
    if (!isTalking) return;
    const params = { type: MessageType.Warning, message: line };
    void frames.write({ jsonrpc: "2.0", method: "window/logMessage", params } as Message);
  };
  const finish = (code: number): void => {
    isTalking = false;
    stopParentCheck();
    documents.stop();
    end(code);
  };
  const source = new FrameReader(reader, frames, finish, say);
  const connection = createConnection(
    (logger) => createProtocolConnection(source, frames, logger),
    {
      shutdownReceived: false,
      initialize({ processId }) {
        if (typeof processId !== "number") return;
        stopParentCheck = watchParent(processId, timers, () => {
          log("the client is gone");
          finish(1);
        });
      },
      exit: finish,
    },
  );
  const publish = async (document: OpenDocument): Promise<void> => {
    const { text } = document;
    const { uri, version: analysed } = text;
    // Closed or changed meanwhile: a later pass says it.
    const isLate = (): boolean => documents.get(uri) !== document || text.version !== analysed;
    const steps = (await document.analysis()).diagnosticsInSteps();
    let step = steps.next();
    for (let since = timers.now(); !step.done && !isLate(); step = steps.next()) {
      if (timers.now() - since < SLICE_MS) continue;
      await new Promise(setImmediate);
      since = timers.now();
    }
    if (!step.done || isLate()) return;
    const found = step.value;
    const diagnostics = found.map((finding) => toDiagnostic(finding, text));
    await connection.sendDiagnostics({ uri, version: analysed, diagnostics });
  };
  const failed = (error: unknown): void => say(`diagnostics failed: ${String(error)}`);
  /** Files of projects with a problem that the client was told of. */
  const told = new Set<string>();
  const report = (problems: readonly FileProblem[]): void => {
    const byFile = new Map<string, Map<string, Diagnostic>>();
    for (const uri of told) byFile.set(uri, new Map());
    for (const problem of problems) {
      const { uri, message } = problem;
      const ofFile = byFile.get(uri) ?? new Map();
      byFile.set(uri, ofFile.set(message, problemDiagnostic(problem)));
    }
    told.clear();
    for (const [uri, found] of byFile) {
      if (found.size > 0) told.add(uri);
      connection.sendDiagnostics({ uri, diagnostics: [...found.values()] }).catch(failed);
    }
  };
  const documents = new Documents(
    projectFor,
    timers,
    (document) => void publish(document).catch(failed),
    report,
  );
  let watchesFiles = false;
  let takesSnippets = false;

  connection.onInitialize(({ capabilities }) => {
    isTalking = true;
    watchesFiles = capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    takesSnippets = capabilities.textDocument?.completion?.completionItem?.snippetSupport === true;
    return {
      capabilities: CAPABILITIES,
      serverInfo: { name: "millrace", ...(version !== undefined && { version }) },
    };
  });
  connection.onInitialized(async () => {
    if (!watchesFiles) return;
    const watchers = WATCHED.map((globPattern) => ({ globPattern }));
    await connection.client
      .register(DidChangeWatchedFilesNotification.type, { watchers })
      .catch((error: unknown) => say(`files are not watched: ${String(error)}`));
  });
  connection.onDidChangeWatchedFiles(() => documents.reload());
  connection.onDidOpenTextDocument(({ textDocument: { uri, languageId, version, text } }) =>
    documents.open(uri, languageId, version, text),
  );
  connection.onDidChangeTextDocument(({ textDocument: { uri, version }, contentChanges }) =>
    documents.change(uri, version, contentChanges),
  );
  connection.onDidSaveTextDocument(({ textDocument: { uri } }) => documents.save(uri));
  connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
    documents.close(uri);
    return connection.sendDiagnostics({ uri, diagnostics: [] });
  });
  answerRequests(connection, documents, () => takesSnippets);
  connection.listen();
  return { ended };
}

/** Calls back once the process that started the server is gone; the answer stops looking. */
function watchParent(processId: number, timers: Timers, gone: () => void): () => void {
  let cancel = (): void => {};
  const look = (): void => {
    try {
      process.kill(processId, 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ESRCH") {
        gone();
        return;
      }
    }
    cancel = timers.after(PARENT_CHECK_MS, look);
  };
  cancel = timers.after(PARENT_CHECK_MS, look);
  return () => cancel();
}

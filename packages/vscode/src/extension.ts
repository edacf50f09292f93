/** The extension of VS Code: a client of the language server, and the command in a terminal. */

import { join } from "node:path";
import {
  commands,
  type ExtensionContext,
  type LanguageStatusItem,
  LanguageStatusSeverity,
  languages,
  ShellExecution,
  ShellQuoting,
  Task,
  TaskScope,
  tasks,
  type Uri,
  window,
  workspace,
} from "vscode";
import { LanguageClient, type ServerOptions, TransportKind } from "vscode-languageclient/node";
import { type FoundServer, findServer } from "./find-server.ts";

const LANGUAGE = "millrace-flow";

/** The running client; `deactivate` ends it. */
let client: LanguageClient | undefined;

/** Called by VS Code when the first flow is opened. */
export async function activate(context: ExtensionContext): Promise<void> {
  const bundled = join(context.extensionPath, "server.mjs");
  const status = languages.createLanguageStatusItem("millrace.server", LANGUAGE);
  status.name = "Millrace";
  status.command = { title: "Restart server", command: "millrace.restartServer" };
  const restart = (): Promise<void> => restartServer(bundled, status);
  context.subscriptions.push(
    status,
    commands.registerCommand("millrace.restartServer", restart),
    commands.registerCommand("millrace.runFlow", (uri?: Uri) => inTerminal("run", uri)),
    commands.registerCommand("millrace.showGraph", (uri?: Uri) => inTerminal("graph", uri)),
    workspace.onDidGrantWorkspaceTrust(restart),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("millrace.path")) void restart();
    }),
  );
  await restart();
}

/** Called by VS Code when it ends. */
export async function deactivate(): Promise<void> {
  await endClient();
}

async function endClient(): Promise<void> {
  const ended = client;
  client = undefined;
  // The library refuses to stop what did not start.
  await ended?.dispose().catch(() => {});
}

async function restartServer(bundled: string, status: LanguageStatusItem): Promise<void> {
  await endClient();
  const { found, problem } = find();
  if (problem !== undefined) void window.showWarningMessage(`Millrace: ${problem}`);
  const server: ServerOptions =
    found === undefined
      ? { module: bundled, transport: TransportKind.stdio }
      : commandServer(found.command);
  client = new LanguageClient("millrace", "Millrace", server, {
    documentSelector: [{ language: LANGUAGE }],
  });
  const from = found === undefined ? "the extension" : found.from;
  status.text = "Millrace";
  status.busy = true;
  try {
    await client.start();
    const version = client.initializeResult?.serverInfo?.version ?? "";
    status.text = `Millrace ${version}`.trim();
    status.detail = `server of ${from}${found === undefined ? "" : `: ${found.command}`}`;
    status.severity = LanguageStatusSeverity.Information;
  } catch (error) {
    status.detail = `the server of ${from} did not start: ${String(error)}`;
    status.severity = LanguageStatusSeverity.Error;
  } finally {
    status.busy = false;
  }
}

/** The command as a server. Windows starts scripts by a shell only, which splits what is not quoted. */
function commandServer(command: string): ServerOptions {
  return process.platform === "win32"
    ? { command: `"${command}"`, args: ["lsp"], options: { shell: true } }
    : { command, args: ["lsp"] };
}

function find(): FoundServer {
  return findServer({
    setting: workspace.getConfiguration("millrace").get("path", ""),
    folders: (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath),
    isTrusted: workspace.isTrusted,
    path: process.env["PATH"] ?? "",
    platform: process.platform,
  });
}

/** Runs the command on a flow in a terminal. */
async function inTerminal(verb: "run" | "graph", uri: Uri | undefined): Promise<void> {
  const document = window.activeTextEditor?.document;
  const file = uri ?? document?.uri;
  if (file?.scheme !== "file") {
    void window.showErrorMessage("Millrace: open a flow that is a file first");
    return;
  }
  const { found } = find();
  if (found === undefined) {
    const what = "the command millrace was not found; install @millrace/cli, or set millrace.path";
    void window.showErrorMessage(`Millrace: ${what}`);
    return;
  }
  if (document?.uri.toString() === file.toString()) await document.save();
  const scope = workspace.getWorkspaceFolder(file) ?? TaskScope.Workspace;
  const quoted = (value: string) => ({ value, quoting: ShellQuoting.Strong });
  const execution = new ShellExecution(quoted(found.command), [verb, quoted(file.fsPath)]);
  const definition = { type: "shell", verb, file: file.fsPath };
  await tasks.executeTask(new Task(definition, scope, `${verb} flow`, "millrace", execution));
}

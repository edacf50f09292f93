/** What the extension does with its client, in a stand-in for VS Code. */
import { afterEach, expect, test, vi } from "vitest";

const host = vi.hoisted(() => ({
  commands: new Map<string, () => Promise<void>>(),
  status: { detail: "" },
  started: 0,
  fails: true,
}));

vi.mock("vscode", () => ({
  commands: {
    registerCommand: (name: string, run: () => Promise<void>) => host.commands.set(name, run),
  },
  languages: { createLanguageStatusItem: () => host.status },
  LanguageStatusSeverity: { Information: 0, Error: 2 },
  window: { showWarningMessage: () => {} },
  workspace: {
    onDidGrantWorkspaceTrust: () => {},
    onDidChangeConfiguration: () => {},
    getConfiguration: () => ({ get: () => "" }),
    workspaceFolders: [],
    isTrusted: false,
  },
  ShellExecution: class {},
  ShellQuoting: {},
  Task: class {},
  TaskScope: {},
  tasks: {},
}));

vi.mock("vscode-languageclient/node", () => ({
  TransportKind: { stdio: 0 },
  /** As that of the library: what did not start cannot be stopped. */
  LanguageClient: class {
    readonly #fails = host.fails;
    async start() {
      host.started += 1;
      if (this.#fails) throw new Error("no such program");
    }
    async stop() {
      if (this.#fails) throw new Error("Client is not running and can't be stopped");
    }
    dispose() {
      return this.stop();
    }
  },
}));

afterEach(() => {
  host.fails = true;
});

test("a server that did not start can be started again, and the extension ends without an error", async () => {
  const { activate, deactivate } = await import("../src/extension.ts");
  await activate({ extensionPath: "/none", subscriptions: [] } as never);
  expect(host.status.detail).toContain("did not start");
  await deactivate();
  host.fails = false;
  await host.commands.get("millrace.restartServer")?.();
  expect(host.started).toBe(2);
  expect(host.status.detail).toMatch(/^server of /);
});

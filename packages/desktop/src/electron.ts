/**
 * A transport through the processes of Electron, without an import of it.
 *   E1  The main process answers only the origins that it was told of.
 *   E2  A page can call `invoke` and `listen`, for the names of the channels, and reaches nothing else of the shell.
 *   E3  A page that was loaded anew, or whose window is gone, leaves no call and no subscription behind.
 */

import { checkOptions } from "@millrace/contracts/options";
import { type CommandProblem, commandError } from "./command-error.ts";
import { connectWire } from "./connect-wire.ts";
import { TRANSPORT_OPTIONS, type TransportOptions } from "./handlers.ts";
import { serveWire } from "./serve-wire.ts";
import { type ChannelHost, isChannel, type Transport } from "./transport.ts";
import type { HostMessage, HostWire, WindowMessage, WindowWire } from "./wire.ts";

/** The one channel of Electron's own that is used, both ways. */
const IPC = "millrace";
/** The name on `window`, where the preload script puts the bridge. */
const GLOBAL = "millrace";

/** The part of `WebContents` that is used. */
export interface WebContentsLike {
  send(channel: string, message: unknown): void;
  isDestroyed(): boolean;
  once(event: "destroyed", listener: () => void): unknown;
}

/** The part of `IpcMainInvokeEvent` that is used. */
export interface IpcEventLike {
  readonly sender: WebContentsLike;
  /** Null when the frame is gone already. */
  readonly senderFrame: { readonly origin: string } | null;
}

/** The part of `ipcMain` that is used. */
export interface IpcMainLike {
  handle(
    channel: string,
    listener: (event: IpcEventLike, session: unknown, message: unknown) => unknown,
  ): void;
  removeHandler(channel: string): void;
}

/** The part of `ipcRenderer` that is used. */
export interface IpcRendererLike {
  invoke(channel: string, session: string, message: unknown): Promise<unknown>;
  on(channel: string, listener: (event: unknown, message: unknown) => void): unknown;
}

/** The part of `contextBridge` that is used. */
export interface ContextBridgeLike {
  exposeInMainWorld(name: string, api: unknown): void;
}

/** The shell as a page sees it. Failures are values, never thrown: Electron keeps only the message of an error. */
export interface ElectronBridge {
  /** A call: `{ id, command, args }`, or `{ cancel: id }` of an earlier one. */
  invoke(message: WindowMessage): void;
  /** A subscription: `{ listen, id, … }` of a known channel, `{ unlisten: id }`, `{ taken: id, count }`. */
  listen(message: WindowMessage): void;
  /** Gives every answer and event. */
  receive(handler: (message: unknown) => void): void;
}

/** Options of the main process. */
export interface ServeElectronOptions {
  readonly ipcMain: IpcMainLike;
  readonly host: ChannelHost;
  /** Origins of the pages that may call, such as `app://studio` or `http://localhost:5173`. */
  readonly allowedOrigins: readonly string[];
}

/** One page at work. */
interface Session {
  readonly id: string;
  receive(message: unknown): void;
  end(): void;
}

/** Main process: serves the host to the pages of these origins; the answer ends it. */
export function serveElectron({ ipcMain, host, allowedOrigins }: ServeElectronOptions): () => void {
  const allowed = new Set(allowedOrigins);
  const sessions = new Map<WebContentsLike, Session>();

  function sessionOf(sender: WebContentsLike, id: string): Session {
    const open = sessions.get(sender);
    if (open?.id === id) return open;
    // The page was loaded anew.
    open?.end();
    const session = openSession(sender, id, host);
    if (open === undefined) {
      sender.once("destroyed", () => {
        sessions.get(sender)?.end();
        sessions.delete(sender);
      });
    }
    sessions.set(sender, session);
    return session;
  }

  ipcMain.handle(IPC, (event, id, message) => {
    if (event.senderFrame === null || !allowed.has(event.senderFrame.origin)) {
      return refusal(commandError("origin_not_allowed").problem);
    }
    if (typeof id !== "string") return refusal(commandError("invalid_args").problem);
    sessionOf(event.sender, id).receive(message);
    return null;
  });
  return () => {
    ipcMain.removeHandler(IPC);
    for (const session of sessions.values()) session.end();
    sessions.clear();
  };
}

function openSession(sender: WebContentsLike, id: string, host: ChannelHost): Session {
  let receive: (message: unknown) => void = () => {};
  let ended = false;
  let told = (): void => {};
  const wire: HostWire = {
    send(message) {
      if (!ended && !sender.isDestroyed()) sender.send(IPC, { session: id, message });
    },
    receive(handler) {
      receive = handler;
    },
    onEnd(handler) {
      told = handler;
    },
    close() {
      if (!ended && !sender.isDestroyed()) sender.send(IPC, { session: id, message: null });
      ended = true;
    },
  };
  const stop = serveWire(wire, host);
  return {
    id,
    receive: (message) => receive(message),
    end() {
      stop();
      told();
    },
  };
}

function refusal(problem: CommandProblem): {
  readonly ok: false;
  readonly problem: CommandProblem;
} {
  return { ok: false, problem };
}

/** Preload script: puts the bridge on `window.millrace`. */
export function exposeMillrace(shell: {
  readonly contextBridge: ContextBridgeLike;
  readonly ipcRenderer: IpcRendererLike;
}): void {
  const { contextBridge, ipcRenderer } = shell;
  const session = crypto.randomUUID();
  let told: (message: unknown) => void = () => {};
  ipcRenderer.on(IPC, (_, envelope) => {
    const { session: of, message } = envelope as { session?: unknown; message?: unknown };
    if (of === session) told(message);
  });

  /** A message that is refused is answered, as if the host had done it. */
  function pass(message: WindowMessage): void {
    ipcRenderer.invoke(IPC, session, message).then(
      (refused) => {
        if (refused !== null && "id" in message) told({ ...(refused as object), id: message.id });
      },
      () => told(null), // the main process has no host any more
    );
  }

  const bridge: ElectronBridge = {
    invoke(message) {
      if ("command" in message) pass(pick(message, "id", "command", "args"));
      else if ("cancel" in message) pass(pick(message, "cancel"));
    },
    listen(message) {
      if ("unlisten" in message) pass(pick(message, "unlisten"));
      else if ("taken" in message) pass(pick(message, "taken", "count"));
      else if (!("listen" in message)) return;
      else if (isChannel(message.listen)) {
        pass(pick(message, "listen", "id", "runId", "after", "window"));
      } else told({ id: message.id, ...refusal(commandError("channel_unknown").problem) });
    },
    receive(handler) {
      told = handler;
    },
  };
  contextBridge.exposeInMainWorld(GLOBAL, bridge);
}

/** The members of a message that belong to it, and no others. */
function pick<M extends WindowMessage, K extends keyof M>(message: M, ...names: readonly K[]): M {
  const members = names.filter((name) => message[name] !== undefined);
  return Object.fromEntries(members.map((name) => [name, message[name]])) as unknown as M;
}

/** Page: a transport through the bridge of the preload script, by default `window.millrace`. */
export function createElectronTransport(
  bridge: ElectronBridge = (globalThis as unknown as { [GLOBAL]: ElectronBridge })[GLOBAL],
  options: TransportOptions = {},
): Transport {
  checkOptions("createElectronTransport", options, TRANSPORT_OPTIONS);
  let told = (): void => {};
  const wire: WindowWire = {
    send(message) {
      if ("command" in message || "cancel" in message) bridge.invoke(message);
      else bridge.listen(message);
    },
    receive(handler) {
      bridge.receive((message) => {
        if (message === null) told();
        else handler(message as HostMessage);
      });
    },
    onEnd(handler) {
      told = handler;
    },
    close() {
      bridge.receive(() => {});
    },
  };
  return connectWire(wire, { ...options, isOpen: true });
}

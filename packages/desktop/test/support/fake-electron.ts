/** The parts of Electron that the transport uses, with what is true of them: messages are cloned, functions cross the bridge only. */
import type {
  ContextBridgeLike,
  ElectronBridge,
  IpcEventLike,
  IpcMainLike,
  IpcRendererLike,
  WebContentsLike,
} from "@millrace/desktop/electron";

type Handler = Parameters<IpcMainLike["handle"]>[1];

/** One main process. */
export interface FakeElectron {
  readonly ipcMain: IpcMainLike;
  /** Opens a window whose page has this origin; its preload script gets these. */
  open(origin: string): FakeWindow;
}

/** One window. */
export interface FakeWindow {
  readonly ipcRenderer: IpcRendererLike;
  readonly contextBridge: ContextBridgeLike;
  /** What the preload script has put on `window`. */
  bridge(): ElectronBridge;
  destroy(): void;
}

export function fakeElectron(): FakeElectron {
  let handler: Handler | undefined;
  return {
    ipcMain: {
      handle(_, listener) {
        handler = listener;
      },
      removeHandler() {
        handler = undefined;
      },
    },
    open(origin) {
      let receive = (_: unknown): void => {};
      let destroyed = false;
      let onDestroyed = (): void => {};
      let exposed: unknown;
      const sender: WebContentsLike = {
        send(_, message) {
          const copy = structuredClone(message);
          setImmediate(() => receive(copy));
        },
        isDestroyed: () => destroyed,
        once(_, listener) {
          onDestroyed = listener;
        },
      };
      const event: IpcEventLike = { sender, senderFrame: { origin } };
      return {
        ipcRenderer: {
          async invoke(_, session, message) {
            const copy = structuredClone(message);
            await new Promise<void>((resolve) => setImmediate(resolve));
            if (handler === undefined) throw new Error("No handler registered for 'millrace'");
            return structuredClone(await handler(event, session, copy));
          },
          on(_, listener) {
            receive = (message) => listener({}, message);
          },
        },
        contextBridge: {
          exposeInMainWorld(_, api) {
            exposed = api;
          },
        },
        bridge: () => exposed as ElectronBridge,
        destroy() {
          destroyed = true;
          onDestroyed();
        },
      };
    },
  };
}

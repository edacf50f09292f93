/** The parts of Tauri that the transport uses: a command whose sidecar is a function over two streams. */
import { PassThrough } from "node:stream";
import type { SidecarCommand } from "@millrace/desktop/tauri";

/** The sidecar's ends of its streams. */
export interface SidecarStreams {
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
}

/** A command; `main` runs when it is spawned. */
export function fakeSidecar(main: (streams: SidecarStreams, died: () => void) => void): {
  readonly command: SidecarCommand;
  /** Kills the sidecar. */
  kill(): void;
} {
  let onClose = (): void => {};
  let tell = (_: string): void => {};
  let closed = false;
  const streams: SidecarStreams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const kill = (): void => {
    if (closed) return;
    closed = true;
    streams.stdin.destroy();
    streams.stdout.destroy();
    onClose();
  };
  const command: SidecarCommand = {
    stdout: {
      on(_, listener) {
        tell = listener;
      },
    },
    on(event, listener) {
      if (event === "close") onClose = listener as () => void;
    },
    async spawn() {
      let rest = "";
      // The plugin gives whole lines, without their ends.
      streams.stdout.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) tell(line);
      });
      main(streams, kill);
      return {
        async write(text) {
          streams.stdin.write(text);
        },
        async kill() {
          kill();
        },
      };
    },
  };
  return { command, kill };
}

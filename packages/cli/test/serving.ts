/** Servers and shell of a page of the guide: `millrace serve` that goes on while the rest of the page is followed. */
import { execFile } from "node:child_process";
import { start } from "./cli.ts";

/** Port of a server that names none. */
const DEFAULT_PORT = "6455";

/** The servers of one page, each on a free port in place of the one that the page names. */
export interface Servers {
  /** Starts what a fence says; ends with the test. */
  start(command: string): Promise<void>;
  /** Runs a fence as a script of the shell, with the ports that are really used. */
  script(
    text: string,
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
}

/** Makes the surroundings of a page that lies in this folder. */
export function createServers(cwd: string, env: Record<string, string>): Servers {
  const ports = new Map<string, string>();
  return {
    async start(command) {
      const words = command.trim().split(" ");
      const first = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
      const given = Object.fromEntries(words.slice(0, first).map((word) => word.split("=")));
      const [program, ...rest] = words.slice(first);
      if (program !== "millrace") throw new Error(`"${command}" does not go on running`);
      const at = rest.indexOf("--port");
      const [, named = DEFAULT_PORT] = at < 0 ? [] : rest.splice(at, 2);
      const server = start([...rest, "--port", "0", "--json"], { cwd, env: { ...env, ...given } });
      await server.until('"listening"');
      const { url } = JSON.parse(server.output()) as { url: string };
      ports.set(named, new URL(url).port);
    },
    script(text) {
      const real = text.replace(/127\.0\.0\.1:(\d+)/g, (whole, port: string) =>
        ports.has(port) ? `127.0.0.1:${ports.get(port)}` : whole,
      );
      const { PATH = "" } = process.env;
      return new Promise((resolve) => {
        execFile("sh", ["-e", "-c", real], { cwd, env: { PATH } }, (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
        });
      });
    },
  };
}

/** Servers and shell of a page of the guide: `millrace serve`, and what it needs, go on while the rest of the page is followed. */
import { execFile, spawn } from "node:child_process";
import { freePorts } from "@millrace/test-support/ports";
import { onTestFinished } from "vitest";
import { start, urlOf } from "./cli.ts";

/** Port of a server that names none. */
const DEFAULT_PORT = "6455";

const ADDRESS = /127\.0\.0\.1:(\d+)/g;

/** The servers of one page, each on a free port in place of the one that the page names. */
export interface Servers {
  /** Gives each address of a text a free port, unless it has one. */
  reserve(text: string): Promise<void>;
  /** The text with the ports that are really used. */
  real(text: string): string;
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
  const real = (text: string): string =>
    text.replace(ADDRESS, (whole, port: string) =>
      ports.has(port) ? `127.0.0.1:${ports.get(port)}` : whole,
    );
  return {
    real,
    async reserve(text) {
      const named = [...text.matchAll(ADDRESS)].map(([, port = ""]) => port);
      const fresh = [...new Set(named)].filter((port) => !ports.has(port));
      const free = await freePorts(fresh.length);
      for (const [at, port] of fresh.entries()) ports.set(port, String(free[at]));
    },
    async start(command) {
      const words = real(command).trim().split(" ");
      const first = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
      const given = Object.fromEntries(words.slice(0, first).map((word) => word.split("=")));
      const [program, ...rest] = words.slice(first);
      if (program !== "millrace") return goOn(program, rest, given);
      const at = rest.indexOf("--port");
      const [, named = DEFAULT_PORT] = at < 0 ? [] : rest.splice(at, 2);
      const server = start([...rest, "--port", "0", "--json"], { cwd, env: { ...env, ...given } });
      const url = await urlOf(server);
      ports.set(named, new URL(url).port);
    },
    script(text) {
      const { PATH = "" } = process.env;
      return new Promise((resolve) => {
        execFile(
          "sh",
          ["-e", "-c", real(text)],
          { cwd, env: { PATH } },
          (error, stdout, stderr) => {
            resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
          },
        );
      });
    },
  };

  /** Another program, in a group of its own that ends with the test: what npm installs may be a script that starts the real one. */
  function goOn(program = "", words: readonly string[], given: Record<string, string>): void {
    const { PATH = "" } = process.env;
    const options = { cwd, env: { PATH, ...given }, stdio: "ignore", detached: true } as const;
    const { pid } = spawn(program, words, options);
    if (pid === undefined) throw new Error(`"${program}" cannot be started`);
    const end = (): void => {
      try {
        process.kill(-pid, "SIGKILL");
      } catch {
        // it is gone
      }
    };
    process.once("exit", end);
    onTestFinished(() => {
      process.off("exit", end);
      end();
    });
  }
}

/**
 * A PostgreSQL of this process's tests: started by the first test that asks, ended with the process, whatever ends it. For tests that
 * say "postgres".
 */
import { type ChildProcess, spawn } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Certificate } from "./certificate.ts";
import { mountDiskFor } from "./disk.ts";
import { freePort } from "./ports.ts";
import { fileOf, machinePath } from "./programs.js";

/** A server on the loopback address, with fsync as in real life; every client is trusted. */
export interface PostgresServer {
  /** Its address, with the superuser and the database "postgres". */
  readonly url: string;
  readonly folder: string;
  /** Ends it; `how` "immediate": without an orderly end, as after a crash. Resolves when it is gone. */
  down(how?: "fast" | "immediate"): Promise<void>;
  /** Starts it again on the same port, unless it runs. Resolves when it answers. */
  up(): Promise<void>;
  /** Ends it for ever and removes its files. */
  stop(): Promise<void>;
}

let shared: Promise<PostgresServer> | undefined;

/** The server that all tests of this process share: each takes a schema of its own. */
export function sharedPostgres(): Promise<PostgresServer> {
  shared ??= startPostgres();
  return shared;
}

export interface PostgresOptions {
  /** It speaks TLS to who asks for it. */
  readonly certificate?: Certificate;
  /** Its address; default loopback. */
  readonly address?: string;
  /** The command line that runs these words where the address is. */
  readonly within?: (words: readonly string[]) => readonly string[];
  /** The size of a disk of its own, which needs the right to mount; its folder is that of the data. */
  readonly megabytes?: number;
}

/** A server of the caller's own, such as one that is to be ended. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { certificate, address = "127.0.0.1", within, megabytes } = options;
  const program = fileOf("postgres");
  if (program === undefined) throw new Error('the test must say describeWith("postgres")');
  const folder = mkdtempSync(join(tmpdir(), "millrace-pg-"));
  const disk = megabytes === undefined ? undefined : mountDiskFor(folder, megabytes);
  const user = ordinaryUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const port = await freePort();
  const words = [dirname(realpathSync(program)), folder, String(port), address];
  if (certificate !== undefined) {
    for (const part of ["cert", "key"] as const) {
      const file = join(folder, part);
      writeFileSync(file, certificate[part], { mode: 0o600 });
      if (user !== undefined) chownSync(file, user.uid, user.gid);
      words.push("-c", `ssl_${part}_file=${file}`);
    }
    words.push("-c", "ssl=on");
  }
  const keeper = ["sh", "-c", KEEPER, "sh", ...words];
  const [command = "", ...args] = within?.([...asUser(user), ...keeper]) ?? keeper;
  const shell = spawn(command, args, {
    cwd: folder,
    env: { PATH: machinePath() },
    stdio: ["pipe", "pipe", "ignore"],
    ...(within === undefined ? user : {}), // only root may go elsewhere
  });
  shell.unref();
  const ask = asker(shell, join(folder, "log"));
  await ask("start");
  const ended = new Promise<void>((done) => shell.once("exit", () => done()));
  return {
    url: `postgres://postgres@${address}:${port}/postgres`,
    folder,
    down: (how = "fast") => ask(how),
    up: () => ask("start"),
    async stop() {
      shell.ref();
      shell.stdin?.end();
      await ended;
      disk?.unmount();
      if (disk !== undefined) rmSync(folder, { recursive: true });
    },
  };
}

/**
 * Keeps the server: words come in, each is answered by a line. When its input ends, because the tests have, it ends the server and
 * removes its files.
 */
const KEEPER = `
trap "" PIPE # nobody may hear the answers any more
bin=$1 folder=$2 port=$3 address=$4
shift 4
"$bin/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --no-locale --no-sync >"$folder/log" 2>&1
echo "host all all $address/16 trust" >>"$folder/data/pg_hba.conf"
start() {
  # a crash with its recovery leaves the file, an end takes it away
  [ -f "$folder/data/postmaster.pid" ] || launch "$@"
  until "$bin/pg_isready" -q -h "$address" -p "$port"; do
    kill -0 "$pid" || exit 1
    sleep 0.05
  done
}
launch() {
  "$bin/postgres" -D "$folder/data" -p "$port" -k "$folder" -c listen_addresses="$address" -c wal_level=minimal -c max_wal_senders=0 \\
    -c shared_buffers=32MB -c max_connections=200 -c jit=off -c autovacuum=off "$@" <&- >>"$folder/log" 2>&1 &
  pid=$!
}
end() { [ -z "$pid" ] || { kill -"$1" "$pid"; wait "$pid"; pid=; }; }
while read -r word; do
  case $word in
    start) start "$@" ;;
    fast) end INT ;;
    immediate) end QUIT ;;
  esac
  echo "$word"
done
end QUIT
cd / && rm -rf "$folder"
`;

function asker(shell: ChildProcess, log: string): (word: string) => Promise<void> {
  const { stdin, stdout } = shell;
  if (stdin === null || stdout === null) throw new Error("the shell has no pipes");
  const waiting: { done(): void; refuse(error: Error): void }[] = [];
  createInterface({ input: stdout }).on("line", () => waiting.shift()?.done());
  shell.once("exit", () => {
    const why = existsSync(log) ? readFileSync(log, "utf8") : "";
    for (const { refuse } of waiting.splice(0)) refuse(new Error(`PostgreSQL has ended: ${why}`));
  });
  unref(stdin);
  unref(stdout);
  return (word) =>
    new Promise((done, refuse) => {
      waiting.push({ done, refuse });
      stdin.write(`${word}\n`);
    });
}

/** Pipes of a process keep this one alive, unless they are told not to. */
function unref(pipe: object): void {
  (pipe as { unref?(): void }).unref?.();
}

/** The words before a command that make it run as this user. */
function asUser(user: ReturnType<typeof ordinaryUser>): readonly string[] {
  if (user === undefined) return [];
  return ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
}

/** Whom the server runs as, because it refuses root; undefined: as this process. */
function ordinaryUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  const named = (name: string): string[] | undefined =>
    lines.map((line) => line.split(":")).find(([first]) => first === name);
  const [, , uid, gid] = named("postgres") ?? named("nobody") ?? [];
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) };
}

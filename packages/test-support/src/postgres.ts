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
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Certificate } from "./certificate.ts";
import { freePort } from "./ports.ts";
import { fileOf, machinePath } from "./programs.js";

/** A server on the loopback address, with fsync as in real life; every client is trusted. */
export interface PostgresServer {
  /** Its address, with the superuser and the database "postgres". */
  readonly url: string;
  /** Ends it; `how` "immediate": without an orderly end, as after a crash. Resolves when it is gone. */
  down(how?: "fast" | "immediate"): Promise<void>;
  /** Starts it again on the same port. Resolves when it answers. */
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

/** A server of the caller's own, such as one that is to be ended. With a certificate it speaks TLS to who asks for it. */
export async function startPostgres(certificate?: Certificate): Promise<PostgresServer> {
  const program = fileOf("postgres");
  if (program === undefined) throw new Error('the test must say describeWith("postgres")');
  const folder = mkdtempSync(join(tmpdir(), "millrace-pg-"));
  const user = ordinaryUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const port = await freePort();
  const words = [dirname(realpathSync(program)), folder, String(port)];
  if (certificate !== undefined) {
    for (const part of ["cert", "key"] as const) {
      const file = join(folder, part);
      writeFileSync(file, certificate[part], { mode: 0o600 });
      if (user !== undefined) chownSync(file, user.uid, user.gid);
      words.push("-c", `ssl_${part}_file=${file}`);
    }
    words.push("-c", "ssl=on");
  }
  const shell = spawn("sh", ["-c", KEEPER, "sh", ...words], {
    cwd: folder,
    env: { PATH: machinePath() },
    stdio: ["pipe", "pipe", "ignore"],
    ...user,
  });
  shell.unref();
  const ask = asker(shell, join(folder, "log"));
  await ask("start");
  const ended = new Promise<void>((done) => shell.once("exit", () => done()));
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    down: (how = "fast") => ask(how),
    up: () => ask("start"),
    stop() {
      shell.ref();
      shell.stdin?.end();
      return ended;
    },
  };
}

/**
 * Keeps the server: words come in, each is answered by a line. When its input ends, because the tests have, it ends the server and
 * removes its files.
 */
const KEEPER = `
bin=$1 folder=$2 port=$3
shift 3
"$bin/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --no-locale --no-sync >"$folder/log" 2>&1
start() {
  "$bin/postgres" -D "$folder/data" -p "$port" -k "$folder" -c listen_addresses=127.0.0.1 -c wal_level=minimal -c max_wal_senders=0 \\
    -c shared_buffers=32MB -c max_connections=200 -c jit=off -c autovacuum=off "$@" <&- >>"$folder/log" 2>&1 &
  pid=$!
  until "$bin/pg_isready" -q -h 127.0.0.1 -p "$port"; do
    kill -0 "$pid" || exit 1
    sleep 0.05
  done
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

/** Whom the server runs as, because it refuses root; undefined: as this process. */
function ordinaryUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  const named = (name: string): string[] | undefined =>
    lines.map((line) => line.split(":")).find(([first]) => first === name);
  const [, , uid, gid] = named("postgres") ?? named("nobody") ?? [];
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) };
}

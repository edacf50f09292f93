/** Sessions of a test's own: a message bus in a folder, with a keyring or without. They end with the test. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "@millrace/test-support/folder";
import { endWithTest } from "@millrace/test-support/processes";
import { fileOf, type Program } from "@millrace/test-support/programs";

/** The environment of a program that runs in a session. */
export type SessionEnv = Readonly<Record<string, string>>;

const SERVICE = ["--dest", "org.freedesktop.secrets", "--object-path", "/org/freedesktop/secrets"];
const LOGIN = "/org/freedesktop/secrets/collection/login";

/** A session with the services of the system, and a home in which nobody ever made a keyring. */
export function startSession(): Promise<SessionEnv> {
  return startBus(["--session"]);
}

/** A session in which nobody provides the Secret Service, and the bus cannot start anybody who would. */
export function startEmptySession(): Promise<SessionEnv> {
  const folder = temporaryFolder();
  const config = join(folder, "session.conf");
  const policy = '<allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>';
  writeFileSync(
    config,
    `<busconfig><type>session</type><listen>unix:path=${folder}/bus</listen>
     <policy context="default">${policy}</policy></busconfig>`,
  );
  return startBus([`--config-file=${config}`]);
}

/** Starts the keyring of a session with its first password, which leaves it unlocked. */
export async function unlockKeyring(env: SessionEnv): Promise<void> {
  const args = ["--foreground", "--unlock", "--components=secrets"];
  startProgram("gnome-keyring-daemon", args, env).stdin.end("test");
  await gdbus(env, "wait", "--session", "--timeout", "30", "org.freedesktop.secrets");
}

export async function lockKeyring(env: SessionEnv): Promise<void> {
  await callService(env, "Lock", `[objectpath "${LOGIN}"]`);
}

/** What the service itself says of items with these attributes: its text, unlocked ones first, then locked ones. */
export function searchItems(env: SessionEnv, attributes: Record<string, string>): Promise<string> {
  return callService(env, "SearchItems", JSON.stringify(attributes));
}

function callService(env: SessionEnv, method: string, argument: string): Promise<string> {
  const name = `org.freedesktop.Secret.Service.${method}`;
  return gdbus(env, "call", "--session", ...SERVICE, "--method", name, argument);
}

async function gdbus(env: SessionEnv, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(fileOf("gdbus") ?? "", args, {
    env: { ...process.env, ...env },
  });
  return stdout.trim();
}

async function startBus(args: string[]): Promise<SessionEnv> {
  const home = temporaryFolder();
  const env = { HOME: home, XDG_RUNTIME_DIR: join(home, "run"), XDG_DATA_HOME: join(home, "data") };
  for (const folder of [env.XDG_RUNTIME_DIR, env.XDG_DATA_HOME]) mkdirSync(folder);
  chmodSync(env.XDG_RUNTIME_DIR, 0o700);
  const bus = startProgram("dbus-daemon", [...args, "--nofork", "--print-address=1"], env);
  const [address] = await once(bus.stdout, "data");
  return { ...env, DBUS_SESSION_BUS_ADDRESS: String(address).trim() };
}

function startProgram(program: Program, args: string[], env: SessionEnv) {
  const child = spawn(fileOf(program) ?? "", args, {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  void endWithTest(child);
  return child;
}

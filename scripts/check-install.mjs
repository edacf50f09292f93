// Packs the current package the way it is published and installs it into empty folders, with npm and with the oldest and the
// newest pnpm that we support: none may want a native library, a compiler or an approval. Then asks the installed credential
// store for an entry, which starts its helper process from the installed files.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MANAGERS = [
  ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"],
  ["pnpm", "add", "--reporter=silent"], // 10, the pinned one
  ["npx", "--yes", "pnpm@12", "add", "--reporter=silent"],
];

// An address at which nobody listens, and which is left to the libraries: their answer comes from the helper.
const ASK = `
  import { osCredentialStore } from "@millrace/oauth/store/os";
  const store = osCredentialStore({ service: "millrace-install" });
  const error = await store.get("service:x").catch((error) => error);
  if (error?.reason === "helper_crash" || error?.code !== "oauth_credential") throw error;`;
const NOBODY = { DBUS_SESSION_BUS_ADDRESS: "tcp:host=127.0.0.1,port=1" };

const dir = mkdtempSync(join(tmpdir(), "install-"));
try {
  const packed = execFileSync("pnpm", ["pack", "--json", "--pack-destination", dir], {
    encoding: "utf8",
  });
  const tarball = JSON.parse(packed).filename;
  for (const [i, [command, ...args]] of MANAGERS.entries()) install(`${i}`, command, args, tarball);
} finally {
  rmSync(dir, { recursive: true, force: true });
}

function install(name, command, args, tarball) {
  const cwd = mkdtempSync(join(dir, name));
  writeFileSync(join(cwd, "package.json"), '{ "private": true }\n');
  run(command, [...args, tarball], { cwd });
  if (existsSync(join(cwd, "node_modules/keytar"))) {
    throw new Error(`${command} ${args.join(" ")} installed keytar, which needs a compiler`);
  }
  if (process.platform !== "linux") return; // elsewhere there is always a store that answers
  run(process.execPath, ["--input-type=module", "-e", ASK], { cwd, env: NOBODY });
}

function run(command, args, { cwd, env = {} }) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  process.stderr.write(`${stdout}${stderr}`);
  throw new Error(`${command} ${args.slice(0, 3).join(" ")} ended with ${status}`);
}

/**
 * Stand-ins for keytar and @napi-rs/keyring, for `resolveFrom`: the helper process loads them as it loads the real ones. They
 * keep their items in a JSON file each, which the test can read.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { osCredentialStore } from "@millrace/oauth/store/os";
import { temporaryFolder } from "@millrace/test-support/folder";
import { onTestFinished } from "vitest";

export type Library = "keytar" | "napi";

/** What a library does instead of working: an expression that is evaluated in each of its calls. */
export type Mischief = Partial<Record<"get" | "set" | "delete", string>>;

export interface FakeLibraries {
  readonly folder: string;
  /** The process in which the libraries were loaded last. */
  helperPid(): number | undefined;
  /** The items of a library, by account. */
  items(library: Library): Record<string, string>;
  write(library: Library, items: Record<string, string>): void;
  /** What `library` was asked, in order: `["get service:x", …]`. */
  calls(library: Library): string[];
}

/** Installs stand-ins in a folder of this test. A library that is not named is there, but does not load. */
export function fakeLibraries(libraries: Partial<Record<Library, Mischief>>): FakeLibraries {
  const folder = temporaryFolder();
  install(
    join(folder, "node_modules/keytar"),
    libraries.keytar && keytar(folder, libraries.keytar),
  );
  install(
    join(folder, "node_modules/@napi-rs/keyring"),
    libraries.napi && napi(folder, libraries.napi),
  );
  const read = (name: string, otherwise: string) => {
    const path = join(folder, name);
    return existsSync(path) ? readFileSync(path, "utf8") : otherwise;
  };
  return {
    folder,
    helperPid: () => Number(read("pid", "")) || undefined,
    items: (library) => JSON.parse(read(`${library}.json`, "{}")),
    write: (library, items) =>
      writeFileSync(join(folder, `${library}.json`), JSON.stringify(items)),
    calls: (library) => read(`${library}.calls`, "").split("\n").slice(0, -1),
  };
}

export type StoreOptions = Partial<Parameters<typeof osCredentialStore>[0]>;

/** The store of the system over these stand-ins; it ends with the test. */
export function openStore({ folder }: FakeLibraries, options: StoreOptions = {}) {
  const store = osCredentialStore({ service: "millrace", resolveFrom: folder, ...options });
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

function install(folder: string, code = 'throw new Error("no native part")'): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "main": "main.js" }');
  writeFileSync(join(folder, "main.js"), code);
}

/** The items of a library, and what each of its calls does. */
const items = (folder: string, library: Library, mischief: Mischief) => `
const fs = require("node:fs");
fs.writeFileSync(${JSON.stringify(join(folder, "pid"))}, String(process.pid));
const file = ${JSON.stringify(join(folder, `${library}.json`))};
const note = (text) => fs.appendFileSync(${JSON.stringify(join(folder, `${library}.calls`))}, text + "\\n");
const load = () => (fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : {});
const save = (items) => fs.writeFileSync(file, JSON.stringify(items));
const forever = new Promise(() => {});
const mischief = {
  get: async (account) => { ${mischief.get ?? ""} },
  set: async (account, value) => { ${mischief.set ?? ""} },
  delete: async (account) => { ${mischief.delete ?? ""} },
};
const get = async (account) => {
  note("get " + account);
  await mischief.get(account);
  return load()[account] ?? null;
};
const set = async (account, value) => {
  note("set " + account);
  await mischief.set(account, value);
  save({ ...load(), [account]: value });
};
const remove = async (account) => {
  note("delete " + account);
  await mischief.delete(account);
  const { [account]: old, ...others } = load();
  save(others);
  return old !== undefined;
};
const list = async () => Object.keys(load()).map((account) => ({ account, password: "" }));
`;

const keytar = (folder: string, mischief: Mischief) => `${items(folder, "keytar", mischief)}
module.exports = {
  getPassword: (service, account) => get(account),
  setPassword: (service, account, value) => set(account, value),
  deletePassword: (service, account) => remove(account),
  findCredentials: list,
};`;

/** Fails like a library that chose another store when it is not pinned to the Secret Service. */
const napi = (folder: string, mischief: Mischief) => `${items(folder, "napi", mischief)}
module.exports = {
  AsyncEntry: class {
    constructor(service, account, options) {
      if (options.linux.store !== "secret-service") throw new Error("not pinned");
      this.account = account;
    }
    getPassword() { return get(this.account); }
    setPassword(value) { return set(this.account, value); }
    deletePassword() { return remove(this.account); }
  },
  findCredentialsAsync: list,
};`;

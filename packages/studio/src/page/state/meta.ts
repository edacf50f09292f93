/** Data of the server about itself and the caller, and the rights of the page that follow. */
import type { Meta } from "@millrace/contracts";
import { batch, computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import {
  backend,
  backendWith,
  connection,
  hasCode,
  isDraining,
  isUnauthorised,
} from "../backend.ts";
import { askSiblings, endSiblings, forgetToken, keepToken, token } from "../session.ts";

/** Role of a caller; each role includes those before it. */
export type Role = "read" | "run" | "admin";

const ROLES: readonly Role[] = ["read", "run", "admin"];

const current = signal<Meta | undefined>(undefined);

/** The server; undefined: it has not answered yet. */
export const meta: ReadonlySignal<Meta | undefined> = current;

/** Why the page and the server do not fit; the page then reads only. Undefined: they fit. */
export const mismatch: ReadonlySignal<string | undefined> = computed(() => {
  const version = current.value?.version;
  return version === undefined ? undefined : versionProblem(PAGE_VERSION, version);
});

/** Reads `get_meta`. Where a token is needed and none is known, other tabs are asked; `isUnauthorised` then says that none had one. */
export async function loadMeta(): Promise<void> {
  try {
    take(await backend.invoke("get_meta", {}));
    return;
  } catch (error) {
    if (!isUnauthorised.peek()) throw error;
  }
  const known = token.peek() === undefined ? await askSiblings() : undefined;
  if (known !== undefined) await signIn(known);
}

/** Tries a token; false: the server does not accept it. */
export async function signIn(tried: string): Promise<boolean> {
  let answered: Meta;
  try {
    answered = await backendWith(() => tried).invoke("get_meta", {});
  } catch (error) {
    if (hasCode(error, "unauthorized")) return false;
    throw error;
  }
  batch(() => {
    keepToken(tried);
    isUnauthorised.value = false;
    take(answered);
  });
  return true;
}

function take(answered: Meta): void {
  batch(() => {
    current.value = answered;
    isDraining.value = answered.draining ?? false;
  });
}

/** Reads `get_meta` again when a server that was lost is back: it may be another one. Called once. */
export function followMeta(): void {
  let wasCut = false;
  effect(() => {
    const isCut = connection.value !== "Connected";
    const isBack = wasCut && !isCut;
    wasCut = isCut;
    // After a failure the last data stays; the state of the connection shows the reason.
    if (isBack && current.peek() !== undefined) void loadMeta().catch(() => {});
  });
}

/** Signs out, in every tab. */
export function signOut(): void {
  leave();
  endSiblings();
}

/** Forgets the token and the data of the server, in this tab. */
export function leave(): void {
  forgetToken();
  current.value = undefined;
  isUnauthorised.value = true;
}

/**
 * Why the page may not use functions of a role; undefined: it may. For `disabled` and `title` of a control. Commands that start and steer runs
 * need `run`; those that change what is stored need `admin`.
 */
export function refusal(role: Role): string | undefined {
  if (role !== "read" && mismatch.value !== undefined) return mismatch.value;
  const has = current.value?.caller?.role ?? "admin";
  return ROLES.indexOf(has) < ROLES.indexOf(role) ? `needs the role ${role}` : undefined;
}

/** Whether the server has a handler for a command; without one a part of it is not installed, or the server is older than the command. */
export function isWired(command: string): boolean {
  return current.value?.commands.wired.includes(command) ?? true;
}

/** The problem of a server of this version; undefined: none. */
export function versionProblem(page: string, server: string): string | undefined {
  const [pageMajor = 0, pageMinor = 0] = numbersOf(page);
  const [major = 0, minor = 0] = numbersOf(server);
  const isOlder = major < pageMajor || (major === pageMajor && minor < pageMinor);
  if (major === pageMajor && !isOlder) return undefined;
  const age = isOlder ? "older" : "newer";
  return `The server has version ${server}, which is ${age} than this page (${page}): reload the page, or update the server`;
}

function numbersOf(version: string): number[] {
  return version.split(/[.+-]/).slice(0, 2).map(Number);
}

/**
 * One process writes to a folder of models. The lock is a file that names its holder; a process that finds a dead holder
 * takes it over.
 */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { FILE_MODE } from "./folders.ts";
import { isAlive, type ProcessIdentity, startTimeOf } from "./process-identity.ts";

export interface Lock {
  release(): void;
}

/** Takes the lock at `path`; null while another manager, in this process or another, has it. */
export function takeLock(path: string): Lock | null {
  const mine = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  const owner: ProcessIdentity = { pid: process.pid, startTime: startTimeOf(process.pid) };
  writeFileSync(mine, JSON.stringify(owner), { mode: FILE_MODE, flag: "wx" });
  try {
    // A link appears whole or not at all, and only where nothing is.
    if (!linked(mine, path) && !(putAway(path) && linked(mine, path))) return null;
  } finally {
    rmSync(mine, { force: true });
  }
  return { release: () => rmSync(path, { force: true }) };
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Removes a lock whose holder is gone; false when it is held. */
function putAway(path: string): boolean {
  if (isHeld(path)) return false;
  const aside = `${path}.old-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return true; // another process was quicker: the link decides
  }
  const wrong = isHeld(aside); // another process may have taken it in between
  if (wrong) linked(aside, path);
  rmSync(aside, { force: true });
  return !wrong;
}

function isHeld(path: string): boolean {
  try {
    const owner = JSON.parse(readFileSync(path, "utf8")) as ProcessIdentity;
    return Number.isSafeInteger(owner.pid) && isAlive(owner);
  } catch {
    return false;
  }
}

/** Disks that a test can fill: file systems in memory, which end with the test. They need the right to mount. */
import { execFileSync } from "node:child_process";
import { onTestFinished } from "vitest";
import { fileOf, machinePath } from "./programs.js";

export interface Disk {
  resize(megabytes: number): void;
  makeReadOnly(): void;
}

/** Mounts a disk of this size over a folder, until the test ends. */
export function mountDisk(folder: string, megabytes: number): Disk {
  const disk = mountDiskFor(folder, megabytes);
  onTestFinished(() => disk.unmount());
  return disk;
}

/** The same, until the caller unmounts it. */
export function mountDiskFor(folder: string, megabytes: number): Disk & { unmount(): void } {
  mount("-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder);
  return {
    unmount: () => unmount(folder),
    resize: (size) => mount("-o", `remount,size=${size}m`, folder),
    makeReadOnly: () => mount("-o", "remount,ro", folder),
  };
}

/** Why no disk can be mounted here; undefined where one can. */
export function noMount(): string | undefined {
  if (process.platform !== "linux" || fileOf("mount") === undefined) return "no mount";
  try {
    mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", "/mnt");
    unmount("/mnt");
    return undefined;
  } catch {
    return "no right to mount";
  }
}

const env = (): NodeJS.ProcessEnv => ({ ...process.env, PATH: machinePath() });

function mount(...args: readonly string[]): void {
  execFileSync("mount", args, { stdio: "ignore", env: env() });
}

function unmount(folder: string): void {
  execFileSync("umount", ["-l", folder], { stdio: "ignore", env: env() });
}

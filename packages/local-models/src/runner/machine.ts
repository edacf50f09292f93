/** Resources of this machine for models: processors and memory, within the limits of its container. */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";

/** Facts of the machine; replaced in tests. */
export interface Machine {
  /** Processors that this process may keep busy. */
  cores(): number;
  /** Bytes of memory that this process may still take. */
  availableBytes(): number;
}

export const thisMachine: Machine = {
  cores: () => Math.max(1, Math.min(availableParallelism(), Math.floor(cgroupCores()))),
  availableBytes: () => process.availableMemory(),
};

const CGROUPS = "/sys/fs/cgroup";

/** Processors that the control group allows, from itself up to the root; Infinity: there is no limit. @see cgroup-v2, cpu.max */
function cgroupCores(): number {
  const own = /^0::(.*)$/m.exec(textOf("/proc/self/cgroup"))?.[1] ?? "/";
  let least = quota(textOf(join(CGROUPS, "cpu/cpu.cfs_quota_us")), {
    period: textOf(join(CGROUPS, "cpu/cpu.cfs_period_us")),
  });
  for (let at = own; ; at = dirname(at)) {
    const [most = "", period = ""] = textOf(join(CGROUPS, at, "cpu.max"))
      .trim()
      .split(" ");
    least = Math.min(least, quota(most, { period }));
    if (at === dirname(at)) return least;
  }
}

function quota(most: string, { period }: { readonly period: string }): number {
  const cores = Number(most) / Number(period);
  return most !== "" && Number(most) > 0 && cores > 0
    ? Math.max(1, cores)
    : Number.POSITIVE_INFINITY;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The name of this machine's kind, as the engine's packages have it. */

/** `linux-x64`; the name alone says nothing of whether there is an engine for it. */
export function platformOf({ platform, arch, musl }: Machine = thisMachine()): string {
  if (platform === "darwin") return arch === "arm64" ? "mac-arm64-metal" : `mac-${arch}`;
  if (platform === "win32") return `win-${arch}`;
  return musl ? `${platform}-${arch}-musl` : `${platform}-${arch}`;
}

/** What decides which native code can run. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** A C library that the engine was not built for. */
  readonly musl: boolean;
}

function thisMachine(): Machine {
  const { platform, arch } = process;
  return { platform, arch, musl: platform === "linux" && !hasGlibc() };
}

function hasGlibc(): boolean {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime !== undefined;
}

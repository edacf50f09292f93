/** Why a file could not be read or written. */

/** The system's word for what went wrong with a file, without the path of anything else. */
export function reason(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const words: Record<string, string> = {
    ENOENT: "no such file",
    EACCES: "not permitted",
    EPERM: "not permitted",
    ENOSPC: "no space left on the device",
    EISDIR: "it is a folder",
    ENOTDIR: "a part of the path is not a folder",
  };
  return words[code ?? ""] ?? code ?? "unreadable";
}

/** Why a file could not be read or written. */
import { type CliError, usage } from "./errors.ts";
import { clean } from "./render/text.ts";

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

/** The end of a command that was to write this file. What is missing then is its folder. */
export function cannotWrite(path: string, error: unknown): CliError {
  const isMissing = (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
  return usage(
    `cannot write ${clean(path)}: ${isMissing ? "there is no such folder" : reason(error)}`,
  );
}

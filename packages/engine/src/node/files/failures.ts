/** The errors of the file port. They name paths as the flow wrote them, never a place outside the root. */
import { NodeError } from "@millrace/contracts";

export function denied(path: string, why: string): NodeError {
  return new NodeError("file_denied", `${shown(path)} ${why}`, { reason: "denied", sent: false });
}

export function notFound(path: string): NodeError {
  return new NodeError("file_not_found", `${shown(path)} is not there`, { reason: "input" });
}

function exists(path: string): NodeError {
  const text = `${shown(path)} is there already; use mode "replace" or "append" to change it`;
  return new NodeError("file_exists", text, { reason: "input", sent: false });
}

export function tooLarge(path: string, bytes: number, most: number): NodeError {
  const text = `${shown(path)} has ${bytes} bytes, more than ${most}`;
  return new NodeError("file_too_large", text, { reason: "limit", sent: false });
}

/** An error of the file system as the port reports it; a `NodeError` is returned unchanged. */
export function explained(error: unknown, path: string): unknown {
  if (NodeError.isInstance(error)) return error;
  const code = (error as NodeJS.ErrnoException | null)?.code;
  switch (code) {
    case "ENOENT":
      return notFound(path);
    case "ENOTDIR":
      return notFound(path);
    case "EEXIST":
      return exists(path);
    case "ELOOP":
    case "EMLINK":
      return denied(path, "is a link");
    case "EISDIR":
    case "ENXIO":
      return denied(path, "is not a regular file");
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return denied(path, "may not be used by this process");
    case "ENAMETOOLONG":
    case "EINVAL":
      return denied(path, "is not a name that this file system takes");
    case "ENOSPC":
    case "EDQUOT":
      return new NodeError("disk_full", `${shown(path)}: no space is left`, { reason: "limit" });
    default:
      return typeof code === "string"
        ? new NodeError("internal", `${shown(path)}: the file system answered ${code}`, {
            reason: "internal",
          })
        : error;
  }
}

function shown(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}

/** The folder in which a program runs, held open until it has ended: no link can take its place between check and use. */
import { NodeError } from "@millrace/contracts";
import { explained } from "../files/failures.ts";
import { partsOf } from "../files/flow-path.ts";
import { type Folder, openFolder } from "../files/folder.ts";
import { denied, notStarted } from "./failures.ts";

/** Opens `cwd` below `root`. Throws `program_denied` for a way out, `spawn_failed` for a folder that is not there. */
export async function openCwd(root: string, cwd: string): Promise<Folder> {
  try {
    const parts = partsOf(cwd.replace(/(?<=[^/])\/$/, ""));
    return await openFolder(root, parts, { path: cwd });
  } catch (error) {
    const told = explained(error, cwd);
    if (!NodeError.isInstance(told)) throw told;
    throw told.code === "file_not_found"
      ? notStarted(`the folder ${told.message}`)
      : denied(`the folder ${told.message}`);
  }
}

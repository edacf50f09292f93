/** The services that a flow is checked against. */
import { dirname } from "node:path";
import type { ServiceDefinition } from "@millrace/contracts";
import type { CliIo } from "../io.ts";
import { type ConfigOptions, projectFolder } from "./files.ts";
import { userFile } from "./folders.ts";
import { readDescriptors, toServices } from "./services.ts";

/** Those of the user and of the project. They are data that nothing acts on here, so they need no trust. */
export async function describedServices(
  options: ConfigOptions,
  io: CliIo,
): Promise<readonly ServiceDefinition[]> {
  const project = await projectFolder(options, io);
  return toServices(
    await readDescriptors(dirname(userFile(options.home, io))),
    project === undefined ? [] : await readDescriptors(project),
  );
}

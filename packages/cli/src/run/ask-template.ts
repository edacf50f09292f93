/** The template that a word names, from whoever keeps the templates. */

import { ClientError } from "@millrace/client";
import type { Template } from "@millrace/contracts";
import type { Api } from "../api/api.ts";
import { inContext } from "../api/in-context.ts";
import type { CliIo } from "../io.ts";
import { noFlow } from "./find-flow.ts";

/** The newest version. Throws `unavailable` where there is none. */
export async function askTemplate(slug: string, api: Api, io: CliIo): Promise<Template> {
  try {
    return await api.invoke("get_template", { slug });
  } catch (error) {
    const isMissing = ClientError.isInstance(error) && error.code === "not_found";
    throw isMissing ? await noFlow(slug, io) : inContext(error, slug);
  }
}

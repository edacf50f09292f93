/** What a person does after a run that this installation did not let do its work. */

import type { Summary } from "@millrace/contracts";
import { type CommandIo, flagText, type Input } from "../argv/spec.ts";
import { explainConfig } from "../config/explain.ts";
import { clean } from "../output/text.ts";
import { projectStart } from "./find-flow.ts";

/** A host that the egress policy did not permit, as its refusal names it. */
const REFUSED = /the egress policy does not permit (\S+?)(?::(\d{1,5}))?;/;

/** Commands that let the run do what it could not, one a line; none where nothing here decides about it. */
export async function adviceFor(
  { error }: Summary,
  input: Input,
  io: CommandIo,
): Promise<readonly string[]> {
  if (error?.code === "unavailable") return storeAdvice(error.message);
  if (error?.code !== "egress_denied") return [];
  const [, host, port] = REFUSED.exec(error.message) ?? [];
  if (host === undefined) return [];
  const name = host.replace(/^\[(.*)\]$/, "$1"); // an IPv6 address
  const folder = await projectStart(input.args[0] ?? "", io);
  const options = { folder, file: flagText(input, "config"), home: flagText(input, "home") };
  const sources = await explainConfig(options, io);
  const known = sources.value("egress.allow");
  const rule = { host: name, ...(port !== undefined && { port: Number(port) }) };
  const list = JSON.stringify([...(Array.isArray(known) ? known : []), rule]);
  const [origin] = sources.origins("egress.allow");
  if (origin?.source === "variable") return [`set ${origin.where}='${list}'`].map(clean);
  // A list of the project replaces the user's.
  const isProject = origin?.source === "project";
  const set = `millrace config set egress.allow '${list}' ${isProject ? "--project" : "--user"}`;
  return [set, ...(isProject ? ["millrace config trust"] : [])].map(clean);
}

/** A key in a variable first, then the store that needs no desktop. */
function storeAdvice(message: string): readonly string[] {
  if (!message.includes("credential store:")) return [];
  const [, variable] = /\bset ([A-Z][A-Z_]*_API_KEY);/.exec(message) ?? [];
  return [
    ...(variable === undefined ? [] : [`export ${variable}=KEY, or`]),
    "millrace config set credentials.store file --user",
    "export MILLRACE_CREDENTIAL_KEY=$(openssl rand -base64 32), and keep it",
  ];
}

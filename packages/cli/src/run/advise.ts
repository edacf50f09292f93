/** Hints after a run that failed because of this installation's configuration. */

import type { Summary } from "@millrace/contracts";
import { type CommandIo, flagText, type Input } from "../argv/spec.ts";
import { explainConfig } from "../config/explain.ts";
import { clean } from "../output/text.ts";
import { projectStart } from "./find-flow.ts";

/** A host that the egress policy did not permit, as its refusal names it. */
const REFUSED = /the egress policy does not permit (\S+?)(?::(\d{1,5}))?;/;
/** A program that is not on the operator's list. */
const UNLISTED = /the program "([\w.-]{1,100})" is not allowed here/;

/** Commands that let the run do what it could not, one a line; none where nothing here decides about it. */
export async function adviceFor(
  { error }: Summary,
  input: Input,
  io: CommandIo,
): Promise<readonly string[]> {
  if (error?.code === "unavailable") return storeAdvice(error.message);
  const grant = error && grantOf(error);
  if (grant === undefined) return [];
  const { key, extend } = grant;
  const folder = await projectStart(input.args[0] ?? "", io);
  const options = { folder, file: flagText(input, "config"), home: flagText(input, "home") };
  const sources = await explainConfig(options, io);
  const value = JSON.stringify(extend(sources.value(key)));
  const [origin] = sources.origins(key);
  if (origin?.source === "variable") return [`set ${origin.where}='${value}'`].map(clean);
  // What the project has replaces what the user has.
  const isProject = origin?.source === "project";
  const set = `millrace config set ${key} '${value}' ${isProject ? "--project" : "--user"}`;
  return [set, ...(isProject ? ["millrace config trust"] : [])].map(clean);
}

/** The key whose value has to grow for the run to go on, and how it grows. */
interface Grant {
  readonly key: string;
  extend(known: unknown): unknown;
}

function grantOf({ code, message }: NonNullable<Summary["error"]>): Grant | undefined {
  if (code === "egress_denied") {
    const [, host, port] = REFUSED.exec(message) ?? [];
    if (host === undefined) return undefined;
    const name = host.replace(/^\[(.*)\]$/, "$1"); // an IPv6 address
    const rule = { host: name, ...(port !== undefined && { port: Number(port) }) };
    return {
      key: "egress.allow",
      extend: (known) => [...(Array.isArray(known) ? known : []), rule],
    };
  }
  const areOff = code === "capability_denied" && message.includes("programs are off");
  const program = areOff ? "NAME" : UNLISTED.exec(message)?.[1];
  if (program === undefined) return undefined;
  return {
    key: "shell.programs",
    extend: (known) => ({ ...Object(known), [program]: "/PATH/TO/PROGRAM" }),
  };
}

/** A key in a variable first, then the store that needs no desktop. */
function storeAdvice(message: string): readonly string[] {
  if (!message.includes("credential store:")) return [];
  const [, variable] = /\bset ([A-Z][A-Z_]*_API_KEY);/.exec(message) ?? [];
  return [
    ...(variable === undefined ? [] : [`export ${variable}=KEY, or`]),
    "millrace config set credentials.store file --user",
  ];
}

/** The key `egress`: what flows may reach. Every rule is checked before anything runs. */
import type { EgressPolicy, EgressRule } from "@millrace/engine";
import { usage } from "../errors.ts";
import { clean } from "../render/text.ts";
import { isRecord } from "./record.ts";

const FORMS = 'takes {"host": "api.example"}, with "port" for one port, or {"cidr": "10.0.0.0/8"}';

/** The policy that the key says. `"host": "127.0.0.1:7101"` is that host with that port. Throws a usage error with the place. */
export async function readEgress(value: Readonly<Record<string, unknown>>): Promise<EgressPolicy> {
  const { allow, deny, ...rest }: { readonly allow?: unknown; readonly deny?: unknown } = value;
  return {
    ...(rest as EgressPolicy),
    ...(allow !== undefined && { allow: await rulesOf(allow, "/egress/allow") }),
    ...(deny !== undefined && { deny: await rulesOf(deny, "/egress/deny") }),
  };
}

async function rulesOf(value: unknown, pointer: string): Promise<EgressRule[]> {
  if (!Array.isArray(value)) throw usage(`${pointer} takes a list`);
  if (value.length === 0) return [];
  // What parses hosts and ranges is part of the engine, and most projects name none.
  const { createEgressCheck } = await import("@millrace/engine/node");
  return value.map((each: unknown, at) => {
    const place = `${pointer}/${at}`;
    const rule = ruleOf(each, place);
    try {
      createEgressCheck({ allow: [rule] });
    } catch (error) {
      throw usage(clean(`${place} ${(error as Error).message}`));
    }
    return rule;
  });
}

function ruleOf(value: unknown, place: string): EgressRule {
  if (!isRecord(value)) throw usage(`${place} ${FORMS}`);
  const { host, port, cidr, ...rest } = value as { readonly [name: string]: unknown };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    throw usage(clean(`${place}/${unknown} is not known; a rule ${FORMS}`));
  if (typeof cidr === "string" && host === undefined && port === undefined) return { cidr };
  if (typeof host !== "string" || cidr !== undefined) throw usage(`${place} ${FORMS}`);
  const [, name, number] = /^([^:]+|\[.*\]):(\d{1,5})$/.exec(host) ?? [];
  if (port === undefined && name !== undefined) {
    return {
      host: name.replace(/^\[(.*)\]$/, "$1"),
      port: portOf(Number(number), `${place}/host`),
    };
  }
  return { host, ...(port !== undefined && { port: portOf(port, `${place}/port`) }) };
}

function portOf(port: unknown, place: string): number {
  if (Number.isInteger(port) && (port as number) > 0 && (port as number) <= 65_535) {
    return port as number;
  }
  throw usage(`${place} takes a port from 1 to 65535`);
}

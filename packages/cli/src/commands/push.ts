/**
 * `millrace push`: the flows of a folder become the templates of a server, or of this installation, all of them or none.
 *   P1  What a flow only proposes, schedules and connections, is said, and activated with `--activate` alone.
 *   P2  What is deleted was pushed under the name that was given: two checkouts may have folders of one name.
 */

import { ClientError } from "@millrace/client";
import type { Diagnostic, FlowSchedule, Problem, PushReport, Schedule } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { createTwoFilesPatch } from "diff";
import { type Api, itemsOf } from "../api/api.ts";
import { withApi } from "../api/command.ts";
import { activate, activeLine, proposedLine } from "../api/proposed-schedules.ts";
import {
  type FlowFile,
  folderOfFlows,
  nameOfFolder,
  readFlows,
  readPulled,
} from "../api/pushed-folder.ts";
import { option, serverCommand } from "../argv/flags.ts";
import {
  type Answer,
  type CliCommand,
  type CommandIo,
  flagText,
  type Input,
  isOn,
} from "../argv/spec.ts";
import { CliError, interruptible, usage } from "../errors.ts";
import { showFindings } from "../output/findings.ts";
import { clean } from "../output/text.ts";
import { connectionsOf, servicesOf } from "./connections.ts";

export const commands: readonly CliCommand[] = [
  serverCommand("push", "store the flows of a folder as templates, all of them or none", {
    args: [{ name: "folder", summary: "folder of flows (default that of the project)" }],
    flags: [
      { long: "dry-run", summary: "say what would change, and change nothing" },
      { long: "prune", summary: "delete what was pushed as the name of --as and is no more" },
      { long: "activate", summary: "the schedules that the flows declare fire from now on" },
      { long: "force", summary: "also replace what somebody else has changed" },
      option("as", "<name>", "name under which the folder pushes (default its own)"),
    ],
    examples: [["push flows --dry-run", "what would change"]],
    run,
  }),
];

async function run(input: Input, io: CommandIo): Promise<Answer> {
  const as = flagText(input, "as");
  if (isOn(input, "prune") && as === undefined) {
    throw usage(
      "--prune needs --as",
      "give the name to push under: another folder that is called like this one may have pushed as well",
    );
  }
  const { folder } = await folderOfFlows(input, io);
  const files = await readFlows(folder, io);
  const pulled = await readPulled(folder, io);
  const dryRun = isOn(input, "dry-run");
  const by = as ?? nameOfFolder(folder, io);
  const args = {
    by,
    flows: files.map(({ slug, text: dsl }) => {
      const base = pulled.get(slug);
      return { slug, dsl, ...(base !== undefined && { base }) };
    }),
    prune: isOn(input, "prune"),
    force: isOn(input, "force"),
    dryRun,
  };
  return withApi(input, io, true, async (api) => {
    const report = await interruptible(io.signal, api.invoke("push_templates", args)).catch(
      (error: unknown) => refused(error, files, io),
    );
    const lines = report.changes.map((each) => lineOf(each, dryRun));
    if (dryRun) return { value: { by, ...report }, data: lines, said: [totalOf(report, dryRun)] };
    const declared = await declaredBy(files, report, { input, api });
    const { activated, proposed, undeclared, unconnected } = declared;
    return {
      value: { by, ...report, ...declared },
      data: lines,
      said: [
        totalOf(report, dryRun),
        ...activated.map(activeLine),
        ...proposed.map(({ template, schedule }) => proposedLine(schedule, template)),
        ...undeclared.map(({ id, name, template }) =>
          clean(
            `schedule ${name} of ${template} is declared no more and still fires; millrace schedule remove ${id} ends it`,
          ),
        ),
        ...unconnected.map(({ template, connection, service }) =>
          clean(
            `connection ${connection} of ${template} is not connected; millrace connect ${connection}${service === undefined ? "" : ` --service ${service}`} connects it`,
          ),
        ),
      ],
    };
  });
}

const MARKS = { created: "+", updated: "~", removed: "-" } as const;

/** One change; of a dry run with the lines that differ. */
function lineOf(
  { slug, change, version, before, after }: PushReport["changes"][number],
  dryRun: boolean,
): string {
  const what = change === "removed" ? "" : `, version ${version}`;
  const head = `${MARKS[change]} ${slug}  ${change}${what}`;
  if (!dryRun || before === undefined || after === undefined) return head;
  const patch = createTwoFilesPatch(slug, slug, before, after, "there", "here");
  return `${head}\n${patch.slice(patch.indexOf("---")).trimEnd()}`;
}

/** `1 created, 2 updated, 4,997 as they were`. */
function totalOf({ changes, same }: PushReport, dryRun: boolean): string {
  const parts = (["created", "updated", "removed"] as const).flatMap((kind) => {
    const count = changes.filter(({ change }) => change === kind).length;
    return count === 0 ? [] : [`${count} ${kind}`];
  });
  const all = [...parts, `${same} as ${same === 1 ? "it was" : "they were"}`].join(", ");
  return dryRun ? `would be: ${all}; nothing is changed` : all;
}

const MAX_NAMED = 20;

/** Says which files the refusal is about, and how to go on. Nothing was stored. */
async function refused(error: unknown, files: readonly FlowFile[], io: CommandIo): Promise<never> {
  const { errors = [], detail = "" } = (ClientError.isInstance(error) && error.problem) || {};
  if (!ClientError.isInstance(error) || errors.length === 0) throw error;
  const named = (names: readonly string[]): string => {
    const more = names.length > MAX_NAMED ? "; and more" : ""; // how many, the detail says
    return `${detail}: ${names.slice(0, MAX_NAMED).map(clean).join("; ")}${more}; nothing is stored`;
  };
  if (error.code === "flow_invalid") {
    const names: string[] = [];
    for (const [at, some] of grouped(errors)) {
      const { file = "", text } = files[at] ?? {};
      await showFindings(some.map(diagnosticOf), { name: file, text }, io);
      const [{ line, message = "" } = {}] = some;
      names.push(`${file}${line === undefined ? "" : `:${line}`} ${message}`);
    }
    throw new CliError("flow_invalid", named(names));
  }
  if (error.code !== "state_conflict" && error.code !== "in_use") throw error;
  throw new CliError("check_failed", named(errors.map(({ message }) => message)), {
    problem: error.code,
    hint:
      error.code === "in_use"
        ? "millrace schedule remove and millrace webhooks remove delete what uses them"
        : "millrace pull brings what is there; --force replaces it",
  });
}

/** By their place among the flows. */
function grouped(errors: readonly Problem[]): Map<number, Problem[]> {
  const all = new Map<number, Problem[]>();
  for (const one of errors) {
    const at = Number(one.pointer.split("/")[2] ?? -1);
    all.set(at, [...(all.get(at) ?? []), one]);
  }
  return all;
}

function diagnosticOf({ code, message, line, column }: Problem): Diagnostic {
  const place = line === undefined ? undefined : { line, column: column ?? 1, offset: 0 };
  return {
    code,
    message,
    severity: "error",
    ...(place !== undefined && { range: { start: place, end: place } }),
  };
}

interface Declared {
  readonly activated: readonly Schedule[];
  readonly proposed: readonly { readonly template: string; readonly schedule: FlowSchedule }[];
  /** Schedules that a changed flow has declared and declares no more. */
  readonly undeclared: readonly Schedule[];
  /** `service`: the service of a connection, where its name does not imply it. */
  readonly unconnected: readonly {
    readonly template: string;
    readonly connection: string;
    readonly service?: string;
  }[];
}

async function declaredBy(
  files: readonly FlowFile[],
  { changes }: PushReport,
  { input, api }: { readonly input: Input; readonly api: Api },
): Promise<Declared> {
  const slugs = new Set(files.map(({ slug }) => slug));
  const changed = new Set(changes.map(({ slug }) => slug));
  const graphs = files
    .filter(({ slug }) => changed.has(slug))
    .map(({ slug, text }) => ({ slug, graph: parseFlow(text).graph }));
  const proposedNow = async () => {
    const { proposed = [] } = await api.invoke("list_schedules", { limit: 1 });
    return proposed.filter(({ template }) => slugs.has(template));
  };
  let proposed = await proposedNow();
  const activated: Schedule[] = [];
  if (isOn(input, "activate")) {
    for (const slug of new Set(proposed.map(({ template }) => template))) {
      const names = proposed.flatMap((one) => (one.template === slug ? [one.schedule.name] : []));
      activated.push(...(await activate(api, await api.invoke("get_template", { slug }), names)));
    }
    proposed = [];
  }
  const undeclared: Schedule[] = [];
  if (graphs.length > 0) {
    for await (const each of itemsOf((page) => api.invoke("list_schedules", page))) {
      const of = graphs.find(({ slug }) => slug === each.template);
      const isDeclared = of?.graph.schedules?.some(({ name }) => name === each.name) ?? true;
      if (each.name !== undefined && !isDeclared) undeclared.push(each);
    }
  }
  const wanted = graphs.flatMap(({ slug, graph }) =>
    (graph.connections ?? []).map(({ name, service = name }) => ({
      template: slug,
      connection: name,
      ...(service !== name && { service }),
    })),
  );
  const connected = wanted.length === 0 ? [] : connectionsOf(await servicesOf(api));
  const unconnected = wanted.filter(
    ({ connection }) =>
      !connected.some(({ slug, status }) => slug === connection && status === "connected"),
  );
  return { activated, proposed, undeclared, unconnected };
}

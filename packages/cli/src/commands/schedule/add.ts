/** `millrace schedule add`: a template at times, or the schedules that a flow declares. */

import type { Schedule, ScheduleArgs, Template } from "@millrace/contracts";
import type { Api } from "../../api/api.ts";
import {
  type CommandContext,
  callApi,
  durationOf,
  omitUndefined,
  pairsOf,
  withApi,
} from "../../api/command.ts";
import { activate, activeLine } from "../../api/proposed-schedules.ts";
import { option, serverCommand } from "../../argv/flags.ts";
import { type CliCommand, flagList, flagText, type Input, type Run } from "../../argv/spec.ts";
import { usage } from "../../errors.ts";
import { formatTime } from "../../output/text.ts";

export const add: CliCommand = serverCommand(
  "schedule add",
  "run a template at times, or activate the schedules of a flow",
  {
    flags: [
      option("template", "<slug>", "what to run", { complete: "template" }),
      option("from", "<flow>", "activate what this file or template declares", {
        complete: "template",
      }),
      option("name", "<name>", "of --from, only the schedule of this name", { multiple: true }),
      option("cron", "<fields>", "five or six fields, such as '0 7 * * 1-5'"),
      option("every", "<duration>", "again and again, this far apart"),
      option("at", "<time>", "once, at this moment in ISO 8601 with a zone"),
      option("timezone", "<name>", "of --cron, such as Europe/Berlin (default UTC)"),
      option("input", "<k=v>", "an input; v may be @file, @-, @env:NAME", {
        short: "i",
        multiple: true,
      }),
      option("input-json", "<file>", "all inputs as one JSON object; - for stdin"),
      option("tag", "<k=v>", "a tag of its runs", { multiple: true }),
      option("overlap", "<what>", "while its last run goes on: skip (default), queue, allow", {
        choices: ["skip", "queue", "allow"],
      }),
      option("catch-up", "<what>", "times that were missed: skip (default), one, all", {
        choices: ["skip", "one", "all"],
      }),
    ],
    examples: [
      ["schedule add --template hello --every 1h", "fires while a server runs"],
      ["schedule add --from nightly.flow", "every schedule that the flow declares"],
    ],
    run: (...all) => (flagText(all[0], "from") === undefined ? addOne : addDeclared)(...all),
  },
);

const addOne: Run = callApi({
  command: "create_schedule",
  write: true,
  request: async (all) => ({ ...readTimes(all.input), ...(await readRest(all)) }),
  show: (schedule, { api }) => ({
    data: [schedule.id],
    said: [`${schedule.template} fires next at ${formatTime(schedule.nextAt)}`, ...firesWhere(api)],
  }),
});

const addDeclared: Run = (input, io) => {
  const from = flagText(input, "from") ?? "";
  const other = WITHOUT_FROM.find((name) => flagGiven(input, name));
  if (other !== undefined) throw usage(`--from does not go with --${other}: the flow says it`);
  return withApi(
    input,
    io,
    true,
    async (api) => {
      const { template, said } = await templateFrom(from, { input, io, api });
      const made = await activate(api, template, flagList(input, "name"));
      return {
        value: { items: made, nextCursor: null },
        data: made.map(({ id }) => id),
        said: [...said, ...made.map(activeLine), ...firesWhere(api)],
      };
    },
    from,
  );
};

/** Flags that are not taken where the flow declares the schedule itself. */
const WITHOUT_FROM = [
  ...["template", "cron", "every", "at", "timezone"],
  ...["input", "input-json", "overlap", "catch-up", "tag"],
];

function flagGiven(input: Input, name: string): boolean {
  return flagText(input, name) !== undefined || flagList(input, name).length > 0;
}

/** Schedules that this installation stores fire while a server runs on its data folder. */
function firesWhere({ where }: Api): string[] {
  return where === "embedded"
    ? ["a schedule fires only while a server runs here: millrace serve"]
    : [];
}

/** The template of `--from`: a file is stored first, under the id of its flow. */
async function templateFrom(
  from: string,
  { input, io, api }: CommandContext,
): Promise<{ readonly template: Template; readonly said: readonly string[] }> {
  const { isSlug } = await import("../../run/find-flow.ts");
  if (await isSlug(from, io)) {
    return { template: await api.invoke("get_template", { slug: from }), said: [] };
  }
  const { saveFlow } = await import("../../api/save-flow.ts");
  const template = await saveFlow(undefined, from, { input, io, api });
  return { template, said: [`${template.slug} is stored, version ${template.version}`] };
}

/** When: exactly one of three flags. */
function readTimes(input: Input) {
  const times = omitUndefined({
    cron: flagText(input, "cron"),
    everyMs: durationOf(input, "every"),
    at: flagText(input, "at"),
  });
  if (Object.keys(times).length !== 1) {
    throw usage("schedule add takes exactly one of --cron, --every and --at");
  }
  return { ...times, timezone: flagText(input, "timezone") };
}

/** What, with which inputs. Inputs are read as the flow of the template declares them. */
async function readRest({ input, io, api }: CommandContext) {
  const template = flagText(input, "template");
  if (template === undefined) throw usage("schedule add needs --template SLUG");
  const words = flagList(input, "input");
  const jsonFile = flagText(input, "input-json");
  const wants = words.length > 0 || jsonFile !== undefined;
  const read = async (): Promise<ScheduleArgs["inputs"]> => {
    const { readInputs } = await import("../../run/inputs.ts");
    const { graph } = await api.invoke("get_template", { slug: template });
    return readInputs(graph, words, jsonFile, io);
  };
  const inputs = wants ? await read() : undefined;
  return {
    template,
    inputs,
    tags: pairsOf(input, "tag"),
    overlap: flagText(input, "overlap") as Schedule["overlap"] | undefined,
    catchUp: flagText(input, "catch-up") as Schedule["catchUp"] | undefined,
  };
}

/** `millrace doctor`: checks this installation, and prints how to mend it. */
import { serverCommand } from "../../argv/flags.ts";
import { type CliCommand, type CommandIo, flagText, type Input, isOn } from "../../argv/spec.ts";
import { explainConfig } from "../../config/explain.ts";
import { dataFolder } from "../../config/files.ts";
import { CliError } from "../../errors.ts";
import { createStyle } from "../../output/style.ts";
import { clean } from "../../output/text.ts";
import { type Check, type DoctorContext, type Finding, orCliError } from "./check.ts";
import { postgresStore, restateCluster, storeClock, storeKey } from "./cluster.ts";
import { modelEngine } from "./engines.ts";
import {
  configuration,
  dataFolderWritable,
  extensionLock,
  nodeVersion,
  projectTrust,
  sqliteDriver,
  storeReadable,
} from "./machine.ts";
import { clockSkew, credentialStore, providerKeys, serverReachable } from "./services.ts";

export const commands: readonly CliCommand[] = [
  serverCommand("doctor", "check this installation and say what to do", {
    flags: [
      { long: "live", summary: "also ask each provider for its models, which costs nothing" },
      { long: "prune", summary: "delete model engines that are not used any more" },
    ],
    output: "check",
    examples: [["doctor", "exit code 1 when something fails"]],
    run,
  }),
];

const SYMBOLS = { ok: "succeeded", warn: "confirm", fail: "failed" } as const;

/** Runs every check and tells each finding; ends with 1 when one is `fail`. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const context = await contextOf(input, io);
  let failed = 0;
  for (const check of CHECKS) {
    if (io.signal.aborted) break;
    for (const finding of await check.look(context).catch(unexpected)) {
      if (finding.status === "fail") failed += 1;
      await printFinding(check.name, finding, io);
    }
  }
  if (failed === 0) return 0;
  const message = `${failed} ${failed === 1 ? "check" : "checks"} failed`;
  throw new CliError("check_failed", message, { reported: true });
}

async function contextOf(input: Input, io: CommandIo): Promise<DoctorContext> {
  const home = flagText(input, "home");
  const options = { folder: io.cwd, file: flagText(input, "config"), home };
  const sources = await explainConfig(options, io).catch(orCliError);
  const configured = sources instanceof Error ? "" : sources.value("server.url");
  return {
    io,
    options,
    sources,
    data: dataFolder(home, io),
    live: isOn(input, "live"),
    prune: isOn(input, "prune"),
    server: flagText(input, "server") ?? (typeof configured === "string" ? configured : ""),
  };
}

/** A check that fails itself is a finding as well: the others still say what they see. */
function unexpected(error: unknown): readonly Finding[] {
  const says = error instanceof Error ? error.message : String(error);
  return [{ status: "fail", says, fix: "this is a bug in millrace; report this line" }];
}

async function printFinding(
  check: string,
  { status, says, fix }: Finding,
  io: CommandIo,
): Promise<void> {
  if (io.json !== undefined) {
    await io.json.result({ check, status, says, ...(fix !== undefined && { fix }) });
    return;
  }
  if (io.verbosity === "quiet" && status === "ok") return;
  const style = createStyle(io.colour, io.env);
  const mark = style.symbol(SYMBOLS[status]);
  await io.out.write(`${mark.paint(mark.text)} ${check.padEnd(11)}  ${clean(says)}\n`);
  if (fix !== undefined) await io.out.write(`  ${" ".repeat(11)}  fix: ${clean(fix)}\n`);
}

/** Checks of an installation, in the order in which they are printed. */
export const CHECKS: readonly Check[] = [
  nodeVersion,
  dataFolderWritable,
  sqliteDriver,
  storeReadable,
  postgresStore,
  storeKey,
  storeClock,
  restateCluster,
  credentialStore,
  configuration,
  projectTrust,
  extensionLock,
  providerKeys,
  modelEngine,
  serverReachable,
  clockSkew,
];

/** `millrace providers`: the providers of models here, and whether their keys work. Keys are never printed. */

import { createNodeHost } from "@millrace/engine/node";
import type { AiSettings, AiSetup } from "@millrace/providers";
import { keyState, modelsOf } from "../ai/keys.ts";
import { aiSettings, openAi } from "../ai/open-ai.ts";
import { arg, command, printAnswer } from "../argv/flags.ts";
import type { Answer, CliCommand, CommandIo, Input } from "../argv/spec.ts";
import { configOptions, warnOn } from "../config/files.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { CliError, usage } from "../errors.ts";
import { clean } from "../output/text.ts";
import { runCredentials } from "../run/credentials.ts";

const list = command(
  "providers list",
  "list the AI providers, and whether there is a key for each",
  {
    examples: [["providers list", "nobody is asked anything"]],
    async run(input, io) {
      return withAi(input, io, async ({ setup, settings }) => {
        const unknown = new Set<string>(); // why, once for each reason
        const hints = new Set<string>();
        const items = await Promise.all(
          setup.providers.map(async ({ id }) => {
            const { kind = id, baseUrl, modelId } = settings.providers[id] ?? {};
            const key = await keyState(setup, id, io).catch((error: unknown) => {
              if (!(error instanceof CliError)) throw error;
              unknown.add(error.message);
              if (error.hint !== undefined) hints.add(error.hint);
              return "unknown" as const;
            });
            return { id, kind, key, ...(baseUrl && { baseUrl }), ...(modelId && { modelId }) };
          }),
        );
        const data = items.map(({ id, kind, key }) => `${id}  ${kind}  key: ${key}`);
        await printAnswer({ value: { items }, data }, io);
        for (const why of unknown) await io.err.write(`warning: ${clean(why)}\n`);
        for (const hint of hints) await io.err.write(`next: ${clean(hint)}\n`);
        return 0;
      });
    },
  },
);

/** Asks a provider for the list of its models, which costs nothing. Ends with 5 for a key that is missing or refused. */
const test = command("providers test", "ask a provider for its models, which costs nothing", {
  args: [arg("id", "name of the provider")],
  examples: [["providers test mock", "needs no key"]],
  async run(input, io) {
    const [id = ""] = input.args;
    return withAi(input, io, async ({ setup, config }) => {
      const provider = setup.providers.find((each) => each.id === id);
      if (provider === undefined) {
        throw usage(
          `there is no provider "${clean(id)}"`,
          `there are ${setup.providers.map((each) => each.id).join(", ")}`,
        );
      }
      const models = await modelsOf(provider, setup, config, io);
      return { value: { id, models }, data: [`${id} answers and has ${models.length} models`] };
    });
  },
});

export const commands: readonly CliCommand[] = [list, test];

interface Opened {
  readonly setup: AiSetup;
  readonly settings: AiSettings;
  readonly config: Config;
}

async function withAi(
  input: Input,
  io: CommandIo,
  work: (opened: Opened) => Promise<number | Answer>,
): Promise<number | Answer> {
  const config = await loadConfig(configOptions(input, io), io, warnOn(io));
  const settings = aiSettings(config);
  const credentials = runCredentials({ ...config, services: [] }, () => io.now());
  const setup = openAi(config, credentials.port, io, createNodeHost());
  try {
    return await work({ setup, settings, config });
  } finally {
    await setup.close();
    await credentials.close();
  }
}

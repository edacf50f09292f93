/** Providers of models and whether there is a key for each. Nobody is asked anything unless `--live` says so. */

import { type Check, type Finding, ok, usableConfig, warn } from "./check.ts";
import { storeHangs } from "./credentials.ts";

export const providerKeys: Check = {
  name: "providers",
  async look(context) {
    if (await storeHangs(context)) {
      return warn("not looked at, since keys are in the credential store", "mend that store first");
    }
    const config = await usableConfig(context);
    if (config === undefined) return [];
    const { io } = context;
    const [{ openAi, aiSettings }, { runCredentials }, { createNodeHost }, { keyState, modelsOf }] =
      await Promise.all([
        import("../ai/open-ai.ts"),
        import("../run/credentials.ts"),
        import("@millrace/engine/node"),
        import("../ai/keys.ts"),
      ]);
    const named = Object.keys(aiSettings(config).providers);
    if (named.length === 0) return ok("none is configured");
    const credentials = runCredentials(config, () => io.now());
    const setup = openAi(config, credentials.port, io, createNodeHost());
    try {
      const found: Finding[] = [];
      for (const id of named) {
        const provider = setup.providers.find((each) => each.id === id);
        if (provider === undefined) continue;
        found.push(
          await finding(id, async () => {
            const key = await keyState(setup, id, io);
            if (key === "missing" || !context.live) return key;
            return (await modelsOf(provider, setup, config, io)).length;
          }),
        );
      }
      return found;
    } finally {
      await setup.close();
      await credentials.close();
    }
  },
};

async function finding(id: string, look: () => Promise<string | number>): Promise<Finding> {
  try {
    const found = await look();
    if (found === "missing") {
      return {
        status: "warn",
        says: `${id} has no key`,
        fix: `millrace secrets set ai:${id}, or set providers.${id}.credential to env:NAME and the variable`,
      };
    }
    const says =
      typeof found === "number"
        ? `answers and has ${found} models`
        : found === "none"
          ? "needs no key"
          : "has a key";
    return { status: "ok", says: `${id} ${says}` };
  } catch (error) {
    return {
      status: "fail",
      says: `${id}: ${(error as Error).message}`,
      fix: `millrace providers test ${id}`,
    };
  }
}

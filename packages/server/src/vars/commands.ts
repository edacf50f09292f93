/** Commands of variables and secrets of flows. */
import { deleteSecret, listSecrets, setSecret } from "../connections/named-secrets.ts";
import { wire } from "../dispatch/index.ts";
import { invalidArg, notFound, ProblemError } from "../errors.ts";
import type { HandlerList } from "../ports.ts";

export const varHandlers: HandlerList = [
  wire("list_vars", async (_args, { host }) => ({ items: [...(await host.store.vars.list())] })),
  wire("set_var", async (args, { host }) => {
    try {
      await host.store.vars.set(args);
    } catch (error) {
      if (error instanceof RangeError) throw invalidArg("/value", error.message);
      throw error;
    }
    return args;
  }),
  wire("delete_var", async (args, { host }) => {
    if (!(await host.store.vars.delete(args))) throw notFound("var");
    return null;
  }),
  wire("list_secrets", async (_args, { host }) => ({
    items: [...(await inStore(() => listSecrets(host.secrets)))],
  })),
  wire("set_secret", (args, { host }) => inStore(() => setSecret(host.secrets, args, host.now()))),
  wire("delete_secret", async (args, { host }) => {
    if (!(await inStore(() => deleteSecret(host.secrets, args)))) throw notFound("secret");
    return null;
  }),
];

/** Throws `credential_store_unavailable` for whatever the store throws. */
async function inStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new ProblemError("credential_store_unavailable", { cause });
  }
}

/** Commands of services and their connections. No answer holds a credential. */
import type { CommandName } from "@millrace/contracts";
import { importOpenApi } from "@millrace/engine";
import { wire } from "../commands/index.ts";
import { ProblemError } from "../errors.ts";
import type { CommandHandler } from "../ports.ts";

/** Handlers of the service commands. */
export const serviceHandlers: readonly (readonly [CommandName, CommandHandler])[] = [
  wire("list_services", async ({ limit, cursor }, { app, host: { services } }) => {
    const filter = { list: "services" };
    const after = cursor === undefined ? "" : String(app.cursors.decode(cursor, filter));
    const rest = services.services.filter(({ slug }) => slug > after);
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    const more = rest.length > page.length && last !== undefined;
    return {
      items: await Promise.all(page.map((service) => services.info(service))),
      nextCursor: more ? app.cursors.encode(last.slug, filter) : null,
    };
  }),
  wire("get_service", ({ slug }, { host: { services } }) => {
    const service = services.get(slug);
    if (service === undefined) {
      throw new ProblemError("not_found", { members: { resource: "service" } });
    }
    return services.info(service);
  }),
  wire("connect_service", (args, { host }) => host.services.connect(args)),
  wire("get_connect_status", (args, { host }) => host.services.progress(args)),
  wire("complete_connect", (args, { host }) => host.services.complete(args)),
  wire("cancel_connect", (args, { host }) => host.services.cancel(args)),
  wire("set_service_secret", (args, { host }) => host.services.setSecret(args)),
  wire("disconnect_service", ({ slug }, { host }) => host.services.disconnect(slug)),
  wire("import_service", ({ document, ...options }) => importOpenApi(document, options)),
];

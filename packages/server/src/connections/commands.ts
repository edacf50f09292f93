import { importOpenApi } from "@millrace/services/openapi";
import { pageOf, wire } from "../dispatch/index.ts";
import { known } from "../errors.ts";
import type { HandlerList } from "../ports.ts";

export const serviceHandlers: HandlerList = [
  wire("list_services", async (page, { host }) => {
    const { services } = host;
    const filter = { list: "services" };
    const found = pageOf(services.services, ({ slug }) => slug, page, {
      store: host.store,
      filter,
    });
    return { ...found, items: await Promise.all(found.items.map((each) => services.info(each))) };
  }),
  wire("get_service", ({ slug }, { host: { services } }) =>
    services.info(known(services.get(slug), "service")),
  ),
  wire("connect_service", (args, { host }) => host.services.connect(args)),
  wire("get_connect_status", (args, { host }) => host.services.progress(args)),
  wire("complete_connect", (args, { host }) => host.services.complete(args)),
  wire("cancel_connect", (args, { host }) => host.services.cancel(args)),
  wire("set_service_secret", (args, { host }) => host.services.setSecret(args)),
  wire("disconnect_service", ({ slug }, { host }) => host.services.disconnect(slug)),
  wire("import_service", ({ document, ...options }) => importOpenApi(document, options)),
];

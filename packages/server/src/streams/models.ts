/** `GET /api/models/events`: installs, registrations and scans, from now on. */

import { notWired } from "../commands/index.ts";
import type { Exchange } from "../http/index.ts";
import type { CommandCall } from "../ports.ts";
import type { StreamHandler } from "../routes.ts";
import type { EventStreams } from "./event-stream.ts";

/** Makes the stream; without models it is not wired. */
export function createModelsStream(streams: EventStreams): StreamHandler {
  return async (_args: object, { host }: CommandCall, exchange: Exchange) => {
    const { models } = host;
    if (models === null) throw notWired("subscribe_models");
    streams.checkCapacity();
    return streams.answer(exchange, {
      format: "sse",
      read: (signal) => models.events.read(signal),
    });
  };
}

/** The handlers of this version. */
import type { CommandHandlers } from "../ports.ts";
import { confirmationHandlers } from "./confirmations.ts";
import { flowHandlers } from "./flows.ts";
import { hubHandlers } from "./hubs.ts";
import { metaHandlers } from "./meta.ts";
import { nodeHandlers } from "./nodes.ts";
import { runHistoryHandlers } from "./run-history.ts";
import { runHandlers } from "./runs.ts";
import { scheduleHandlers } from "./schedules.ts";
import { serviceHandlers } from "./services.ts";
import { settingsHandlers } from "./settings.ts";
import { templateHandlers } from "./templates.ts";
import { valueHandlers } from "./values.ts";
import { webhookHandlers } from "./webhooks.ts";

export { modelHandlers } from "./models.ts";

/** Every command that a server without managed models can do, to be extended or narrowed by who builds a `ServerHost`. */
export const coreHandlers: CommandHandlers = new Map([
  ...runHandlers,
  ...runHistoryHandlers,
  ...confirmationHandlers,
  ...flowHandlers,
  ...nodeHandlers,
  ...valueHandlers,
  ...serviceHandlers,
  ...templateHandlers,
  ...settingsHandlers,
  ...hubHandlers,
  ...scheduleHandlers,
  ...webhookHandlers,
  ...metaHandlers,
]);

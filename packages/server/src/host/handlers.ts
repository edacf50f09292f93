/** The handlers of this version. */

import { metaHandlers } from "../app/meta.ts";
import { settingsHandlers } from "../config/settings.ts";
import { serviceHandlers } from "../connections/commands.ts";
import { flowHandlers } from "../flows/commands.ts";
import { hubHandlers } from "../hubs/commands.ts";
import type { CommandHandlers } from "../ports.ts";
import { providerHandlers } from "../providers/list-providers.ts";
import { runHandlers } from "../runs/commands.ts";
import { inputHandlers } from "../runs/inputs.ts";
import { scheduleHandlers } from "../schedules/commands.ts";
import { templateHandlers } from "../templates/commands.ts";
import { varHandlers } from "../vars/commands.ts";
import { webhookHandlers } from "../webhooks/commands.ts";

/** Every command that a server without managed models can do, to be extended or narrowed by who builds a `ServerHost`. */
export const coreHandlers: CommandHandlers = new Map([
  ...runHandlers,
  ...inputHandlers,
  ...flowHandlers,
  ...serviceHandlers,
  ...providerHandlers,
  ...templateHandlers,
  ...settingsHandlers,
  ...varHandlers,
  ...hubHandlers,
  ...scheduleHandlers,
  ...webhookHandlers,
  ...metaHandlers,
]);

/** Commands on AI providers. No answer holds a key, or where it is. */
import * as z from "zod";
import { providerInfoSchema } from "../schemas/provider.ts";
import { commandTable, get, none } from "./table.ts";

/** Commands on AI providers. */
export const providerCommands = commandTable({
  list_providers: {
    summary: "List AI providers, and whether there is a credential for each",
    args: none,
    result: z.array(providerInfoSchema),
    effect: "read",
    http: get("/api/providers"),
  },
});

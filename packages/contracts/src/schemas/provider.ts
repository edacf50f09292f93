/** AI providers, by name. */
import * as z from "zod";
import type { Infer } from "./common.ts";

/** Schema of `ProviderInfo`. */
export const providerInfoSchema = z.strictObject({
  name: z.string().describe("As flows name it."),
  kind: z
    .string()
    .describe("Whose wire it speaks, such as `openai-compatible`; `local`, `mock` or `extension`."),
  models: z
    .array(z.string())
    .describe(
      "Those known without asking: the default of the settings, and models of this machine.",
    )
    .exactOptional(),
  credential: z
    .enum(["present", "missing", "not_needed", "unknown"])
    .describe(
      "`not_needed`: none is stored, and none is known to be needed; `unknown`: the credential store cannot be read.",
    ),
});

/** An AI provider, without anything secret. */
export type ProviderInfo = Infer<typeof providerInfoSchema>;

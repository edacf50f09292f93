/** Service descriptors. Shape and rules are those of `checkService`, so there is one truth about them. */
import * as z from "zod";
import type { Diagnostic } from "../diagnostics.ts";
import { checkService, checkServiceIntegration } from "../extend/check-service.ts";

import { pointerKeys } from "../kit/pointer.ts";
import { type AuthScheme, integrationShape, serviceShape } from "../service.ts";
import { type Infer, jsonSchemaOf, type Shape } from "../shape/index.ts";

/** How a credential is sent. */
export const authSchemeSchema: z.ZodType<AuthScheme> = z.enum([
  "none",
  "bearer",
  "basic",
  "apiKey",
  "oauth2",
]);

/** A `serviceIntegration` descriptor. @see specification, "Service integration descriptor" */
export const serviceIntegrationSchema = checked(checkServiceIntegration, integrationShape);

/** A service as `defineService` and an import give it. */
export const serviceSpecSchema = checked(checkService, serviceShape);

/** A schema that refuses what `check` finds; its JSON Schema is that of the shape. */
function checked<S extends Shape>(
  check: (value: unknown) => readonly Diagnostic[],
  shape: S,
): z.ZodType<Infer<S>> {
  const schema = z.unknown().superRefine((found, ctx) => tell(check(found), ctx));
  return schema.meta({ ...jsonSchemaOf(shape) }) as unknown as z.ZodType<Infer<S>>;
}

function tell(findings: readonly Diagnostic[], ctx: z.RefinementCtx): void {
  for (const { code, message, pointer = "" } of findings) {
    ctx.addIssue({ code: "custom", path: pointerKeys(pointer), message, params: { code } });
  }
}

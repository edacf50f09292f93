/** Service descriptors. Shape and rules are those of `checkService`, so there is one truth about them. */
import * as z from "zod";
import type { Diagnostic } from "../diagnostics.ts";
import type { Check } from "../extend/check.ts";
import { checkService, checkServiceIntegration } from "../extend/check-service.ts";
import { integrationShape, serviceShape } from "../extend/service-shape.ts";
import { pointerKeys } from "../kit/pointer.ts";
import type { AuthScheme, ServiceIntegration, ServiceSpec } from "../service.ts";

/** How a credential is sent. */
export const authSchemeSchema: z.ZodType<AuthScheme> = z.enum([
  "none",
  "bearer",
  "basic",
  "apiKey",
  "oauth2",
]);

/** A `serviceIntegration` descriptor. @see specification, "Service integration descriptor" */
export const serviceIntegrationSchema: z.ZodType<ServiceIntegration> = checked<ServiceIntegration>(
  checkServiceIntegration,
  integrationShape,
);

/** A service as `defineService` and an import give it. */
export const serviceSpecSchema: z.ZodType<ServiceSpec> = checked<ServiceSpec>(
  checkService,
  serviceShape,
);

/** A schema that refuses what `check` finds; its JSON Schema is that of the shape. */
function checked<T>(check: (value: unknown) => readonly Diagnostic[], shape: Check): z.ZodType<T> {
  const schema = z.unknown().superRefine((found, ctx) => tell(check(found), ctx));
  return schema.meta({ ...shape.schema }) as unknown as z.ZodType<T>;
}

function tell(findings: readonly Diagnostic[], ctx: z.RefinementCtx): void {
  for (const { code, message, pointer = "" } of findings) {
    ctx.addIssue({ code: "custom", path: pointerKeys(pointer), message, params: { code } });
  }
}

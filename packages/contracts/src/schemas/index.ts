/** zod schemas of the wire. The names here are those of the definitions in the OpenAPI document: `runSchema` is `Run`. */
export { catalogEntrySchema } from "./catalog.ts";
export {
  digestSchema,
  jsonObjectSchema,
  jsonRecordSchema,
  jsonValueSchema,
  nameSchema,
  pageSchema,
  runIdSchema,
  slugSchema,
  tagsSchema,
  timeSchema,
  zonedTimeSchema,
} from "./common.ts";
export {
  connectionStatusSchema,
  connectProgressSchema,
  connectStartedSchema,
  serviceInfoSchema,
} from "./connection.ts";
export { diagnosticSchema, executionEventSchema, rangeSchema } from "./event.ts";
export {
  flowBodySchema,
  flowConnectionSchema,
  flowEdgeSchema,
  flowGraphSchema,
  flowInputSchema,
  flowNodeSchema,
  flowOutputSchema,
  flowPolicySchema,
  flowScheduleSchema,
  policySchema,
} from "./graph.ts";
export { hubIndexSchema, hubItemSchema, hubProvidesSchema, hubSchema } from "./hub.ts";
export {
  jobRefSchema,
  jobSchema,
  modelEngineSchema,
  modelIdSchema,
  modelSchema,
  modelStateSchema,
  modelsFrameSchema,
} from "./model.ts";
export {
  confirmationSchema,
  confirmationStatusSchema,
  errorInfoSchema,
  eventSchema,
  kindSchema,
  runBlobSchema,
  runInputProblems,
  runRefSchema,
  runRequestSchema,
  runSchema,
  runStateSchema,
  runSummarySchema,
  summaryPayloadSchema,
  triggerSchema,
  valueRefSchema,
} from "./run.ts";
export {
  newWebhookSchema,
  scheduleSchema,
  webhookSchema,
} from "./schedule.ts";
export { commandInfoSchema, metaSchema, providerInfoSchema, settingsSchema } from "./server.ts";
export { authSchemeSchema, serviceIntegrationSchema, serviceSpecSchema } from "./service.ts";
export {
  flowReportSchema,
  templateSchema,
  templateSummarySchema,
  templateVersionSchema,
  templateVersionSummarySchema,
} from "./template.ts";

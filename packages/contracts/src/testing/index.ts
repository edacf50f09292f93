export { assertLog } from "./assert-log.ts";
export { type LegalLog, type LegalLogOptions, legalLog } from "./legal-log.ts";

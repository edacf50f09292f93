export { type LegalLog, type LegalLogOptions, legalLog } from "./legal-log.ts";

/** Definitions of tests: services and node types as an extension writes them. */
export { acme, crm, extension, runForecast, weather } from "./examples.ts";
export { z } from "./zod.ts";

/** The document of the API. */
export { buildOpenApi } from "./document.ts";

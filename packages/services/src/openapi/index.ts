export {
  type ImportedService,
  type ImportOpenApiOptions,
  importOpenApi,
} from "./import-openapi.ts";

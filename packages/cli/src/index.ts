export type { CliIo } from "./io.ts";
export { main } from "./main.ts";

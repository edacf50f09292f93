export { main } from "./main.ts";
export type { CliIo } from "./output/io.ts";

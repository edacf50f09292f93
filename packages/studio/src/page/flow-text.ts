/** Reading and printing flow text, for screens that load it when it is asked for: `await import(…)` of this file and no more of the language. */
export { locate, parseFlow, printFlow } from "@millrace/dsl";

export { flow, flowLanguage } from "./language.ts";

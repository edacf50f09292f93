/** Stored flows: how they are read, written and found. */
export { checkFlowInputs } from "./check-inputs.ts";
export { type FlowReader, readGraph, readText } from "./read-flow.ts";
export { subflowPort, templatePort } from "./template-port.ts";
export { templateExists, writeTemplate } from "./write-template.ts";

export { formatText, goToDefinition, renameSymbol } from "./commands.ts";
export { type FlowAnalysisOptions, flowAnalysis } from "./flow-analysis.ts";
export { showHover, showSignature } from "./help.ts";
export { flow, flowLanguage } from "./language.ts";
export { type AnalysisSource, analysisSource, type LaterAnalysis } from "./source.ts";

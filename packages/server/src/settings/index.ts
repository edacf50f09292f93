/** The settings of a server: those in force, and how they change. */
export { readSettings, SETTINGS_SCHEMA, updateSettings } from "./document.ts";
export { runDefaults } from "./run-defaults.ts";

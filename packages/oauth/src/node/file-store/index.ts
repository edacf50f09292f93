export { fileLock } from "./file-lock.ts";
export { fileCredentialStore } from "./file-store.ts";

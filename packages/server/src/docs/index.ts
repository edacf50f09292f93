/** The page of the API. */
export { PAGE_POLICY, renderDocs } from "./page.ts";

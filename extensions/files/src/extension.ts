/** Tables in files: CSV, row by row of files of any size, and spreadsheets. */
import {
  defineActionAdapter,
  defineExtension,
  type ExtensionDefinition,
} from "@millrace/contracts";
import { csvRead } from "./csv-read.ts";
import { csvWrite } from "./csv-write.ts";
import { sheetRead } from "./sheet-read.ts";
import { sheetWrite } from "./sheet-write.ts";

/** The adapters `csv` and `sheet`: `csv.read`, `csv.write`, `sheet.read`, `sheet.write`. */
const extension: ExtensionDefinition = defineExtension({
  adapters: [
    defineActionAdapter({ id: "csv", title: "CSV files", actions: [csvRead, csvWrite] }),
    defineActionAdapter({ id: "sheet", title: "Spreadsheets", actions: [sheetRead, sheetWrite] }),
  ],
});

export default extension;

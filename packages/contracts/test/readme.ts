import {
  catalogEntriesOf,
  defineAction,
  defineActionAdapter,
  jsonSchema,
} from "@millrace/contracts";

const text = jsonSchema<{ text: string }>({
  type: "object",
  properties: { text: { type: "string" } },
});
const shout = defineAction({
  name: "shout",
  title: "Shout",
  summary: "Says a text in capitals.",
  effect: "pure",
  fields: text,
  output: text,
  run: (fields) => ({ text: fields.text.toUpperCase() }),
});
const voice = defineActionAdapter({ id: "voice", title: "Voice", actions: [shout] });

export const types: string[] = catalogEntriesOf(voice).map((entry) => entry.type); // ["voice.shout"]

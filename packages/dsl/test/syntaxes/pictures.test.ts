import { expect, test } from "vitest";
import { CANONICAL } from "./flows.ts";
import { LEGEND, pictureOf } from "./picture.ts";

test.each(CANONICAL)("$name is coloured as in its picture", async ({ name, text }) => {
  const picture = `${LEGEND}\n\n${pictureOf(text)}\n`;
  await expect(picture).toMatchFileSnapshot(`pictures/${name}.txt`);
});

/**
 * A drawing as SVG: one file without scripts, fonts or links, in the light or dark scheme of its reader. All text of the flow is
 * escaped.
 */

import type { Drawing } from "./drawing.ts";
import { shownName } from "./label.ts";
import { type Box, type Line, layoutDrawing, type Picture } from "./layout.ts";
import { markOf } from "./marks.ts";
import type { Pins } from "./pins.ts";
import { strokeOf } from "./states.ts";

const STYLE = `
.bg{fill:#fff}.box{fill:#fff;stroke:#c4ccd5;stroke-width:1.2}.body{fill:#f3f6f9;stroke:#c4ccd5}.rule{stroke:#dde3e9}
.id{fill:#1f2328;font-weight:600}.type,.port{fill:#59636e}.port{paint-order:stroke;stroke:#fff;stroke-width:4px}
.edge{fill:none;stroke:#66707b;stroke-width:1.6}.implied{stroke:#a8b1bb;stroke-dasharray:3 4}.tip{fill:#66707b}.tip.implied{fill:#a8b1bb}
.fault{stroke:#cf222e}.tip.fault,.port.fault{fill:#cf222e}.tip.fault,.tip.implied{stroke:none}.port.fault{stroke:#fff}
.plain{fill:#818b98}.ai{fill:#8250df}.person{fill:#bf8700}.control{fill:#0969da}.network{fill:#1a7f37}.machine{fill:#bc4c00}
@media(prefers-color-scheme:dark){.bg{fill:#0d1117}.box{fill:#161c24;stroke:#3d444d}.body{fill:#11161d;stroke:#3d444d}.rule{stroke:#2a313a}
.id{fill:#f0f6fc}.type,.port{fill:#9198a1}.port,.port.fault{stroke:#0d1117}.edge{stroke:#848d97}.tip{fill:#848d97}
.implied{stroke:#4c5560}.tip.implied{fill:#4c5560}.fault{stroke:#f85149}.tip.fault,.port.fault{fill:#f85149}.plain{fill:#656c76}
.ai{fill:#ab7df8}.person{fill:#d29922}.control{fill:#4493f8}.network{fill:#3fb950}.machine{fill:#db6d28}}
text{font:13px ui-sans-serif,system-ui,sans-serif}.type,.port{font-size:11px}`.trim();

/** Height of the line of a box that holds a body, in units; a lower box is folded. */
export const HEAD_H = 44;
const RADIUS = 8;
const MARK_W = 4;

/**
 * The drawing as an SVG document. `title`: its accessible name, mostly the title of the flow; `pins`: the `layout` of the flow.
 */
export function toSvg(drawing: Drawing, title: string, pins?: Pins): string {
  return pictureToSvg(layoutDrawing(drawing, pins), title);
}

/** A laid out drawing as an SVG document, like `toSvg`. */
export function pictureToSvg(picture: Picture, title: string): string {
  const [width, height] = [round(picture.width), round(picture.height)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<title>${escapeText(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<defs>${["", "implied", "fault"].map(toTip).join("")}</defs>`,
    `<rect class="bg" width="${width}" height="${height}"/>`,
    ...picture.boxes.map(toBox), // what lies inside is drawn over what holds it
    ...[...picture.lines].sort(byWeight).map(toPath), // what is implied lies under what was written
    ...portNames(picture.lines).map(toPort),
    "</svg>",
    "",
  ]
    .filter((line) => line !== "")
    .concat("")
    .join("\n");
}

/** Kind of an edge: written, implied by a reference, or the way of a failure. */
function kindOf({ edge }: Line): string {
  return edge.implied ? "implied" : edge.port === "error" ? "fault" : "";
}

function byWeight(a: Line, b: Line): number {
  return Number(b.edge.implied ?? false) - Number(a.edge.implied ?? false);
}

function toTip(kind: string): string {
  return (
    `<marker id="tip${kind}" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto">` +
    `<path class="${`tip ${kind}`.trim()}" d="M0 0.5 8 4 0 7.5z"/></marker>`
  );
}

function toBox({ node, x, y, w, h }: Box): string {
  const [left, top] = [round(x), round(y)];
  const stroke = strokeOf(node);
  const style = stroke === undefined ? "" : ` style="stroke:${stroke};stroke-width:2"`;
  const says = `${node.path}: ${node.type}${node.state === undefined ? "" : `, ${node.state}`}`;
  const mark = markOf(node.type);
  return (
    `<g><title>${escapeText(says)}</title>` +
    `<rect class="${node.body === undefined ? "box" : "box body"}" x="${left}" y="${top}" width="${round(w)}" height="${round(h)}" rx="${RADIUS}"${style}/>` +
    (node.body === undefined
      ? ""
      : `<path class="rule" d="M${left} ${round(y + HEAD_H)}h${round(w)}"/>`) +
    `<rect class="${mark}" x="${left}" y="${round(y + RADIUS)}" width="${MARK_W}" height="28" rx="2"/>` +
    `<text class="id" x="${round(x + 16)}" y="${round(y + 19)}">${escapeText(shownName(node.id))}</text>` +
    `<text class="type" x="${round(x + 16)}" y="${round(y + 34)}">${escapeText(shownName(node.type))}</text></g>`
  );
}

/** A curve that leaves and arrives straight down. */
function toPath(line: Line): string {
  const { points } = line;
  const [first, ...rest] = points as readonly [
    readonly [number, number],
    ...(readonly [number, number])[],
  ];
  let path = `M${round(first[0])} ${round(first[1])}`;
  let before = first;
  for (const point of rest) {
    const middle = round((before[1] + point[1]) / 2);
    path += `C${round(before[0])} ${middle} ${round(point[0])} ${middle} ${round(point[0])} ${round(point[1])}`;
    before = point;
  }
  const kind = kindOf(line);
  return `<path class="${`edge ${kind}`.trim()}" d="${path}" marker-end="url(#tip${kind})"/>`;
}

/** The first line of each named port: several may leave by it. */
function portNames(lines: readonly Line[]): Line[] {
  const first = new Map(
    [...lines].reverse().map((line) => [JSON.stringify([line.edge.from, line.edge.port]), line]),
  );
  return [...first.values()].filter(({ edge }) => edge.port !== undefined);
}

/** The name of the port, where the arrow leaves. */
function toPort(line: Line): string {
  const { edge, points } = line;
  const [first, second] = points;
  if (edge.port === undefined || first === undefined || second === undefined) return "";
  const towards = Math.max(-1, Math.min(1, (second[0] - first[0]) / 100)) * 6;
  const x = first[0] + towards;
  return `<text class="${`port ${kindOf(line)}`.trim()}" text-anchor="middle" x="${round(x)}" y="${round(first[1] + 16)}">${escapeText(shownName(edge.port))}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Text of XML; what XML cannot hold, and what turns the reading direction, is shown as the replacement character. */
function escapeText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/**
 * Cards of the nodes in the near view, as elements that are used again. Only `want`, `step` and `refresh` touch the document.
 *   P1  Each wanted node has at most one card, and no other node has one.
 *   P2  A step makes a bounded number of cards, those on the screen first.
 */
import { type Box, HEAD_H, markOf } from "@millrace/graph";
import { type DetailsByPath, type NodeDetails, sameDetails, stateLine } from "./details.ts";
import { type Dragged, dragBox } from "./draw.ts";

/** Cards made in one frame. */
const PER_FRAME = 80;
/** Cards kept for later. */
const SPARE = 200;

/** Content of a card; equal values need no change of the document. */
interface Card {
  readonly element: HTMLElement;
  readonly parts: readonly HTMLElement[];
  box: Box;
  details: NodeDetails | undefined;
}

/** The cards of a canvas. */
export interface Cards {
  /** Says which nodes have a card, those on the screen first. Cards of others are freed at once. */
  want(boxes: readonly Box[]): void;
  /** Makes missing cards; true: some are still missing. */
  step(): boolean;
  /** Brings every card up to date. */
  refresh(state: CardState): void;
  has(path: string): boolean;
  readonly size: number;
}

/** State of cards besides their boxes. */
export interface CardState {
  readonly details: DetailsByPath;
  readonly selected: string | undefined;
  readonly dragged: Dragged | undefined;
}

const NOTHING: NodeDetails = {};

/** Makes cards inside of a layer. */
export function createCards(layer: HTMLElement): Cards {
  const shown = new Map<string, Card>();
  const spare: Card[] = [];
  let missing: Box[] = [];
  let state: CardState = { details: new Map(), selected: undefined, dragged: undefined };

  const put = (card: Card, box: Box): void => {
    const { dragged } = state;
    const { x, y, w, h } = dragged === undefined ? box : dragBox(box, dragged);
    const { style } = card.element;
    style.transform = `translate(${x}px,${y}px)`;
    style.width = `${w}px`;
    style.height = `${Math.min(h, HEAD_H)}px`;
    card.box = box;
  };
  const fill = (card: Card, details: NodeDetails | undefined): void => {
    card.details = details;
    const { element, parts } = card;
    const now = details ?? NOTHING;
    const { problems = 0, progress } = now;
    const [, , line, badge, bar] = parts as [
      HTMLElement,
      HTMLElement,
      HTMLElement,
      HTMLElement,
      HTMLElement,
    ];
    setData(element, "state", now.state);
    line.textContent = stateLine(now);
    badge.textContent = problems > 0 ? `! ${problems}` : "";
    const share = progress?.total === undefined ? 0 : progress.done / Math.max(1, progress.total);
    bar.style.width = `${Math.round(100 * Math.min(1, share))}%`;
  };
  const name = (card: Card, { node, h }: Box): void => {
    const [id, type] = card.parts as [HTMLElement, HTMLElement];
    id.textContent = node.id;
    type.textContent = node.type;
    setData(card.element, "mark", markOf(node.type));
    const fold = node.body === undefined ? undefined : h > HEAD_H ? "open" : "folded";
    setData(card.element, "fold", fold);
  };
  const free = (path: string, card: Card): void => {
    shown.delete(path);
    if (spare.length < SPARE) {
      card.element.hidden = true;
      spare.push(card);
    } else card.element.remove();
  };

  return {
    want(boxes) {
      const wanted = new Set(boxes.map(({ node }) => node.path));
      for (const [path, card] of shown) if (!wanted.has(path)) free(path, card);
      missing = [];
      for (const box of boxes) {
        const card = shown.get(box.node.path);
        if (card === undefined) missing.push(box);
        else if (card.box !== box) {
          put(card, box);
          name(card, box);
        }
      }
    },
    step() {
      for (const box of missing.splice(0, PER_FRAME)) {
        const { path } = box.node;
        const card = spare.pop() ?? createCard(layer, box);
        shown.set(path, card);
        put(card, box);
        name(card, box);
        fill(card, state.details.get(path));
        card.element.toggleAttribute("data-selected", path === state.selected);
        card.element.hidden = false;
      }
      return missing.length > 0;
    },
    refresh(next) {
      const before = state;
      state = next;
      for (const [path, card] of shown) {
        const details = next.details.get(path);
        if (!sameDetails(card.details, details)) fill(card, details);
      }
      if (before.selected !== next.selected) {
        for (const path of [before.selected, next.selected]) {
          const card = path === undefined ? undefined : shown.get(path);
          card?.element.toggleAttribute("data-selected", path === next.selected);
        }
      }
      if (before.dragged !== next.dragged) for (const card of shown.values()) put(card, card.box);
    },
    has: (path) => shown.has(path),
    get size() {
      return shown.size;
    },
  };
}

function createCard(layer: HTMLElement, box: Box): Card {
  const element = document.createElement("div");
  element.className = "canvas-card";
  const parts = ["id", "type", "line", "badge", "bar"].map((part) => {
    const child = document.createElement("span");
    child.className = `canvas-card-${part}`;
    return child;
  });
  element.append(...parts);
  layer.append(element);
  return { element, parts, box, details: undefined };
}

function setData(element: HTMLElement, name: string, value: string | undefined): void {
  if (value === undefined) delete element.dataset[name];
  else element.dataset[name] = value;
}

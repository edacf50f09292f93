/**
 * A key that is asked for outside of this engine.
 *   K1  It is asked for when the start of its node is stored: then its run is known wherever keys are kept.
 *   K2  It is given back when the end of its node is stored: who has it next never works beside a repetition of this one.
 */
import type { KeyHolder, KeyPlace, KeyPort } from "@millrace/contracts";
import { acquire, type Claimant, type KeyHold } from "./slots.ts";

/** An attempt, as far as a key needs it. */
export interface PortKeyOwner extends Claimant {
  /** Who asks, by run and path. */
  holder(): KeyHolder;
  /** Calls `then` when all that the run has said so far is stored; at once where nothing is. */
  whenStored(then: () => void): void;
}

/** A place among the holders of one key, wherever they work. */
export class PortKey implements KeyHold {
  readonly name: string;
  held: boolean;
  isAsking: boolean;
  onAnswer: ((held: boolean) => void) | null = null;
  readonly #owner: PortKeyOwner;
  #place: KeyPlace | null = null;
  #isOver = false;

  constructor(
    port: KeyPort,
    { name, max, heldBefore }: { name: string; max: number; heldBefore: boolean },
    owner: PortKeyOwner,
  ) {
    this.name = name;
    this.held = heldBefore;
    this.isAsking = !heldBefore;
    this.#owner = owner;
    const ask = (): void => {
      if (this.#isOver) return;
      this.#place = port.claim(name, owner.holder(), { max, heldBefore });
      if (!heldBefore) void this.#follow(this.#place);
    };
    if (heldBefore) ask();
    else owner.whenStored(ask);
  }

  release(isLeft: boolean): void {
    this.#isOver = true;
    const place = this.#place;
    if (place === null) return;
    if (isLeft) place.leave();
    else if (!this.held) place.release();
    // the end of the node follows at once
    else queueMicrotask(() => this.#owner.whenStored(() => place.release()));
  }

  async #follow({ first, granted }: KeyPlace): Promise<void> {
    const has = await first;
    if (this.#isOver) return;
    this.isAsking = false;
    this.held = has;
    const answer = this.onAnswer;
    if (answer !== null) answer(has);
    else if (has) this.#goOn();
    if (has) return;
    await granted;
    if (this.#isOver) return;
    this.held = true;
    this.#goOn();
  }

  #goOn(): void {
    if (acquire(this.#owner)) this.#owner.granted();
  }
}

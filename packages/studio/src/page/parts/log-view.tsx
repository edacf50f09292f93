/** Lines of a log and what a model writes: text that grows, and whose end is followed until a person scrolls away from it. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ansiPieces } from "./ansi.ts";
import { Button } from "./button.tsx";
import { formatTime } from "./format.ts";
import { cutAt } from "./value-view/value-text.ts";
import { VisibleText } from "./value-view/visible-text.tsx";
import "./log-view.css";

/** A line of a log. */
export interface LogLine {
  /** Epoch milliseconds. */
  readonly ts: number;
  readonly level: string;
  readonly channel: string;
  readonly text: string;
}

/** Lines that are in the page at once; earlier ones come with "Show more". */
const LINE_STEP = 500;
/** A model's text is drawn in pieces of so many UTF-16 units, so that only the last one is drawn again while it grows. */
const TEXT_PIECE = 4_096;

/** The lines of a log. */
export function LogView({
  name,
  lines,
}: {
  readonly name: string;
  readonly lines: readonly LogLine[];
}): ComponentChildren {
  const [count, setCount] = useState(LINE_STEP);
  const first = Math.max(0, lines.length - count);
  return (
    <FollowedLog name={name} size={lines.length}>
      {lines.length === 0 && <p class="muted">No lines.</p>}
      {first > 0 && (
        <p>
          <Button onClick={() => setCount(count + LINE_STEP)}>Show more</Button>{" "}
          <span class="muted">{first.toLocaleString()} earlier lines</span>
        </p>
      )}
      {lines.slice(first).map((line, at) => (
        <Line key={first + at} line={line} />
      ))}
    </FollowedLog>
  );
}

/** Output of a model, as plain text. Its reasoning is folded. */
export function ModelOutput({
  name,
  text,
  reasoning = "",
}: {
  readonly name: string;
  readonly text: string;
  readonly reasoning?: string | undefined;
}): ComponentChildren {
  return (
    <>
      {reasoning !== "" && (
        <details class="reasoning">
          <summary>Reasoning</summary>
          <div class="model-text">
            <Grown text={reasoning} />
          </div>
        </details>
      )}
      <FollowedLog name={name} size={text.length}>
        <div class="model-text">
          <Grown text={text} />
        </div>
      </FollowedLog>
    </>
  );
}

function Line({ line }: { readonly line: LogLine }): ComponentChildren {
  const { ts, level, channel, text } = line;
  const pieces = useMemo(() => ansiPieces(text), [text]);
  return (
    <div class="log-line">
      <time dateTime={new Date(ts).toISOString()} title={formatTime(ts)}>
        {clock(ts)}
      </time>{" "}
      <span class="log-level" data-level={level}>
        <VisibleText text={level} />
      </span>{" "}
      <span class="muted log-channel">
        <VisibleText text={channel} />
      </span>{" "}
      <span class="log-text">
        {pieces.map(({ text: piece, classes }, at) => (
          <span key={at} class={classes === "" ? undefined : classes}>
            <VisibleText text={piece} />
          </span>
        ))}
      </span>
    </div>
  );
}

function Grown({ text }: { readonly text: string }): ComponentChildren {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const piece = cutAt(text.slice(at, at + TEXT_PIECE + 1), TEXT_PIECE);
    pieces.push(piece);
    at += piece.length;
  }
  return (
    <>
      {pieces.map((piece, at) => (
        <VisibleText key={at} text={piece} />
      ))}
    </>
  );
}

/** How near to its end a log counts as read to the end, in pixels. */
const NEAR_END = 24;

function FollowedLog({
  name,
  size,
  children,
}: {
  readonly name: string;
  /** Grows with what the log holds. */
  readonly size: number;
  readonly children: ComponentChildren;
}): ComponentChildren {
  const element = useRef<HTMLDivElement>(null);
  const [isFollowed, setFollowed] = useState(true);
  useLayoutEffect(() => {
    const { current } = element;
    if (isFollowed && current !== null) current.scrollTop = current.scrollHeight;
  }, [size, isFollowed]);
  return (
    <div class="log-frame">
      <div
        ref={element}
        role="log"
        aria-label={name}
        class="log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a log is scrolled by keyboard
        tabIndex={0}
        onScroll={({ currentTarget: at }) =>
          setFollowed(at.scrollHeight - at.scrollTop - at.clientHeight <= NEAR_END)
        }
      >
        {children}
      </div>
      {!isFollowed && (
        <Button class="log-jump" onClick={() => setFollowed(true)}>
          Jump to end
        </Button>
      )}
    </div>
  );
}

const clockFormat = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
});

function clock(ts: number): string {
  return clockFormat.format(new Date(ts));
}

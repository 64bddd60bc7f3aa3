/**
 * Keeps the scroll position while the transcript changes. At the end, the view follows new messages. After
 * scrolling up, it stays on the same message, with a notice about new ones. A message that the reader sends is
 * always scrolled to. An element that the reader expands stays visible.
 */
import { useCallback, useLayoutEffect, useRef, useState } from "react";

export type ScrollKeeper = ReturnType<typeof useScrollKeeper>;

interface ScrollKeeperOptions {
  /** Everything that the height depends on; always of the same length. */
  content: readonly unknown[];
  /** The newest entry; changes when a message arrives. */
  newest: string;
  /** Ids of sent messages; a new one is scrolled to. */
  sent: readonly string[];
  onNearTop: () => void;
}

const NEAR_TOP_PX = 600;
const AT_END_PX = 40;
/** A change of height this soon after a click is its effect. */
const EFFECT_MS = 500;

export function useScrollKeeper(options: ScrollKeeperOptions) {
  const container = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const anchor = useRef<{ entry: string; top: number }>(undefined);
  const isFollowing = useRef(true);
  const lastTop = useRef(0);
  const lastNewest = useRef(options.newest);
  const clicked = useRef<{ element: Element; at: number }>(undefined);
  const [isAtEnd, setAtEnd] = useState(true);
  const [hasNew, setNew] = useState(false);
  const { onNearTop, newest } = options;
  const isSent = useNewIds(options.sent);

  const look = useCallback((): void => {
    const { current } = container;
    if (current === null) return;
    isFollowing.current = distanceToEnd(current) < AT_END_PX;
    lastTop.current = current.scrollTop;
    anchor.current = isFollowing.current ? undefined : firstVisible(current);
    setAtEnd(isFollowing.current);
    if (isFollowing.current) setNew(false);
    if (current.scrollTop < NEAR_TOP_PX) onNearTop();
  }, [onNearTop]);

  const toEnd = useCallback((): void => {
    const { current } = container;
    if (current === null) return;
    current.scrollTop = current.scrollHeight;
    look();
  }, [look]);

  useLayoutEffect(() => {
    const { current } = container;
    if (current === null) return;
    // The reader has scrolled up, but the event has not arrived yet.
    if (isFollowing.current && current.scrollTop < lastTop.current - 2 && distanceToEnd(current) > 2) look();
    if (isSent()) toEnd();
    if (isFollowing.current) {
      current.scrollTop = current.scrollHeight;
    } else if (anchor.current !== undefined) {
      const { entry, top } = anchor.current;
      const found = current.querySelector(`[data-entry="${CSS.escape(entry)}"]`);
      if (found !== null) current.scrollTop += topWithin(current, found) - top;
    }
    if (!isFollowing.current && newest !== lastNewest.current) setNew(true);
    lastNewest.current = newest;
    lastTop.current = current.scrollTop;
    if (current.scrollTop < NEAR_TOP_PX) onNearTop();
  }, options.content);

  // The composer grows, the window is resized, or details are expanded.
  useLayoutEffect(() => {
    const { current } = container;
    if (current === null || inner.current === null) return undefined;
    const watcher = new ResizeObserver(() => {
      if (!isFollowing.current) return;
      if (isPushedOut(current, clicked.current)) look();
      else current.scrollTop = current.scrollHeight;
    });
    watcher.observe(current);
    watcher.observe(inner.current);
    return () => watcher.disconnect();
  }, [look]);

  const show = useCallback(
    (element: Element): void => {
      const { current } = container;
      if (current === null) return;
      current.scrollTop += topWithin(current, element) - current.clientHeight / 4;
      look();
    },
    [look],
  );

  return {
    container,
    /** The content of the container, whose height is observed. */
    inner,
    isAtEnd,
    /** There are new messages below. */
    hasNew,
    /** Scrolls to an element and stays there. */
    show,
    toEnd,
    onScroll: look,
    onClick: ({ target }: { target: EventTarget }): void => {
      const element = target instanceof Element ? target.closest("details, [data-entry]") : null;
      clicked.current = element === null ? undefined : { element, at: performance.now() };
    },
  };
}

/** Detects ids that are new since the last render; the first render has none. */
function useNewIds(ids: readonly string[]): () => boolean {
  const known = useRef<ReadonlySet<string>>(new Set(ids));
  return () => {
    const isNew = ids.some((id) => !known.current.has(id));
    known.current = new Set(ids);
    return isNew;
  };
}

/** Whether following would scroll the top of a just expanded element out of view. */
function isPushedOut(container: Element, clicked: { element: Element; at: number } | undefined): boolean {
  if (clicked === undefined || performance.now() - clicked.at > EFFECT_MS) return false;
  return topWithin(container, clicked.element) < distanceToEnd(container);
}

function firstVisible(container: HTMLElement): { entry: string; top: number } | undefined {
  for (const element of container.querySelectorAll<HTMLElement>("[data-entry]")) {
    const top = topWithin(container, element);
    if (top + element.offsetHeight > 0) return { entry: element.dataset["entry"] ?? "", top };
  }
  return undefined;
}

function distanceToEnd({ scrollHeight, scrollTop, clientHeight }: Element): number {
  return scrollHeight - scrollTop - clientHeight;
}

function topWithin(container: Element, element: Element): number {
  return element.getBoundingClientRect().top - container.getBoundingClientRect().top;
}

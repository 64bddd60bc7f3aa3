/**
 * Keeps the eye where it is. Whoever reads the end stays at the end while words arrive; whoever has
 * scrolled up keeps the same message at the same height while older ones are put above it.
 */
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";

export interface ScrollKeeper {
  container: RefObject<HTMLDivElement | null>;
  isAtEnd: boolean;
  onScroll: () => void;
  toEnd: () => void;
  /** Brings an element into sight and stays there. */
  show: (element: Element) => void;
}

const NEAR_TOP_PX = 600;
const AT_END_PX = 40;

export function useScrollKeeper(options: { content: readonly unknown[]; onNearTop: () => void }): ScrollKeeper {
  const container = useRef<HTMLDivElement>(null);
  const anchor = useRef<{ entry: string; top: number }>(undefined);
  const isFollowing = useRef(true);
  const lastTop = useRef(0);
  const [isAtEnd, setAtEnd] = useState(true);
  const { onNearTop } = options;

  const look = useCallback((): void => {
    const { current } = container;
    if (current === null) return;
    isFollowing.current = distanceToEnd(current) < AT_END_PX;
    lastTop.current = current.scrollTop;
    anchor.current = isFollowing.current ? undefined : firstVisible(current);
    setAtEnd(isFollowing.current);
    if (current.scrollTop < NEAR_TOP_PX) onNearTop();
  }, [onNearTop]);

  useLayoutEffect(() => {
    const { current } = container;
    if (current === null) return;
    // Somebody is scrolling up, and the browser has not told yet.
    if (isFollowing.current && current.scrollTop < lastTop.current - 2 && distanceToEnd(current) > 2) look();
    if (isFollowing.current) {
      current.scrollTop = current.scrollHeight;
    } else if (anchor.current !== undefined) {
      const { entry, top } = anchor.current;
      const found = current.querySelector(`[data-entry="${CSS.escape(entry)}"]`);
      if (found !== null) current.scrollTop += topWithin(current, found) - top;
    }
    lastTop.current = current.scrollTop;
    if (current.scrollTop < NEAR_TOP_PX) onNearTop();
    // The list says what the height depends on; it has the same length each time.
  }, options.content);

  // The field below grows with what is typed into it, and windows change their size.
  useLayoutEffect(() => {
    const { current } = container;
    if (current === null) return undefined;
    const watcher = new ResizeObserver(() => {
      if (isFollowing.current) current.scrollTop = current.scrollHeight;
    });
    watcher.observe(current);
    // Something was unfolded to be read: it stays where it is.
    const onToggle = (): void => {
      isFollowing.current = distanceToEnd(current) < AT_END_PX;
    };
    current.addEventListener("toggle", onToggle, { capture: true });
    return () => {
      watcher.disconnect();
      current.removeEventListener("toggle", onToggle, { capture: true });
    };
  }, []);

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
    isAtEnd,
    show,
    onScroll: look,
    toEnd: () => {
      const { current } = container;
      if (current !== null) current.scrollTop = current.scrollHeight;
    },
  };
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

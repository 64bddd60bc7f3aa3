/** Scrolls to the entry in the address, and loads older pages until it is there. */
import { useEffect, useRef, useState } from "react";
import { useController, usePageState } from "../page-context.ts";
import type { View } from "../state/state.ts";
import type { Item } from "./build-items.ts";
import type { ScrollKeeper } from "./use-scroll-keeper.ts";

/** Returns the item of the entry; undefined until it is found. */
export function useRevealedEntry(
  view: View | undefined,
  items: readonly Item[],
  scroll: ScrollKeeper,
): string | undefined {
  const controller = useController();
  const place = usePageState((state) => state.place);
  const isConnected = usePageState(({ link }) => link.state === "open");
  const done = useRef<object>(undefined);
  const [revealed, setRevealed] = useState<string>();
  const { container, show } = scroll;

  useEffect(() => {
    const { entryId } = place;
    if (entryId === undefined || done.current === place || view === undefined) return;
    const itemId = itemOf(entryId, view, items);
    if (itemId === undefined) {
      if (view.before === undefined) done.current = place;
      else if (isConnected) void controller.history.loadOlder();
      return;
    }
    const element = container.current?.querySelector(`[data-entry="${CSS.escape(itemId)}"]`);
    if (element === null || element === undefined) return;
    done.current = place;
    show(element);
    setRevealed(itemId);
  }, [controller, place, view, items, isConnected, container, show]);

  return place.entryId === undefined ? undefined : revealed;
}

/** A tool result is shown with its call; for an entry that is not shown, the one before it counts. */
function itemOf(entryId: string, { messages }: View, items: readonly Item[]): string | undefined {
  const at = messages.findIndex((message) => message.entryId === entryId);
  if (at === -1) return undefined;
  const shown = new Set(items.map(({ id }) => id));
  for (const message of messages.slice(0, at + 1).toReversed()) {
    if (shown.has(message.entryId)) return message.entryId;
  }
  return items[0]?.id;
}

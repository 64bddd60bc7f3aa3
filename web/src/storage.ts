/**
 * What the browser keeps. The token, drafts and messages under way belong to the tab and survive a
 * reload; what was read belongs to the browser. Storage may be full or forbidden: then nothing is kept,
 * and the page works all the same.
 */
const PREFIX = "holdfast.";

export const tabStorage = createStorage(() => sessionStorage);
export const browserStorage = createStorage(() => localStorage);

export interface PageStorage {
  read(name: string): string | undefined;
  /** Undefined takes it away. */
  write(name: string, value: string | undefined): void;
  readJson(name: string): unknown;
}

function createStorage(open: () => Storage): PageStorage {
  const read = (name: string): string | undefined => {
    try {
      return open().getItem(PREFIX + name) ?? undefined;
    } catch {
      return undefined;
    }
  };
  return {
    read,
    write: (name, value) => {
      try {
        if (value === undefined) open().removeItem(PREFIX + name);
        else open().setItem(PREFIX + name, value);
      } catch {
        // Full or forbidden; see above.
      }
    },
    readJson: (name) => {
      try {
        return JSON.parse(read(name) ?? "null") as unknown;
      } catch {
        return undefined;
      }
    },
  };
}

/** How errors speak of a store's database. */
import type { DatabaseRole } from "../../base/sqlite-error.ts";

export const STORE_ROLE: DatabaseRole = {
  prefix: "store",
  name: "The store",
  hints: {
    damaged: "Nothing was changed. Run `holdfast doctor` to see what can be recovered.",
    unexpected: "Nothing was changed. Run `holdfast doctor` if it happens again.",
  },
};

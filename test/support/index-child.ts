/** A process of its own that brings a search index up to date. Arguments: index file, sources as JSON. */
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { createSearchIndex } from "../../src/memory/search-index.ts";
import type { SearchSources } from "../../src/memory/sources.ts";

const [path = "", sources = "{}"] = process.argv.slice(2);
const index = await createSearchIndex({ path, clock: systemClock, logger: silentLogger });
process.stdout.write("opened\n");
const report = await index.refresh({ sources: JSON.parse(sources) as SearchSources });
index.close();
process.stdout.write(`${JSON.stringify(report)}\n`);

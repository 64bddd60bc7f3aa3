import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "web/src/**/*.test.ts"],
    setupFiles: ["test/support/setup.ts"],
    isolate: false,
    // Much of the time goes to waiting for other processes; the default leaves one of two cores idle.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});

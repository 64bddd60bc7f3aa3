/** The page is one script, one style sheet and one HTML file; nothing in it points outside the gateway. */
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/",
  plugins: [react()],
  logLevel: "warn",
  build: {
    outDir: fileURLToPath(new URL("../dist/web", import.meta.url)),
    emptyOutDir: true,
    target: "es2024",
    // The gateway's content security policy allows no script in the page itself, and none is needed.
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});

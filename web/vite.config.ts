import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const gateway = process.env.OUTLAST_GATEWAY ?? "http://127.0.0.1:8765";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "../src/outlast/gateway/page",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  // The gateway only hears its own page; while developing, the proxy speaks as that page.
  server: { proxy: { "/api": { target: gateway, changeOrigin: true, headers: { Origin: gateway } } } },
  // A busy machine may need long to load a test; only one that hangs takes as long.
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

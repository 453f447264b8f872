import { resolve } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type UserConfig } from 'vite';

const at = (path: string): string => resolve(import.meta.dirname, path);

const config: UserConfig = defineConfig({
  base: '/console/',
  plugins: [react(), tailwindcss()],
  // The libraries of the workspace are read as sources, as everywhere in this house.
  resolve: { conditions: ['source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: 'dist/web',
    emptyOutDir: true,
    target: 'es2024',
    // Nothing may come as a data: address that a policy would have to allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: { index: at('index.html'), silent: at('silent.html') } },
  },
});

// Vite reads the default export of its configuration, and no other.
// eslint-disable-next-line no-restricted-syntax -- Vite asks for it
export default config;

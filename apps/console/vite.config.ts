import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin, type UserConfig } from 'vite';
import { compiledTexts, type WrittenTexts } from './src/i18n/compiled-texts.ts';
import { LANGUAGES } from './src/i18n/messages.ts';

const at = (path: string): string => resolve(import.meta.dirname, path);

/** The pages of HTML, and what they begin with. */
const ENTRIES = ['index.html', 'src/main.tsx', 'silent.html', 'src/session/silent.ts'].map(at);

const TEXTS = 'virtual:texts/';

/**
 * Texts are parsed here and not in every browser, which would have to load the parser first; and those of a folder come
 * with the files that show them, in both languages, not with the first page.
 */
const texts: Plugin = {
  name: 'texts',
  enforce: 'pre',
  resolveId: (id) => (id.startsWith(TEXTS) ? `\0${id}` : undefined),
  load(id) {
    if (!id.startsWith(`\0${TEXTS}`)) return undefined;
    const folder = id.slice(TEXTS.length + 1);
    const languages = LANGUAGES.map((language) => {
      const file = at(`src/${folder}/messages.${language}.json`);
      this.addWatchFile(file);
      const written = JSON.parse(readFileSync(file, 'utf8')) as WrittenTexts;
      return `${language}: ${JSON.stringify(compiledTexts(written))}`;
    });
    return `import { bringTexts } from '${at('src/i18n/messages.ts')}';
bringTexts('${folder}', { ${languages.join(', ')} });`;
  },
  transform: {
    filter: { id: /\/src\/.*\.tsx?$/, code: /\buseTranslations\(/ },
    handler: (code) => {
      const folders = new Set(
        [...code.matchAll(/\buseTranslations\('([a-z-]+)'\)/g)].map(([, name = '']) => name),
      );
      const imports = [...folders].map((folder) => `import '${TEXTS}${folder}';`);
      // On the first line, so that all others keep their numbers.
      return { code: imports.join(' ') + code, map: null };
    },
  },
};

const config: UserConfig = defineConfig({
  base: '/console/',
  plugins: [react(), tailwindcss(), texts],
  // The libraries of the workspace are read as sources, as everywhere in this house.
  resolve: {
    conditions: ['source', 'module', 'browser', 'development|production'],
    alias: [{ find: /^use-intl\/format-message$/, replacement: 'use-intl/format-message/format-only' }],
  },
  build: {
    outDir: 'dist/web',
    emptyOutDir: true,
    target: 'es2024',
    // Nothing may come as a data: address that a policy would have to allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: at('index.html'), silent: at('silent.html') },
      output: {
        codeSplitting: {
          // What every page needs is one file: in forty it compresses worse, and each of them names all others. Not the
          // entries themselves: one waits for the sign-in and for pages that need this file, the other needs none of it.
          groups: [{ name: 'first', tags: ['$initial'], test: (id) => !ENTRIES.includes(id) }],
        },
      },
    },
  },
});

// Vite reads the default export of its configuration, and no other.
// eslint-disable-next-line no-restricted-syntax -- Vite asks for it
export default config;

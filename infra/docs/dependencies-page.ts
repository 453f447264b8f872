import { format } from 'dependency-cruiser';
import { importsOf, workspace } from '../boundaries/imports.ts';

const TITLE = `# Who imports whom

Written by \`npm run generate\` from the sources, without tests. \`npm run graph\` shows every project, to click through.
`;

/** docs/dependencies.md: what the libraries, and the apps as one, really import of one another. */
export async function dependenciesPage(): Promise<string> {
  const { output } = await format(await importsOf(workspace), {
    outputType: 'mermaid',
    collapse: '^(apps|libs/[^/]+)',
    includeOnly: '^(apps|libs)/[^/]+/src/',
    exclude: String.raw`\.(spec|fixture)\.ts$|^libs/testing/`,
  });
  if (typeof output !== 'string') throw new Error('The diagram of the imports is no text.');
  return `${TITLE}\n\`\`\`mermaid\n${output.trim()}\n\`\`\`\n`;
}

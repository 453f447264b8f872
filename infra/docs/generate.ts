/** `npm run generate`: writes every generated file of the repository, after a build. */
import { generateAll, generatedFiles, textOf } from './generated-files.ts';

const before = new Map(generatedFiles.map((file) => [file, textOf(file)]));
await generateAll();
for (const file of generatedFiles) if (textOf(file) !== before.get(file)) console.log(`Written: ${file}`);

import { byFolder } from './by-folder.ts';
import type { Messages } from './messages.ts';

const FILES = import.meta.glob<Messages[keyof Messages]>('../*/messages.en.json', {
  eager: true,
  import: 'default',
});

export const texts: Messages = byFolder(FILES);
